import { readdirSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Cell, plotter, type Table } from '../../tables/index.ts';
import type { Experiment, Running } from '../experiment.ts';
import { SIX_COLUMNS } from '../metrics.ts';
import { MODES, type Mode, type ModeName, modeOf } from '../modes.ts';
import { type Fault, type FaultKind, scheduleOf } from '../schedule.ts';
import { openScratch } from '../scratch.ts';
import { AGENTS, contention, measuredIn, READ_MODES, SCENARIOS } from './contention.ts';
import { gate } from './gate.ts';
import { speculation } from './speculation.ts';
import { expectSources } from './testing/table-sources.ts';

// Concurrent work, branches, and irreversible effects. The promised properties hold in every cell.
// A property that is not promised fails, or else the test tried nothing.

function running(scale: number, rest: Partial<Running> = {}): Running {
  return {
    seed: 1,
    scale,
    data: './nowhere',
    signal: new AbortController().signal,
    progress: () => {},
    ...rest,
  };
}

/** The cell of a row, by its keys, and a column. */
function at(
  { rows, columns }: Table,
  keys: readonly (string | number)[],
  column: string,
): Cell['measured'] {
  const row = rows.find((each) => keys.every((key, i) => key === each.keys[i]));
  return row!.cells[columns.indexOf(column)]!.measured;
}

const named = (tables: readonly Table[], what: string): Table =>
  tables.find(({ title }) => title.includes(what))!;

/** The tables, after a look at how far it said it was. */
async function tablesOf(experiment: Experiment, scale: number): Promise<readonly Table[]> {
  const told: number[] = [];
  const tables = await experiment.run(
    running(scale, { progress: (done, of) => told.push(done / of) }),
  );
  expect(told).toEqual(told.toSorted((a, b) => a - b));
  expect(told.at(-1)).toBe(1);
  expectSources(experiment.name, tables);
  for (const { keys, columns, rows } of tables)
    for (const row of rows)
      expect([row.keys.length, row.cells.length]).toEqual([keys.length, columns.length]);
  return tables;
}

test.each<[string, Experiment]>([
  ['speculation', speculation],
  ['contention', contention],
  ['gate', gate],
])('%s stops on its abort signal', async (_, experiment) => {
  const stopped = new Error('enough');
  const controller = new AbortController();
  const progress = (): void => controller.abort(stopped);
  const made = experiment.run(running(0.05, { signal: controller.signal, progress }));
  await expect(made).rejects.toBe(stopped);
});

describe.each(SCENARIOS.map((scenario) => [scenario.name, scenario] as const))(
  'agents at %s',
  (name, scenario) => {
    test.each(AGENTS)(
      '%i agents lose and restart nothing where the older is first',
      async (agents) => {
        const { lost, begun, operations } = await measuredIn(
          modeOf('Tx-Full'),
          scenario,
          agents,
          running(0.03),
        );
        expect(lost.every((count) => count === 0)).toBe(true);
        expect(begun).toBe(operations);
      },
    );

    test.each(MODES.filter(({ frontier }) => !frontier).map((mode) => [mode.name, mode] as const))(
      'in the mode %s they do where they meet',
      async (_, mode) => {
        const { lost } = await measuredIn(mode, scenario, 8, running(0.03));
        expect(lost.some((count) => count > 0)).toBe(name !== 'disjoint writes');
      },
    );
  },
);

describe.each(READ_MODES.map((reading) => [reading.name, reading] as const))(
  'reading that is %s',
  (name, reading) => {
    test.each(SCENARIOS.map((scenario) => [scenario.name, scenario] as const))(
      'loses nothing at %s, and restarts if it does not wait and others write',
      async (scenarioName, scenario) => {
        const { lost, begun, operations } = await measuredIn(
          modeOf('Tx-Full'),
          scenario,
          8,
          running(0.03),
          reading,
        );
        expect(lost.every((count) => count === 0)).toBe(true);
        const reads = scenarioName === 'counter' || scenarioName === 'read-write';
        expect(begun > operations).toBe(name !== 'ordered' && reads);
      },
    );
  },
);

describe('branches with one that is to stay', () => {
  const SCALE = 0.03;
  let tables: readonly Table[];
  beforeAll(async () => {
    tables = await tablesOf(speculation, SCALE);
  }, 300_000);

  test('with buffered writes uncommitted branches are unseen, losers leave none', () => {
    const [seen, left, right] = ['was seen', 'losing branch', 'the winner'].map((title) =>
      named(tables, title),
    );
    for (const branches of [2, 4, 8, 16]) {
      for (const { name, transactional, checkpoint } of MODES) {
        const cells = (writes: string) =>
          [seen, left, right].map((table) => at(table!, [writes, branches], name));
        // Only the class of the tool decides whether branches are seen, whatever the frontier.
        const isClean = transactional || checkpoint;
        expect(cells('buffered')).toEqual([
          transactional ? 0 : 100,
          isClean ? 0 : 100,
          isClean ? 100 : 0,
        ]);
        expect(cells('direct')).toEqual([100, isClean ? 0 : 100, isClean ? 100 : 0]);
      }
    }
  });

  test('the six metrics of a store agree, for each branch count in each mode', () => {
    const six = named(tables, 'of branches in one store');
    expect(six.rows.map(({ keys }) => keys)).toEqual(
      ['buffered', 'direct'].flatMap((writes) =>
        [2, 4, 8, 16].flatMap((branches) => MODES.map(({ name }) => [writes, branches, name])),
      ),
    );
    for (const { keys, cells } of six.rows) {
      const { transactional, checkpoint } = modeOf(keys[2] as ModeName);
      const isHeld = transactional && keys[0] === 'buffered';
      expect([keys, ...cells.map(({ measured }) => measured)]).toEqual([
        keys,
        ...[100, transactional || checkpoint ? 100 : 0, isHeld ? 0 : 100, 100, 0, 0],
      ]);
    }
  });

  test('losers’ files stay without transactions, seen unless buffered or copied', () => {
    const [leaked, seen] = ['losing branches left', 'to be seen before'].map((title) =>
      named(tables, title),
    );
    for (const branches of [2, 3, 4, 8, 16])
      for (const { name, transactional } of MODES) {
        const cells = (place: string) =>
          [leaked, seen].map((table) => at(table!, [place, branches], name));
        const left = transactional ? 0 : branches - 1;
        expect(cells('the folder, buffered')).toEqual([left, transactional ? 0 : branches]);
        expect(cells('the folder, direct')).toEqual([left, branches]);
        expect(cells('copies of it')).toEqual(transactional ? [0, 0] : ['–', '–']);
      }
    const six = named(tables, 'files of branches');
    expect(six.rows.map(({ keys }) => keys)).toHaveLength(
      2 * MODES.length + MODES.filter((m) => m.transactional).length,
    );
    for (const { keys, cells } of six.rows) {
      const { transactional } = modeOf(keys[1] as ModeName);
      const isClean = transactional && keys[0] !== 'the folder, direct';
      const right = transactional ? 100 : 0;
      expect(cells.map(({ measured }) => measured)).toEqual([
        100,
        right,
        isClean ? 0 : 100,
        100,
        0,
        0,
      ]);
    }
  });

  /** By the schedule alone: whether a step of these branches is done. */
  function expectedOf(
    mode: Mode,
    isHeld: boolean,
    k: number,
    faultOf: (branch: number, attempt: number) => Fault,
  ) {
    const made = Array.from({ length: k }, () => 0);
    const asks = mode.transactional;
    // A buffered call runs after its branch is chosen, and the first branch is chosen. All branches
    // make the other calls; a branch that is restored and chosen makes them again.
    let trying = isHeld ? [0] : made.map((_, branch) => branch);
    for (let again = 0; again < (mode.retry ? 4 : 1); again++) {
      const went = trying.map((branch) => {
        const fault = faultOf(branch, made[branch]!++);
        return fault === 'none' || (fault === 'lost' && asks);
      });
      const first = went.indexOf(true);
      if (first !== -1 && (!mode.checkpoint || trying.length === 1)) return true;
      if (first !== -1) trying = [trying[first]!];
    }
    return false;
  }

  test.each([
    ['the same faults in all modes', (): FaultKind[] => ['exception', 'lost']],
    [
      'faults as in the paper',
      ({ name }: Mode): FaultKind[] => (name === 'No-Tx' ? ['lost'] : ['exception']),
    ],
  ] as const)('tasks are done as the schedule makes of each write: %s', (title, kinds) => {
    const trials = 300 * SCALE;
    const table = named(tables, `tasks done, ${title}`);
    const six = named(
      tables,
      `speculative tasks: all six metrics, in per cent but for errors, ${title}`,
    );
    const cases = ['buffered', 'direct'].flatMap((writes) => [1, 3].map((k) => ({ writes, k })));
    for (const mode of MODES)
      for (const { writes, k } of cases) {
        const isHeld = mode.transactional && writes === 'buffered';
        const schedule = scheduleOf({ seed: 1, rate: 0.3, kinds: kinds(mode) });
        let [done, steps] = [0, 0];
        for (let trial = 0; trial < trials; trial++)
          for (let step = 0; step < 10; step++) {
            const goes = expectedOf(mode, isHeld, k, (branch, attempt) =>
              schedule(`speculation ${trial}`, step * 3 + branch, attempt),
            );
            if (!goes) break;
            steps++;
            if (step === 9) done++;
          }
        const keys = [writes, k, mode.name];
        expect([...keys, at(table, [writes, mode.name], `k=${k}`)]).toEqual([
          ...keys,
          (100 * done) / trials,
        ]);
        const cells = SIX_COLUMNS.map((column) => Number(at(six, keys, column)));
        expect([cells[0], cells[5]]).toEqual([(100 * done) / trials, trials - done]);
        // Exactly the completed steps are present, and all of them are right, except in modes that
        // revert nothing.
        if (mode.transactional || mode.checkpoint) {
          expect([cells[1], cells[4]]).toEqual([cells[0], 0]);
          expect(cells[3]).toBeCloseTo((10 * steps) / trials);
        }
        if (isHeld) expect(cells[2]).toBe(0);
        else if (k === 3) expect(cells[2]).toBeGreaterThan(0);
      }
    const met = named(tables, `conflicts of speculative branches, ${title}`);
    for (const { name, transactional } of MODES) {
      expect(at(met, ['direct', name], 'k=3')).toBeGreaterThan(0);
      if (transactional) expect(at(met, ['buffered', name], 'k=3')).toBe(0);
    }
  });

  test('their count tables are drawn', async () => {
    const draw = await plotter();
    const drawn = tables.filter(({ plot }) => plot !== undefined);
    for (const title of [
      'losing branches left',
      'to be seen before',
      'tasks done, ',
      'conflicts of',
    ])
      expect(draw(named(drawn, title))).toContain(named(drawn, title).title);
  });
});

test('contention has correct states in every cell of Tx-Full', async () => {
  const tables = await tablesOf(contention, 0.01);
  const { rows } = named(tables, 'correct final states');
  expect(rows.map(({ cells: [first] }) => first!.measured)).toEqual(Array(16).fill(100));
  const six = named(tables, 'all six metrics');
  expect(six.rows.map(({ keys }) => keys)).toEqual(
    SCENARIOS.flatMap(({ name }) => MODES.map((mode) => [name, mode.name])),
  );
  const lost = named(tables, 'that were lost');
  for (const { name, torn, isThere } of SCENARIOS)
    for (const { name: mode, frontier } of MODES) {
      const isLost = AGENTS.some((agents) => Number(at(lost, [name, agents], mode)) > 0);
      expect(isLost).toBe(!frontier && name !== 'disjoint writes');
      const [done, correct, contaminated, there, wrong, told] = SIX_COLUMNS.map((column) =>
        at(six, [name, mode], column),
      );
      expect([name, mode, done, told, Number(correct) === 100]).toEqual([
        name,
        mode,
        100,
        0,
        !isLost,
      ]);
      expect([Number(there) < 100, Number(wrong) > 0]).toEqual([
        isLost && !isThere,
        isLost && isThere === true,
      ]);
      expect(Number(contaminated) > 0).toBe(isLost && torn !== undefined);
    }
  const read = named(tables, 'by how reads wait');
  expect(
    read.rows.map(({ cells }) => [cells[0], cells.at(-1)].map((cell) => cell!.measured)),
  ).toEqual(Array(16).fill([0, 0]));
  expect(at(read, ['counter', 16], 'optimistic')).toBeGreaterThan(100);
});

describe('irreversible effects', () => {
  const SCALE = 0.04;
  let tables: readonly Table[];
  beforeAll(async () => {
    tables = await tablesOf(gate, SCALE);
  }, 300_000);

  /**
   * The outcome of a message by the schedule alone: how often a server accepts it, and whether it
   * becomes unresolved.
   */
  function expectedOf(mode: Mode, sort: 'mail' | 'hook', faultOf: (attempt: number) => Fault) {
    let [times, failed, lost] = [0, 0, 0];
    const tries = mode.retry ? 4 : 1;
    for (let attempt = 0; ; attempt++) {
      const fault = faultOf(attempt);
      // A keyed sink takes each key once; without a runtime each call has a key of its own.
      const isAgain = mode.transactional && times > 0;
      if (fault !== 'exception' && !isAgain) times++;
      if (fault === 'none') return { times, isLeft: false };
      if (!mode.transactional && attempt === tries - 1) return { times, isLeft: false };
      if (fault === 'lost' && mode.transactional && sort === 'mail') return { times, isLeft: true };
      // A later refusal does not prove that a lost call did nothing.
      if (fault === 'lost' || lost > 0) lost++;
      else failed++;
      if (mode.transactional && (lost === tries || failed === tries))
        return { times, isLeft: true };
    }
  }

  test.each([
    ['the same faults in all modes', (): FaultKind[] => ['exception', 'lost']],
    [
      'faults as in the paper',
      ({ transactional }: Mode): FaultKind[] => (transactional ? ['exception'] : ['lost']),
    ],
  ] as const)('the servers’ logs match the schedule of each call: %s', (title, kinds) => {
    const runs = 100 * SCALE;
    for (const confirms of [true, false])
      for (const mode of MODES) {
        const counts = {
          leaked: 0,
          gated: 0,
          confirmed: 0,
          'sent twice': 0,
          'left to a person': 0,
        };
        for (const rate of [0, 0.1, 0.3]) {
          const schedule = scheduleOf({ seed: 1, rate, kinds: kinds(mode) });
          for (let run = 0; run < runs; run++)
            for (const [n, sort] of [
              [1, 'mail'],
              [2, 'hook'],
            ] as const) {
              if (mode.transactional && !confirms) {
                counts.gated++;
                continue;
              }
              const name = `gate ${rate}-${Number(confirms)}-${run}`;
              const { times, isLeft } = expectedOf(mode, sort, (attempt) =>
                schedule(name, n, attempt),
              );
              if (mode.transactional) counts.confirmed += times;
              else counts.leaked += times;
              counts['sent twice'] += Math.max(0, times - 1);
              if (isLeft) counts['left to a person']++;
            }
        }
        const table = named(tables, `that ${confirms ? 'somebody' : 'nobody'} confirms, ${title}`);
        expect([
          mode.name,
          ...Object.keys(counts).map((column) => at(table, [mode.name], column)),
        ]).toEqual([mode.name, ...Object.values(counts)]);
      }
  });

  test('both settings are summed beside the paper; faults hit sends in all modes', () => {
    for (const title of ['the same faults in all modes', 'faults as in the paper']) {
      const of = (what: string): Table => named(tables, `${what}, ${title}`);
      const [yes, no, both, six] = [
        'that somebody confirms',
        'that nobody confirms',
        'together',
        'for errors',
      ].map(of);
      for (const { name, transactional } of MODES) {
        for (const column of both!.columns)
          expect(at(both!, [name], column)).toBe(
            Number(at(yes!, [name], column)) + Number(at(no!, [name], column)),
          );
        const cell = (setting: string, column: string) => at(six!, [setting, name], column);
        expect(cell('somebody', 'calls hit')).toBeGreaterThan(0);
        // Nothing is contaminated where it is held, and all of it where it is not.
        if (transactional)
          expect(['somebody', 'nobody'].map((who) => cell(who, SIX_COLUMNS[2]!))).toEqual([0, 0]);
        else expect(cell('somebody', SIX_COLUMNS[1]!)).toBe(0);
      }
    }
  });

  test('in each case aborted work sends nothing, valid work once or in doubt', () => {
    const transactional = MODES.filter((mode) => mode.transactional);
    // Valid messages: of the transaction after each of six causes, and of the chosen branch if
    // others lose. Without a frontier, the otherwise stale transaction adds its message.
    const validIn = (mode: string): number =>
      mode === 'Tx-Full' ? 6 * 4 * 5 + 4 * 5 : 6 * 4 * 5 + 2 * 4 * 5;
    const [held, approved] = ['can’t be undone, over all', 'neither undone nor held'].map((title) =>
      named(tables, title),
    );
    for (const table of [held!, approved!])
      for (const { name } of transactional)
        for (const sink of ['keyed', 'queryable', 'blind']) {
          const [cells, leaked, valid, once, inDoubt, twice] = table.columns.map((column) =>
            Number(at(table, [name, sink], column)),
          );
          expect([name, sink, cells, leaked, twice]).toEqual([name, sink, 6 * 4 * 5, 0, 0]);
          // A blind sink has told of those that met no fault, or a refusal.
          expect([valid, once, inDoubt]).toEqual(
            sink === 'blind'
              ? [validIn(name), (2 / 5) * validIn(name), (3 / 5) * validIn(name)]
              : [validIn(name), validIn(name), 0],
          );
        }
  });

  test('without a runtime aborted and losing branches leak each accepted call', () => {
    // One message per branch of the first and of the second transaction, except for the chosen
    // branches, at three sorts of sinks.
    const all = (ofCause: number, branches: readonly number[]): number =>
      3 * branches.reduce((sum, count) => sum + ofCause * (2 * count - 1), 0);
    const BRANCHES = [2, 4, 8, 16];
    const lost = (branches: readonly number[]): number =>
      3 * branches.reduce((sum, count) => sum + 2 * count - 2, 0);
    const each = (branches: readonly number[]): number => all(5, branches) + lost(branches);
    // After one refusal or an early loss, a retried message is accepted once. After a late loss or
    // a hang it is accepted twice, and after a permanent refusal never.
    const [timesCr, timesNoTx] = [
      [1, 1, 2, 2, 0],
      [0, 0, 1, 1, 0],
    ] as const;
    const sum = (times: readonly number[]): number =>
      times.reduce((total, time) => total + time, 0);
    const columnsOf = (title: string): number[][] =>
      ['CR', 'No-Tx', 'Tx-Full', 'No-Frontier', 'Tx-NoFrontier+Retry'].map((mode) => {
        const table = named(tables, title);
        return table.rows.map(({ cells }) => Number(cells[table.columns.indexOf(mode)]!.measured));
      });
    const zeros = (count: number): number[][] => Array(3).fill(Array(count).fill(0));
    expect(columnsOf('leaked, by the fault')).toEqual([
      timesCr.map((times) => times * each(BRANCHES)),
      timesNoTx.map((times) => times * each(BRANCHES)),
      ...zeros(5),
    ]);
    expect(columnsOf('leaked, by the number of branches')).toEqual([
      BRANCHES.map((count) => sum(timesCr) * each([count])),
      BRANCHES.map((count) => sum(timesNoTx) * each([count])),
      ...zeros(4),
    ]);
    expect(columnsOf('leaked, by the cause')).toEqual([
      ...[timesCr, timesNoTx].map((times) => [
        ...Array(5).fill(sum(times) * all(1, BRANCHES)),
        sum(times) * lost(BRANCHES),
      ]),
      ...zeros(6),
    ]);
  });

  test('each of its tables but those of metrics and sinks is drawn', async () => {
    const draw = await plotter();
    const drawn = tables.filter(({ plot }) => plot !== undefined);
    expect(drawn.map(({ source }) => source)).toEqual([
      ...Array(6).fill('Table 10'),
      ...Array(3).fill('Gate'),
    ]);
    for (const table of drawn) expect(draw(table)).toContain(table.title);
  });
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
