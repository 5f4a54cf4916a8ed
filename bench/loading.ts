/**
 * CPU time and memory of a process that only imports `assize` as published, beside one that only
 * imports the SDK of DBOS; and of the published command until it answers or listens, beside a
 * process of Node that does nothing. Run it alone: `node bench/loading.ts`.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type BenchResult, formatTable, median } from './measure.ts';

const ROUNDS = 15;
const root = join(import.meta.dirname, '..');

interface Loaded {
  readonly seconds: number;
  readonly megabytes: number;
}

export async function loadingBench(): Promise<BenchResult[]> {
  const folder = `dist-bench-${process.pid}`;
  try {
    execFileSync(process.execPath, ['scripts/build.ts', folder, '--noCheck'], {
      cwd: root,
      stdio: 'pipe',
    });
    installed(join(root, folder));
    const entry = pathToFileURL(join(root, folder, 'node_modules/assize/src/public/index.js')).href;
    const rounds = Array.from(
      { length: ROUNDS },
      () => [loaded(entry), loaded('@dbos-inc/dbos-sdk')] as const,
    );
    const dbos = 'the SDK of DBOS';
    return [
      row("import 'assize', CPU time", 's', dbos, rounds, ({ seconds }) => seconds, 0.2),
      row('  memory of the process', 'MB', dbos, rounds, ({ megabytes }) => megabytes, 95),
      ...(await commandRows(join(root, folder, 'node_modules/@assize/cli/bin/assize.js'))),
    ];
  } finally {
    rmSync(join(root, folder), { recursive: true, force: true });
  }
}

/** Moves the built packages to where npm installs them, so that they find each other. */
function installed(folder: string): void {
  const packages = readdirSync(folder);
  mkdirSync(join(folder, 'node_modules/@assize'), { recursive: true });
  for (const name of packages) {
    const to = name === 'assize' || name === 'create-assize' ? name : `@assize/${name}`;
    renameSync(join(folder, name), join(folder, 'node_modules', to));
  }
}

/** The command with a new folder for what Node has compiled, which the first round fills. */
async function commandRows(command: string): Promise<BenchResult[]> {
  const project = mkdtempSync(join(tmpdir(), 'assize-bench-'));
  process.env['XDG_CACHE_HOME'] = project;
  try {
    const run = (...args: string[]) => spawnSync(process.execPath, args, { cwd: project });
    run(command, 'init', '--rules');
    const versions: [Loaded, Loaded][] = [];
    const servers: [Loaded, Loaded][] = [];
    for (let n = 0; n <= ROUNDS; n++) {
      const nothing = await untilSaid(project, ['-e', ''], NOTHING);
      const version = await untilSaid(project, [command, '--version'], NOTHING);
      const server = await untilSaid(project, [command, 'serve', '--port', '0'], /listens/);
      if (n === 0) continue;
      versions.push([version, nothing]);
      servers.push([server, nothing]);
    }
    const node = 'node alone';
    return [
      row('assize --version, CPU time', 's', node, versions, ({ seconds }) => seconds, 0.25),
      row('assize serve until it listens', 's', node, servers, ({ seconds }) => seconds, 0.7),
      row('  memory of the process', 'MB', node, servers, ({ megabytes }) => megabytes, 140),
    ];
  } finally {
    rmSync(project, { recursive: true });
  }
}

/** No output matches it. */
const NOTHING = /^\b$/;

const USED = `const { user, system } = process.cpuUsage();
  const megabytes = process.memoryUsage.rss() / 2 ** 20;
  writeSync(1, JSON.stringify({ seconds: (user + system) / 1e6, megabytes }));`;

/** The CPU time and the memory of a process that is ended at its first output like this. */
async function untilSaid(cwd: string, args: readonly string[], said: RegExp): Promise<Loaded> {
  // The command takes `console` away at its end.
  const atExit = `import { writeSync } from 'node:fs'; process.on('exit', () => {${USED}});`;
  const child = spawn(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(atExit)}`, ...args],
    {
      cwd,
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  let output = '';
  for await (const text of child.stdout.setEncoding('utf8')) {
    output += text;
    if (said.test(output)) child.kill('SIGTERM');
  }
  const last = output.trimEnd().split('\n').at(-1) ?? '';
  return JSON.parse(last) as Loaded;
}

function loaded(module: string): Loaded {
  const script = `import { writeSync } from 'node:fs';
    await import(${JSON.stringify(module)}); ${USED}`;
  const said = execFileSync(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: root,
  });
  return JSON.parse(`${said}`) as Loaded;
}

function row(
  name: string,
  unit: string,
  beside: string,
  rounds: readonly (readonly [Loaded, Loaded])[],
  of: (loaded: Loaded) => number,
  max: number,
): BenchResult {
  const baseline = { name: beside, value: median(rounds.map(([, other]) => of(other))) };
  const ratio = median(rounds.map(([own, other]) => of(own) / of(other)));
  return {
    name,
    value: median(rounds.map(([own]) => of(own))),
    unit,
    baseline,
    ratio,
    goal: { max },
  };
}

if (import.meta.main) console.log(formatTable(await loadingBench()));
