/**
 * `assize serve --dev`: a project on a throw-away store. The server starts over when a file of the
 * project changes, so a changed rule needs no new version.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { line, note, type Printable } from '@assize/command';
import { COMMAND_LINE } from '@assize/command/operation';
import type { Serving } from '@assize/server/internal';
import { addMicros } from 'assize/internal/canon';
import type { ResolvedConfig } from 'assize/internal/config';
import { systemClock } from 'assize/internal/oracle';
import { watch } from 'chokidar';

/** Folders without code of the project. */
const SKIPPED = /(?:^|[/\\])(?:node_modules|\.[^./\\][^/\\]*)(?:[/\\]|$)/;
/** A file of a project that is not data of its tools. */
const SOURCE = /\.(?:[cm]?[jt]s|ya?ml)$|assize\.config\.json$/;
/** An editor writes a file in several steps. */
const SETTLE_MS = 100;
const DAY_MICROS = 86_400_000_000;

/** Whether this process is the server that another process starts over. */
export const isStartedOver = (): boolean => process.connected === true;

/**
 * Runs this command in a process of its own, and again after each change. A server that could not
 * start has said why, and waits for the next change.
 */
export async function startOver(interruption: AbortSignal): Promise<void> {
  let change = Promise.withResolvers<void>();
  let timer: NodeJS.Timeout | undefined;
  const watcher = watch('.', { ignoreInitial: true, ignored: (path) => SKIPPED.test(path) });
  watcher.on('all', (_, file) => {
    if (!SOURCE.test(file)) return;
    clearTimeout(timer);
    timer = setTimeout(() => change.resolve(), SETTLE_MS);
  });
  watcher.on('error', (error) => note(`Changes are not seen: ${(error as Error).message}`));
  interruption.addEventListener('abort', () => change.resolve(), { once: true });
  while (!interruption.aborted) {
    change = Promise.withResolvers();
    const server = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const ended = once(server, 'exit');
    await Promise.race([ended, change.promise]);
    if (server.exitCode !== null && !interruption.aborted)
      note('The server starts after the next change of a file. Ctrl-C ends.');
    await change.promise;
    server.kill('SIGTERM');
    await ended;
  }
  clearTimeout(timer);
  await watcher.close();
}

/**
 * Lets everybody in: a link for each person, and a file with a token for each agent. Returns lines
 * that say so, and how to propose.
 */
export async function letIn(
  serving: Serving,
  { principals, worlds, domains, store }: ResolvedConfig,
): Promise<readonly Printable[]> {
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  const lines: Printable[] = [];
  for (const [name, { kinds }] of principals) {
    if (!kinds.includes('agent')) {
      lines.push(line`${name} signs in, once: ${await serving.signInLink(name)}`);
      continue;
    }
    const created = systemClock.now();
    const { token } = await serving.service.tokens.create({
      ...{ principal: name, kinds, created, expires: addMicros(created, DAY_MICROS) },
      by: COMMAND_LINE,
    });
    const file = `${name.replaceAll(/\W/g, '-')}.token`;
    // A file of before keeps its mode, and may be a link.
    rmSync(file, { force: true });
    writeFileSync(file, token, { mode: 0o600, flag: 'wx' });
    lines.push(line`${name} has its token in ${file}`);
    for (const [world, { domain: of }] of Object.entries(worlds)) {
      const action = Object.keys(domains.find(({ name }) => name === of)?.actions ?? {})[0];
      if (action === undefined) continue;
      lines.push(
        line`  curl -H "Authorization: Bearer $(cat ${file})" -H "Idempotency-Key: $RANDOM" \\`,
        line`    -H 'Content-Type: application/json' ${serving.url}/v1/trajectories/${world}/proposals \\`,
        line`    -d '{"action":"${action}","args":{}}'`,
      );
    }
  }
  const why =
    'The server keeps its store in memory. It starts over, with new links, when a file changes';
  return [...lines, line`${why}. The other commands use ${store}.`];
}
