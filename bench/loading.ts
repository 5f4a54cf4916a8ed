/**
 * CPU time and memory of a process that only imports `assize` as published, beside one that only
 * imports the SDK of DBOS. Run it alone: `node bench/loading.ts`.
 */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
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
    const entry = pathToFileURL(join(root, folder, 'assize/src/public/index.js')).href;
    const rounds = Array.from(
      { length: ROUNDS },
      () => [loaded(entry), loaded('@dbos-inc/dbos-sdk')] as const,
    );
    return [
      row("import 'assize', CPU time", 's', rounds, ({ seconds }) => seconds, 0.2),
      row('  memory of the process', 'MB', rounds, ({ megabytes }) => megabytes, 95),
    ];
  } finally {
    rmSync(join(root, folder), { recursive: true, force: true });
  }
}

function loaded(module: string): Loaded {
  const script = `await import(${JSON.stringify(module)});
    const { user, system } = process.cpuUsage();
    console.log(JSON.stringify({ seconds: (user + system) / 1e6, megabytes: process.memoryUsage.rss() / 2 ** 20 }));`;
  const said = execFileSync(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: root,
  });
  return JSON.parse(`${said}`) as Loaded;
}

function row(
  name: string,
  unit: string,
  rounds: readonly (readonly [Loaded, Loaded])[],
  of: (loaded: Loaded) => number,
  max: number,
): BenchResult {
  const baseline = { name: 'the SDK of DBOS', value: median(rounds.map(([, other]) => of(other))) };
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
