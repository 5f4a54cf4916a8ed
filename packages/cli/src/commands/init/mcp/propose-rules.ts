import { existsSync, readFileSync } from 'node:fs';
import { isAssizeError } from 'assize/internal/base';
import { CliError } from '../../../errors.ts';
import { replaceFile } from '../../../files/replace-file.ts';
import type { Session } from '../../../store/session.ts';
import { line } from '../../../terminal/printable.ts';
import { agreesTo } from '../agreement.ts';
import { difference } from '../difference.ts';
import type { WrittenServer } from './agent.ts';
import { meant, type Options } from './options.ts';
import type { Original } from './originals.ts';
import { type RuledServer, withRules } from './rules.ts';
import { toolsOf } from './start.ts';

interface Proposing {
  readonly options: Options;
  readonly server: WrittenServer;
  readonly originals: readonly Original[];
}

/**
 * Starts each server without the gateway, lists its tools, and writes rules about them if the
 * person agrees. Returns the servers that have rules now.
 *
 * @throws CliError `usage` without a rules file
 */
export async function proposeRules(
  session: Session,
  { options, server, originals }: Proposing,
): Promise<readonly string[]> {
  const path = server.config.policyFile;
  if (path === undefined || !existsSync(path) || !/\.ya?ml$/.test(path))
    throw new CliError('usage', `${server.config.file} names no rules file in YAML. Add policy: './assize.yaml'.`);
  const isMeant = meant(options);
  const servers: RuledServer[] = [];
  for (const one of originals.filter(({ at }) => isMeant(at.at(-1) as string))) {
    if (servers.some((each) => each.server === one.server)) continue;
    const tools = await toolsOf(one, one.before).catch((error: unknown) => {
      if (!isAssizeError(error)) throw error;
      if (!session.json) session.out.line(line`  ${one.server}: no rules are proposed. ${error.message}`);
      return undefined;
    });
    if (tools !== undefined) servers.push({ server: one.server, tools });
  }
  const before = readFileSync(path, 'utf8');
  const after = withRules(before, servers);
  if (after !== before) {
    if (!(await agreesTo(session, { yes: options.yes, changes: [{ path, lines: difference(before, after) }] })))
      return [];
    replaceFile(path, after);
  }
  return servers.map((one) => one.server);
}
