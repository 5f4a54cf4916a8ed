import { readdirSync } from 'node:fs';
import type { Cell, Table } from 'assize/tables';
import { describe, expect, test } from 'vitest';
import type { Experiment, Running } from '../experiment.ts';
import { MODES, modeOf } from '../modes.ts';
import { openScratch } from '../scratch.ts';
import { AGENTS, contention, measuredIn, READINGS, SCENARIOS } from './contention.ts';
import { gate } from './gate.ts';
import { speculation } from './speculation.ts';

// Work at the same time, branches, and what can't be undone: what is promised of it holds in every cell, and what is not promised
// does not, or else nothing was tried.

function running(scale: number, rest: Partial<Running> = {}): Running {
  return { seed: 1, scale, data: './nowhere', signal: new AbortController().signal, progress: () => {}, ...rest };
}

/** The cell of a row, by its keys, and a column. */
function at({ rows, columns }: Table, keys: readonly (string | number)[], column: string): Cell['measured'] {
  const row = rows.find((each) => keys.every((key, i) => key === each.keys[i]));
  return row!.cells[columns.indexOf(column)]!.measured;
}

const named = (tables: readonly Table[], what: string): Table => tables.find(({ title }) => title.includes(what))!;

/** The tables, after a look at how far it said it was. */
async function tablesOf(experiment: Experiment, scale: number): Promise<readonly Table[]> {
  const told: number[] = [];
  const tables = await experiment.run(running(scale, { progress: (done, of) => told.push(done / of) }));
  expect(told).toEqual(told.toSorted((a, b) => a - b));
  expect(told.at(-1)).toBe(1);
  for (const { keys, columns, rows } of tables)
    for (const row of rows) expect([row.keys.length, row.cells.length]).toEqual([keys.length, columns.length]);
  return tables;
}

test.each<[string, Experiment]>([
  ['speculation', speculation],
  ['contention', contention],
  ['gate', gate],
])('%s ends where it is told to', async (_, experiment) => {
  const stopped = new Error('enough');
  const controller = new AbortController();
  const progress = (): void => controller.abort(stopped);
  const made = experiment.run(running(1, { signal: controller.signal, progress }));
  await expect(made).rejects.toBe(stopped);
});

describe.each(SCENARIOS.map((scenario) => [scenario.name, scenario] as const))('agents at %s', (name, scenario) => {
  test.each(AGENTS)('%i of them lose nothing and begin nothing anew where the older is first', async (agents) => {
    const { lost, begun, operations } = await measuredIn(modeOf('Tx-Full'), scenario, agents, running(0.03));
    expect(lost.every((count) => count === 0)).toBe(true);
    expect(begun).toBe(operations);
  });

  test.each(MODES.filter(({ frontier }) => !frontier).map((mode) => [mode.name, mode] as const))(
    'in the mode %s they do where they meet',
    async (_, mode) => {
      const { lost } = await measuredIn(mode, scenario, 8, running(0.03));
      expect(lost.some((count) => count > 0)).toBe(name !== 'disjoint writes');
    },
  );
});

describe.each(READINGS.map((reading) => [reading.name, reading] as const))('reading that is %s', (name, reading) => {
  test.each(SCENARIOS.map((scenario) => [scenario.name, scenario] as const))(
    'loses nothing at %s, and is begun anew where it does not wait and others write',
    async (scenarioName, scenario) => {
      const { lost, begun, operations } = await measuredIn(modeOf('Tx-Full'), scenario, 8, running(0.03), reading);
      expect(lost.every((count) => count === 0)).toBe(true);
      const reads = scenarioName === 'counter' || scenarioName === 'read-write';
      expect(begun > operations).toBe(name !== 'ordered' && reads);
    },
  );
});

test('nobody sees a branch that is not committed, and of losers nothing stands, where writes are held', async () => {
  const tables = await tablesOf(speculation, 0.03);
  const [seen, left, right] = [named(tables, 'was seen'), named(tables, 'losing branch'), named(tables, 'the winner')];
  for (const branches of [2, 4, 8, 16]) {
    expect([seen, left, right].map((table) => at(table, [branches], 'Tx-Full'))).toEqual([0, 0, 100]);
    for (const { name } of MODES.filter(({ frontier }) => !frontier)) expect(at(seen, [branches], name)).toBe(100);
    expect(at(left, [branches], 'No-Tx')).toBe(100);
  }
  const files = named(tables, 'files of');
  const met = named(tables, 'shared elements');
  expect(['leaked by losers', 'of any, before the choice', 'of winners'].map((c) => at(files, ['Tx-Full'], c))).toEqual(
    [0, 0, 1],
  );
  expect(at(files, ['No-Tx'], 'leaked by losers')).toBe(2);
  expect(at(met, ['Tx-Full'], 'conflicts, k=3')).toBe(0);
  expect(at(met, ['Tx-Full'], 'right state, k=3 (%)')).toBe(100);
  expect(at(met, ['No-Tx'], 'conflicts, k=3')).toBeGreaterThan(0);
});

test('contention has correct states in every cell of Tx-Full', async () => {
  const tables = await tablesOf(contention, 0.01);
  const { rows } = named(tables, 'correct final states');
  expect(rows.map(({ cells: [first] }) => first!.measured)).toEqual(Array(16).fill(100));
  const read = named(tables, 'by how reads wait');
  expect(read.rows.map(({ cells }) => [cells[0], cells.at(-1)].map((cell) => cell!.measured))).toEqual(
    Array(16).fill([0, 0]),
  );
  expect(at(read, ['counter', 16], 'optimistic')).toBeGreaterThan(100);
});

test('what can’t be undone is sent when it was confirmed, never by what came to nothing, and once, or somebody is asked', async () => {
  const tables = await tablesOf(gate, 0.02);
  const transactional = MODES.filter((mode) => mode.transactional);
  // By real servers.
  const sent = tables.filter(({ source }) => source === 'Table 10');
  expect(sent).toHaveLength(2);
  for (const table of sent) {
    for (const { name } of transactional) {
      expect(['leaked', 'sent twice'].map((column) => at(table, [name], column))).toEqual([0, 0]);
      for (const column of ['confirmed', 'gated']) expect(at(table, [name], column)).toBeGreaterThan(0);
    }
    expect(at(table, ['No-Tx'], 'leaked')).toBeGreaterThan(0);
    expect(at(table, ['CR'], 'sent twice')).toBeGreaterThan(0);
  }
  // For every cause, number of branches, fault and sort of sink; and of what can't be held either, approved at once.
  const bySink = named(tables, 'can’t be undone, over all causes');
  // What comes after each of them, the branch that is chosen where others lose, and without a frontier what would be stale.
  const validIn = (mode: string): number => (mode === 'Tx-Full' ? 5 * 4 * 5 + 4 * 5 : 5 * 4 * 5 + 2 * 4 * 5);
  for (const sink of ['keyed', 'queryable', 'blind']) {
    const approved = named(tables, 'neither undone nor held');
    for (const { name } of transactional) {
      const [leaked, valid, once, inDoubt, twice] = approved.columns.map((column) =>
        Number(at(approved, [name, sink], column)),
      );
      expect([name, sink, leaked, twice]).toEqual([name, sink, 0, 0]);
      expect([valid, once! + inDoubt!, inDoubt! > 0]).toEqual([validIn(name), valid, sink === 'blind']);
    }
    for (const { name } of transactional) {
      const [leaked, valid, once, inDoubt, twice] = bySink.columns.map((column) =>
        Number(at(bySink, [name, sink], column)),
      );
      expect([name, sink, leaked, twice]).toEqual([name, sink, 0, 0]);
      expect([valid, once! + inDoubt!, inDoubt! > 0]).toEqual([validIn(name), valid, sink === 'blind']);
      expect(once).toBeGreaterThan(0);
    }
    expect(at(bySink, ['No-Tx', sink], 'leaked')).toBeGreaterThan(0);
  }
  const byCause = named(tables, 'by cause and branches');
  expect(byCause.rows.flatMap(({ cells }) => cells.map(({ measured }) => measured))).toEqual(Array(20).fill(0));
});

test('a scratch folder is gone when it is disposed of', async () => {
  let path = '';
  {
    await using scratch = await openScratch();
    path = scratch.path;
    expect(readdirSync(path)).toEqual([]);
  }
  expect(() => readdirSync(path)).toThrow('ENOENT');
});
