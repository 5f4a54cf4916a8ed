/**
 * The benchmarks next to the reference in Python. A script stands for the reference and prints the
 * same output.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { figuresOf, peerFigures } from '../../bench/peer.ts';

const PRINTED = `============================================================
Benchmark 1: Overhead (fp=0, 10 steps, 1000 runs)
============================================================
  Tx-Full        :    136.2 us/task  (  13.6 us/step)  6.40x vs No-Tx
  No-Frontier    :    143.0 us/task  (  14.3 us/step)  6.72x vs No-Tx
  No-Tx          :     21.3 us/task  (   2.1 us/step)  1.00x vs No-Tx

============================================================
Benchmark 2: Speculation Commit Latency vs K (200 runs)
============================================================
     K   Setup(us)   Commit(us)   Total(us)     p99(us)
     2        11.5         36.9        48.4        91.2
    16        80.1        240.7       320.8      5405.0

Wrote results to /tmp/somewhere.json
`;
const FIGURES = {
  steps: { 'Tx-Full': 13.6, 'No-Frontier': 14.3, 'No-Tx': 2.1 },
  branches: { 2: 48.4, 16: 320.8 },
};
const python = spawnSync('python3', ['--version']).status === 0;
let folder: string;

const bench = (...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(import.meta.dirname, '../../bench/run.ts'), ...args],
    { encoding: 'utf8' },
  );
  return { code: status, out: stdout, err: stderr };
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assize-reference-'));
  mkdirSync(join(folder, 'scripts'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const script = (text: string): void =>
  writeFileSync(join(folder, 'scripts/run_overhead_bench.py'), text);

test('the script’s output is parsed, any other output is refused', () => {
  expect(figuresOf(PRINTED)).toEqual(FIGURES);
  for (const text of ['', PRINTED.slice(0, 400), PRINTED.slice(500)])
    expect(() => figuresOf(text)).toThrow(/another version/);
});

describe.skipIf(!python)('a copy that is run (absent without python3)', () => {
  test('is unchanged after the run, despite any logs of its runtime', async () => {
    script(
      `import os\nos.mkdir('logs')\nopen('logs/effects.jsonl', 'w').write('{}')\nprint('''${PRINTED}''')\n`,
    );
    expect(await peerFigures(folder)).toEqual(FIGURES);
    expect(readdirSync(folder, { recursive: true }).sort()).toEqual([
      'scripts',
      'scripts/run_overhead_bench.py',
    ]);
  });

  test('and fails says so', async () => {
    script('import sys\nsys.exit("no module named atomix")\n');
    await expect(peerFigures(folder)).rejects.toThrow(/no module named atomix/);
  });
});

test('a folder that is not a copy is refused before anything is measured', () => {
  const { code, out, err } = bench('--only', 'speculation', '--peer', folder);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toMatch(
    /is not a copy of the reference: scripts\/run_overhead_bench\.py is not there/,
  );
});

test('a benchmark that there is not is refused with those that there are', () => {
  const { code, out, err } = bench('--only', 'speculaton');
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toMatch(/speculaton.* speculation, /s);
});
