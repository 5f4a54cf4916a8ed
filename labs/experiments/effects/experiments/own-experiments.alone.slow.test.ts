import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { declareTool } from 'assize/internal/effects';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Cell, Table } from '../../tables/index.ts';
import { CASES } from '../aliases/cases.ts';
import { Worlds } from '../aliases/worlds.ts';
import { POINTS } from '../crash/points.ts';
import { toolsOf } from '../crash/shop.ts';
import { STEPS } from '../crash/steps.ts';
import type { Experiment, Running } from '../experiment.ts';
import { SIX_COLUMNS } from '../metrics.ts';
import { MODES } from '../modes.ts';
import { aliasesTable, aliasing } from './aliasing.ts';
import { annotations } from './annotations.ts';
import { compensation } from './compensation.ts';
import { correlated } from './correlated.ts';
import { crashWindows, killedIn } from './crash-windows.ts';
import { EXPERIMENTS } from './index.ts';
import { expectDrawn, expectSources } from './testing/table-sources.ts';

const running = (scale: number, seed = 1): Running => ({
  seed,
  scale,
  data: './nowhere',
  signal: new AbortController().signal,
  progress: () => undefined,
});

async function run(experiment: Experiment, scale: number, seed = 1): Promise<readonly Table[]> {
  const told: number[] = [];
  const progress = (done: number, of: number): void => void told.push(done / of);
  const tables = await experiment.run({ ...running(scale, seed), progress });
  expect(told).toEqual(told.toSorted((a, b) => a - b));
  expect(told.at(-1)).toBe(1);
  for (const { keys, columns, rows } of tables)
    for (const row of rows)
      expect([row.keys.length, row.cells.length]).toEqual([keys.length, columns.length]);
  expectSources(experiment.name, tables);
  await expectDrawn(tables);
  return tables;
}

/** A column, by the keys of rows. */
function column({ columns, rows }: Table, name: string): Record<string, Cell['measured']> {
  const at = columns.indexOf(name);
  expect(at).not.toBe(-1);
  return Object.fromEntries(rows.map(({ keys, cells }) => [keys.join(' '), cells[at]!.measured]));
}

const sumOf = (values: Record<string, Cell['measured']>): number =>
  Object.values(values).reduce<number>((sum, value) => sum + Number(value), 0);

/** The files left in the temporary folder. Only these tests use it. */
const left = (): string[] => readdirSync(tmpdir());

beforeAll(() => {
  const [own, before] = [mkdtempSync(join(tmpdir(), 'assize-beyond-')), process.env['TMPDIR']];
  process.env['TMPDIR'] = own;
  return () => {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
    rmSync(own, { recursive: true });
  };
});

describe.each([
  [aliasing, 0.1],
  [compensation, 0.05],
  [correlated, 0.05],
  [annotations, 0.1],
] as const)('$name', (experiment, scale) => {
  test('is registered, and comes out the same again', async () => {
    expect(EXPERIMENTS).toContain(experiment);
    expect(await run(experiment, scale)).toEqual(await run(experiment, scale));
  });

  test('stops on its abort signal and leaves nothing behind', async () => {
    const stopped = new Error('enough');
    const controller = new AbortController();
    const progress = (): void => controller.abort(stopped);
    const done = experiment.run({ ...running(1), signal: controller.signal, progress });
    await expect(done).rejects.toBe(stopped);
    expect(left()).toEqual([]);
  });
});

describe('aliasing', () => {
  test('has as many pairs that are one thing as pairs that are two', () => {
    expect(CASES.length).toBeGreaterThanOrEqual(56);
    expect(CASES.filter(({ meet }) => meet === true)).toHaveLength(22);
    expect(CASES.filter(({ meet }) => meet === false)).toHaveLength(22);
  });

  test('resolvers miss no alias, raw names miss most, coarse scopes block all', async () => {
    const [table] = await run(aliasing, 1);
    const [one, two] = [column(table!, 'one thing'), column(table!, 'two things')];
    expect(sumOf(column(table!, 'resolved: missed'))).toBe(0);
    expect(column(table!, 'coarse: false')).toEqual(two);
    expect(sumOf(column(table!, 'coarse: missed'))).toBe(0);
    expect(column(table!, 'as written: missed')['orders']).toBe(one['orders']);
    // File names that differ in Unicode form count as one name, on any disk.
    expect(column(table!, 'resolved: false')).toMatchObject({ APIs: 0, pages: 0, orders: 0 });
    expect(column(table!, 'resolved: false')['files']).toBeLessThanOrEqual(2);
  });

  test('a resolver that forgets is seen', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'assize-worlds-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const worlds = new Worlds(folder);
    const table = await aliasesTable(running(1), {
      meet: (each) => worlds.meet(each),
      scopeOf: (...name) => worlds.scopeOf(...name),
      resolvers: { ...worlds.resolvers, crm: (scope) => scope, order: (scope) => scope },
    });
    const missed = column(table, 'resolved: missed');
    expect(missed).toMatchObject({ files: 0, pages: 0 });
    expect(Number(missed['APIs'])).toBeGreaterThan(0);
    expect(Number(missed['orders'])).toBeGreaterThan(0);
  });

  test('a scope that cannot be claimed ends the run with the reason', async () => {
    const worlds = { meet: () => true, scopeOf: () => '', resolvers: {} };
    await expect(aliasesTable(running(1), worlds)).rejects.toMatchObject({
      code: 'bad_argument',
      name: 'AuthorityError',
    });
  });
});

describe('compensation', () => {
  test('unresolved effects are those left standing; refusals follow chance', async () => {
    const [table] = await run(compensation, 0.5);
    expect(sumOf(column(table!, 'mismatches'))).toBe(0);
    expect(sumOf(column(table!, 'after a person'))).toBe(0);
    const [standing, unresolved, doubt] = ['left standing', 'unresolved', 'in doubt'].map((name) =>
      column(table!, name),
    );
    expect(standing).toEqual(unresolved);
    for (const [row, count] of Object.entries(doubt!))
      if (!row.startsWith('lost')) expect(count).toBe(0);
    for (const cf of [0, 0.1, 0.3, 0.5, 1]) {
      // A try that is refused for now is made again, three in all.
      for (const [sort, fails] of [
        ['for good', cf],
        ['for now', cf ** 3],
      ] as const) {
        const theory = (1 - fails) ** 4;
        const clean = Number(column(table!, 'clean (%)')[`${sort} ${cf}`]) / 100;
        expect(Math.abs(clean - theory)).toBeLessThanOrEqual(
          5 * Math.sqrt((theory * (1 - theory)) / 100),
        );
      }
    }
  });
});

describe('correlated', () => {
  test('patterns hit first attempts equally; with a budget transactions succeed', async () => {
    const [correct, hit, six] = await run(correlated, 1);
    for (const { keys, cells } of correct!.rows)
      for (const [m, { name }] of MODES.entries()) {
        const row = six!.rows.find((each) => each.keys.join() === [...keys, name].join())!;
        expect([keys, name, row.cells[SIX_COLUMNS.indexOf('correct')]]).toEqual([
          keys,
          name,
          cells[m],
        ]);
      }
    for (const pattern of ['independent', 'bursts', 'storms']) {
      // Without a retry, each step has one attempt: 1,000 of them, and one storm hits its steps
      // together.
      const share = Number(column(hit!, 'No-Tx: hit')[`3 ${pattern}`]) / 1_000;
      const independent = pattern === 'independent' ? 1_000 : pattern === 'bursts' ? 1_000 / 7 : 20;
      expect(Math.abs(share - 0.3)).toBeLessThanOrEqual(5 * Math.sqrt(0.21 / independent));
      expect(column(correct!, 'Tx-Full')[`20 ${pattern}`]).toBe(100);
      for (const mode of ['CR', 'No-Frontier', 'No-Tx'])
        expect(column(correct!, mode)[`3 ${pattern}`]).toBeLessThan(
          Number(column(correct!, 'Tx-Full')[`3 ${pattern}`]),
        );
    }
  });
});

describe('annotations', () => {
  test('each mistake has its own price, and none has none', async () => {
    const [table, refused] = await run(annotations, 0.5);
    const prices = Object.fromEntries(
      ['lost updates', 'waits for nothing', 'leaks'].map((name) => [name, column(table!, name)]),
    );
    const priceOf = (mistake: string): string[] =>
      Object.entries(prices).flatMap(([name, of]) => (of[mistake] === 0 ? [] : [name]));
    expect(priceOf('nothing')).toEqual([]);
    expect(priceOf('scopes too broad')).toEqual(['waits for nothing']);
    expect(priceOf('scopes too narrow')).toEqual(['lost updates']);
    expect(priceOf('wrong class')).toEqual(['leaks']);
    expect(priceOf('no compensation')).toEqual(['leaks']);
    // The runtime names each standing effect that lacks a compensation. No check can detect a wrong
    // class.
    const listed = column(table!, 'of these left to a person');
    expect(listed['no compensation']).toBe(prices['leaks']!['no compensation']);
    expect(listed['wrong class']).toBe(0);
    expect(new Set(Object.values(column(refused!, 'answer')))).toEqual(new Set(['invalid_tool']));
  });
});

describe('crash-windows', () => {
  test('no crash repeats or loses effects; only blind sinks leave one unresolved', async () => {
    const [once, again] = await run(crashWindows, 0.15);
    expect(left()).toEqual([]);
    expect(once!.rows.map(({ keys }) => keys[0])).toEqual(POINTS);
    expect(again!.rows.map(({ keys }) => keys[0])).toEqual(STEPS);
    for (const table of [once!, again!])
      for (const name of ['twice', 'lost', 'blocked', 'left, keyed', 'left, queryable'])
        for (const value of Object.values(column(table, name))) expect(['–', 0]).toContain(value);
    expect(Object.values(column(again!, 'lost'))).toContain(0);
  });

  test.each(['keyed', 'queryable', 'blind'] as const)(
    'a recovery reaches each kind of step that a %s sink has',
    async (sink) => {
      const { signal } = new AbortController();
      const kinds = new Set<string>();
      for (const point of [
        'while the sink does the held call',
        'while the sink undoes it',
      ] as const)
        for (const { kind } of (await killedIn({ point, sink }, { signal })).steps) kinds.add(kind);
      const isCalled = sink === 'keyed';
      const isAsked = sink === 'queryable';
      expect([...kinds].toSorted()).toEqual(
        STEPS.filter((kind) =>
          /ask|answered/.test(kind)
            ? isAsked
            : /calls|does that|has done/.test(kind)
              ? isCalled
              : true,
        ).toSorted(),
      );
    },
  );

  test.each([
    ['while the sink does the held call', false, { twice: 1, lost: 0 }],
    ['before the held call', true, { twice: 0, lost: 1 }],
  ] as const)('%s: a sink that lies is seen', async (point, happened, expected) => {
    const lying: typeof toolsOf = (...args) =>
      toolsOf(...args).map(({ spec }) =>
        declareTool({
          ...spec,
          reconcile: () => (happened ? { happened, result: null } : { happened }),
        }),
      );
    const outcome = await killedIn(
      { point, sink: 'queryable' },
      { signal: new AbortController().signal, tools: lying },
    );
    expect(outcome).toMatchObject({ ...expected, left: 0, blocked: 0 });
  });

  test('a process killed twice is checked: a sink lying to the third is detected', async () => {
    const lying: typeof toolsOf = (...args) =>
      toolsOf(...args).map(({ spec }) =>
        declareTool({ ...spec, reconcile: () => ({ happened: false }) }),
      );
    const again = { kind: 'before it writes something', nth: 1 } as const;
    const outcome = await killedIn(
      { point: 'while the sink does the held call', sink: 'queryable', again },
      { signal: new AbortController().signal, tools: lying },
    );
    expect(outcome).toMatchObject({ again, twice: 1, lost: 0 });
  });

  test('a step that is never reached is not a crash', async () => {
    const again = { kind: 'before it asks a sink', nth: 99 } as const;
    const { signal } = new AbortController();
    const done = killedIn({ point: 'after the commit', sink: 'keyed', again }, { signal });
    await expect(done).rejects.toThrow('was not killed: ');
    expect(left()).toEqual([]);
  });

  test('an aborted process ends and leaves nothing behind', async () => {
    const controller = new AbortController();
    const done = killedIn(
      { point: 'after the commit', sink: 'keyed' },
      { signal: controller.signal },
    );
    controller.abort(new Error('enough'));
    await expect(done).rejects.toThrow('enough');
    expect(left()).toEqual([]);
  });
});
