/**
 * `assize-experiments memory` without a server. The tests with a server are in
 * labs/experiments/memory/experiments/postgres.slow.test.ts.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { runCommand } from '../../../tests/support/process/command.ts';
import { blocksOf } from '../../../tests/support/process/guide-files.ts';
import { EXPERIMENTS } from '../memory/index.ts';
import type { Table } from '../tables/index.ts';

/**
 * Fewer runs than in the paper. Values that follow from definitions are the same for any number.
 */
const RUNS = '5';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assize-anomalies-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const assize = (...args: string[]) =>
  runCommand(folder, undefined, 'assize-experiments', 'memory', ...args);
const withoutServer = EXPERIMENTS.flatMap(({ name, needs }) => (needs === undefined ? [name] : []));
const onServer = EXPERIMENTS.flatMap(({ name, needs }) => (needs === 'postgres' ? [name] : []));

test('without a name it says which there are', async () => {
  const { code, out, err } = await assize();
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const lines = out.split('\n').map((text) => text.split(/ {2,}/));
  for (const { name, about } of EXPERIMENTS) expect(lines).toContainEqual([name, about]);
  const listed = JSON.parse((await assize('--json')).out);
  expect(listed.experiments).toEqual(EXPERIMENTS.map(({ name, about }) => ({ name, about })));
});

describe('all that needs no server', () => {
  let found: {
    experiments: { name: string; tables: Table[] }[];
    skipped: { name: string; because: string }[];
  };
  const tablesOf = (name: string): readonly Table[] =>
    found.experiments.find((one) => one.name === name)!.tables;
  const cellsOf = ({ rows }: Table) => rows.flatMap(({ cells }) => cells);
  /** The figures of a table, a line each. */
  const linesOf = ({ rows }: Table) =>
    rows.map(({ cells }) => cells.map(({ measured }) => measured));

  test('is run, and every cell has its expected value', async () => {
    const { code, out } = await assize('all', '--runs', RUNS, '--json');
    found = JSON.parse(out);
    expect(code).toBe(0);
    expect(found).toMatchObject({ seed: 42, runs: Number(RUNS), differing: 0 });
    expect(found.experiments.map(({ name }) => name)).toEqual(withoutServer);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('the omitted experiments are listed with their reason', () => {
    expect(found.skipped.map(({ name }) => name)).toEqual(onServer);
    for (const { because } of found.skipped) expect(because).toMatch(/--postgres/);
  });

  test('the grids have as many cells as those of the paper', () => {
    const sizes = (name: string) => tablesOf(name).map((table) => cellsOf(table).length);
    expect(sizes('isolation')).toEqual([54, 2, 36, 2]);
    expect(sizes('schema')).toEqual([12, 6]);
    expect(sizes('drift')).toEqual([36, 3]);
    expect(sizes('oracle')).toEqual([3 * 30, 4, 3 * 24]);
    expect(sizes('bridge')).toEqual([16]);
    expect(sizes('carriers')).toEqual([27, 3, 3]);
    expect(sizes('weakening')).toEqual([8]);
    expect(sizes('ablation')).toEqual([12]);
  });

  test('isolation: 32 cells are safe, 22 admit; A5A and N2 as printed are listed', () => {
    const [matrix, counts, beside] = tablesOf('isolation');
    const figures = linesOf(matrix!).flat();
    expect([0, 1].map((figure) => figures.filter((one) => one === figure).length)).toEqual([
      32, 22,
    ]);
    expect(linesOf(counts!)).toEqual([[32], [22]]);
    const lineOf = (start: string) =>
      beside!.rows.find(({ keys }) => String(keys[0]).startsWith(start))!.cells;
    expect(
      lineOf('A5A as printed, the last read being of a third').map(({ measured }) => measured),
    ).toEqual(Array(6).fill(0));
    expect(lineOf('N2 as printed').map(({ measured }) => measured)).toEqual(Array(6).fill(1));
  });

  test('brackets show only figures that the paper prints, none derived from it', () => {
    const printed = (name: string) =>
      tablesOf(name).map((table) => cellsOf(table).map(({ paper }) => paper ?? '-'));
    const none = (cells: number) => Array(cells).fill('-');
    const times = (count: number, ...figures: unknown[]) => Array(count).fill(figures).flat();
    // Table 23 and §4.5: two counts of the matrix, every cell of the schema, three rates of a
    // bridge.
    expect(printed('isolation')).toEqual([none(54), [32, 22], none(36), none(2)]);
    expect(printed('schema')).toEqual([times(6, 1, 0), none(6)]);
    expect(printed('drift')).toEqual([
      [0.52, '-', 1, ...times(7, '-', '-', 1), ...times(4, 0, 0, 0)],
      [0.7496, 0.7462, 0],
    ]);
    expect(printed('bridge')).toEqual([[...times(3, '-', '-', '-', 1), ...none(4)]]);
    expect(printed('composition')).toEqual([
      [...none(25), 193, '-', 311, '-', '-', 2_219, '-', 5_965, '-', '-'],
      none(30),
      [
        'RC',
        'SI',
        'RC+cb',
        'SRp',
        'SI',
        'SI',
        'SI+cb',
        'SRp',
        'RC+cb',
        'SI+cb',
        'RC+cb',
        'SRp+cb',
      ].concat([...['SRp', 'SRp', 'SRp+cb', 'SRp']]),
      none(2),
    ]);
    // Figures 5 and 6: no single cell of Figure 5; of Figure 6 the line at 1 and the ends of the
    // others.
    expect(printed('oracle')).toEqual([
      none(90),
      [0.0166, 0.1114, 29, 0.98],
      [...times(23, 1, '-', '-'), 1, 0.06, '-'],
    ]);
    // Tables 5 and 22: matched, off target, recall.
    expect(printed('carriers')).toEqual([
      times(3, 1, 0, 0, 0, 1, 0, 0, 0, 1),
      [1, 1, 0],
      [106 / 375, 1, 0],
    ]);
    // Table 9, Proposition 14 and Lemma 5 have words alone.
    expect(printed('weakening')).toEqual([none(8)]);
    expect(printed('confluence')).toEqual([none(57)]);
    expect(printed('prompts')).toEqual([
      [0, 0.07, 0.01, 0.61].flatMap((unstable) => [unstable, ...none(5)]),
    ]);
  });

  test('composition: 193 and 311, 2,219 and 5,965, and Table 10', () => {
    const [counts, , pairs] = tablesOf('composition');
    expect(linesOf(counts!).slice(-2)).toEqual([
      [193, 0, 311, 0, 0],
      [2_219, 0, 5_965, 0, 0],
    ]);
    expect(linesOf(pairs!)).toEqual([
      ['RC', 'SI', 'RC+cb', 'RC SRp'],
      ['SI', 'SI', 'SI+cb', 'SI SRp'],
      ['RC+cb', 'SI+cb', 'RC+cb', 'RC+cb SRp'],
      ['RC SRp', 'SI SRp', 'RC+cb SRp', 'RC SRp'],
    ]);
  });

  test('carriers: 106 of 375 is reported next to the value of Theorem 11', () => {
    const [, , recovered] = tablesOf('carriers');
    expect(
      recovered!.rows.map(({ keys, cells }) => [keys[0], cells[0]!.measured, cells[0]!.paper]),
    ).toEqual([
      ['multilinear', 0, 106 / 375],
      ['multidegree', 1, 1],
      ['boolean', 0, 0],
    ]);
  });

  test('confluence: as many orders as were asked for, of two facts all', () => {
    const [table] = tablesOf('confluence');
    expect(table!.rows.map(({ keys }) => keys[2])).toEqual([2, 2, 2, ...Array(16).fill(5)]);
    for (const line of linesOf(table!)) expect(line).toEqual([1, 1, 0]);
  });

  test('figures from a model or an unpublished generator are never expected', () => {
    const expectedIn = (name: string, nth: number, column: string): unknown[] => {
      const table = tablesOf(name)[nth]!;
      return table.rows.map(({ cells }) => cells[table.columns.indexOf(column)]!.expected);
    };
    for (const column of ['unstable', 'by prompt', 'by temperature', 'by both'])
      expect(expectedIn('prompts', 0, column)).toEqual(Array(4).fill(undefined));
    for (const column of ['of everything', 'of a bare statement'])
      expect(expectedIn('selectivity', 0, column)).toEqual(Array(6).fill(undefined));
    expect(expectedIn('oracle', 1, 'without a log')).toEqual(Array(4).fill(undefined));
    for (const column of ['N1', 'N2', 'N3'])
      expect(expectedIn('verdicts', 0, column)).toEqual([
        ...['X', 'X', column === 'N1' ? 'A' : 'X'],
        ...Array(12).fill(undefined),
      ]);
    const ablation = tablesOf('ablation')[0]!;
    expect(cellsOf(ablation).map(({ expected }) => expected)).toEqual([
      ...[0.05, 0.05, 0.05, 0.5, 0.95, 0.5],
      ...[0.95, 0.5, 0.5, 0.5, 0.5, 0.95],
    ]);
    expect(cellsOf(ablation).map(({ paper }) => paper)).toEqual([
      ...[0.08, 0.24, 0.08, 0.46, 0.88, 0.6],
      ...[0.94, 0.4, 0.64, 0.62, 0.52, 0.98],
    ]);
    expect(tablesOf('prompts')[0]!.notes.join(' ')).toMatch(
      /The answers are a stub’s, .*no language model is asked/,
    );
  });

  test('verdicts: only a restated fact is a new question and admits N1', () => {
    expect(linesOf(tablesOf('verdicts')[0]!).slice(0, 3)).toEqual([
      ['X', 'X', 'X'],
      ['X', 'X', 'X'],
      ['A', 'X', 'X'],
    ]);
  });

  test('selectivity: a recall as of the past finds the facts of each instant', () => {
    expect(linesOf(tablesOf('selectivity')[1]!)).toEqual([
      [50],
      [250],
      [500],
      [1_250],
      [2_500],
      [5_000],
    ]);
  });

  test('each experiment has a plot, except verdicts with its letter cells', () => {
    const drawn = found.experiments.filter(({ tables }) =>
      tables.some(({ plot }) => plot !== undefined),
    );
    expect(drawn.map(({ name }) => name)).toEqual(
      withoutServer.filter((name) => name !== 'verdicts'),
    );
  });

  test('configuration: read settings change recalled rows, but no stored fact', () => {
    const [table] = tablesOf('configuration');
    const line = (name: string) =>
      table!.rows.find(({ keys }) => keys[0] === name)!.cells.map(({ measured }) => measured);
    expect(line('baseline: by embedding')).toEqual([0, 0, 0, 0, 0, 0]);
    for (const read of [
      'reranked by time',
      'the top 30',
      'by key',
      'by text',
      'by text and embedding',
    ])
      expect(line(read), read).toEqual([0, 0, 0, 0, 0, Number(RUNS)]);
    expect(line('another instruction of the judge')).toEqual([
      0,
      0,
      0,
      0,
      Number(RUNS),
      Number(RUNS),
    ]);
  });
});

test('the same seed is the same document, and another one is another', async () => {
  const run = async (...args: string[]) =>
    (await assize('drift', 'prompts', '--runs', RUNS, '--json', ...args)).out;
  const first = await run('--seed', '7');
  expect(await run('--seed', '7')).toBe(first);
  expect(JSON.parse(await run('--seed', '8')).experiments).not.toEqual(
    JSON.parse(first).experiments,
  );
});

test('text output names omitted experiments and draws those with a plot', async () => {
  const { code, out } = await assize(
    'schema',
    'ablation',
    'ablation',
    'verdicts',
    '--runs',
    RUNS,
    '--svg',
    'plots/here',
  );
  expect(code).toBe(0);
  expect(out).toMatch(/^verdicts was not drawn: none of its tables has a plot\.$/m);
  expect([...out.matchAll(/^(Table \d+):/gm)].map(([, source]) => source)).toEqual([
    'Table 4',
    'Table 23',
    'Table 21',
  ]);
  // Of the tables of schema one says nothing of a plot.
  expect(readdirSync(join(folder, 'plots/here')).sort()).toEqual(['ablation.svg', 'schema.svg']);
  expect(readFileSync(join(folder, 'plots/here/ablation.svg'), 'utf8')).toMatch(
    /^<svg [\s\S]*Table 21[\s\S]*<\/svg>\s*$/,
  );
});

test.each<readonly [what: string, args: readonly string[], saying: RegExp]>([
  [
    'an unknown name',
    ['isolate'],
    /There is no experiment isolate\. Choose from verdicts, isolation, /,
  ],
  ['a seed that is not a number', ['weakening', '--seed', 'x'], /whole number/],
  ['no runs', ['weakening', '--runs', '0'], /whole number from 1/],
  [
    'runs of what has none',
    ['weakening', 'composition', '--runs', '7'],
    /--runs is for the experiments verdicts, /,
  ],
  [
    'a server for what needs none',
    ['weakening', '--postgres', 'postgres://x'],
    /--postgres is for the experiments lattice, /,
  ],
  ['a store, as none is opened', ['weakening', '--store', 'memory:'], /unknown option '--store'/],
  ...EXPERIMENTS.filter(({ uses = ['runs'] }) => uses.includes('runs')).map(
    ({ name }) =>
      [
        `too many runs of ${name}`,
        [name, '--runs', '1000001'],
        /--runs <n>.*from 1 to 1000000, in digits/,
      ] as const,
  ),
  ['runs in powers of ten', ['drift', '--runs', '1e8'], /--runs <n>.*in digits/],
  ['peers in a file', ['verdicts', '--peers', '/dev/null'], /--peers \/dev\/null has no mem0ai/],
  [
    'images where no folder can be made',
    ['drift', '--svg', '/proc/x'],
    /--svg \/proc\/x cannot be written: /,
  ],
])('%s is refused', async (_, args, saying) => {
  const { code, out, err } = await assize(...args);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toMatch(saying);
});

describe('a cell that differs from its expected value', () => {
  const table: Table = {
    source: 'Table 1',
    title: 'cells',
    keys: ['cell'],
    columns: ['figure'],
    rows: [
      { keys: ['sound'], cells: [{ measured: 1, expected: 1, paper: 0 }] },
      { keys: ['wrong'], cells: [{ measured: 0.5, expected: 1, paper: 1 }] },
    ],
    notes: [],
  };

  beforeEach(() => {
    vi.resetModules();
    vi.doMock('../memory/index.ts', () => ({
      EXPERIMENTS: [
        { name: 'broken', about: 'breaks', run: async () => [table] },
        { name: 'served', about: 'serves', needs: 'postgres', run: async () => [] },
      ],
    }));
  });
  afterEach(() => {
    vi.doUnmock('../memory/index.ts');
    vi.restoreAllMocks();
    process.exitCode = 0;
  });

  async function said(...args: string[]): Promise<{ code: number; out: string }> {
    let out = '';
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
      out += text;
      return true;
    });
    const { run } = await import('@assize/cli/internal/program.ts');
    const { EXPERIMENTS: COMMAND_LINE } = await import('../../cli/program.ts');
    const code = await run(['memory', ...args], COMMAND_LINE);
    return { code, out };
  }

  test('is marked, and is a negative finding', async () => {
    const { code, out } = await said('all');
    expect(code).toBe(1);
    expect(out).toMatch(/^wrong +0\.5 ≠1 \[1\]$/m);
    expect(out).toMatch(/^sound +1 \[0\]$/m);
    expect(out).toMatch(/^1 cell marked with ≠/m);
    expect(out).toMatch(
      /^served was not run: it needs a PostgreSQL server. Name one with --postgres postgres:/m,
    );
  });

  test('is counted in the document', async () => {
    const { code, out } = await said('broken', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      differing: 1,
      skipped: [],
      experiments: [{ name: 'broken' }],
    });
  });
});

test('the guide shows the printed output', async () => {
  const shown = blocksOf('labs/experiments/docs/anomalies.md').filter(
    ({ says }) => says === 'console',
  );
  expect(shown.length).toBeGreaterThanOrEqual(3);
  for (const { code } of shown) {
    const [typed = '', ...below] = code.split('\n');
    const { out } = await assize(...typed.replace('$ assize-experiments memory ', '').split(' '));
    expect(out.trimEnd()).toBe(below.join('\n').trimEnd());
  }
});
