import { setImmediate as othersGoOn } from 'node:timers/promises';
import { Coordinator, readClaim } from 'assize/internal/effects';
import { type Cell, type Table, yieldToEventLoop } from '../../tables/index.ts';
import { directCaller } from '../callers.ts';
import { Cells } from '../environments/cells.ts';
import type { Experiment, Running } from '../experiment.ts';
import { estimateOf } from '../interval.ts';
import { scaled } from '../measure.ts';
import { Metrics, sixTable } from '../metrics.ts';
import { MODES, type Mode, type ModeName, modeOf } from '../modes.ts';
import type { TaskResult } from '../run-task.ts';
import { numbersFrom } from '../seeded-random.ts';
import { openStage, type Stage } from '../stage.ts';

const OPERATIONS = 50;
/**
 * The runs of two agents. More agents have proportionally fewer runs, so each cell has the same
 * number of operations. The paper has 100 runs per cell, and a scale of 2 gives the same number for
 * two agents. That number would take as long as all other experiments together.
 */
const RUNS = 50;
export const AGENTS = [2, 4, 8, 16];
/**
 * The probability that an agent, or a call in flight, waits for a turn of all others at each
 * opportunity.
 */
const WAITS = 0.25;

/** The calls of an operation: within a transaction, or immediate. */
export interface Access {
  get(name: string): Promise<number>;
  set(name: string, value: number): Promise<void>;
  /** Lets others go on, for a while. */
  wait(): Promise<void>;
}

interface Operation {
  readonly agent: number;
  /** Of its agent, from 0. */
  readonly n: number;
}

/**
 * The concurrent operations of agents, and the check of the final cells that no operation is lost.
 */
export interface Scenario {
  readonly name: string;
  readonly claims: (operation: Operation) => {
    readonly reads?: string[];
    readonly writes: string[];
  };
  readonly operate: (operation: Operation, access: Access) => Promise<void>;
  /** Operations with a missing update, or with a read of a value that never existed. */
  readonly lost: (cells: Cells, agents: number) => number;
  /**
   * Lost operations that show a half-done operation of another agent, if an operation has two
   * halves.
   */
  readonly torn?: (cells: Cells, agents: number) => number;
  /** The lost update is present with a wrong value. */
  readonly isThere?: true;
  /** Correct final states in per cent, by number of agents, of Tx-Full, No-Frontier and No-Tx. */
  readonly paper: Readonly<Record<number, readonly [number, number, number]>>;
}

async function increment(name: string, { get, set, wait }: Access): Promise<void> {
  const value = await get(name);
  await wait();
  await set(name, value + 1);
}

function agentsOf(agents: number): number[] {
  return Array.from({ length: agents }, (_, agent) => agent);
}

/**
 * Counted in the cells' log: second writes after which the two values come from different writers.
 */
function tornPairs({ log }: Cells): number {
  let [first, torn] = [0, 0];
  for (const { name, value } of log)
    if (name === 'first') first = value;
    else if (value !== first) torn++;
  return torn;
}

const isWriter = (agent: number): boolean => agent % 2 === 0;

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'disjoint writes',
    claims: ({ agent }) => ({ writes: [`cell:own-${agent}`] }),
    operate: ({ agent }, access) => increment(`own-${agent}`, access),
    lost: (cells, agents) =>
      agentsOf(agents).reduce((sum, agent) => sum + OPERATIONS - cells.value(`own-${agent}`), 0),
    paper: { 2: [100, 100, 100], 4: [100, 100, 100], 8: [100, 100, 100] },
  },
  {
    name: 'counter',
    claims: () => ({ writes: ['cell:counter'] }),
    operate: (_, access) => increment('counter', access),
    lost: (cells, agents) => agents * OPERATIONS - cells.value('counter'),
    paper: { 2: [100, 0, 0], 4: [100, 0, 0], 8: [100, 0, 0] },
  },
  {
    name: 'read-write',
    claims: ({ agent }) =>
      isWriter(agent)
        ? { writes: ['cell:left', 'cell:right'] }
        : { reads: ['cell:left', 'cell:right'], writes: [`cell:seen-${agent}`] },
    // Half of them move two cells on together; the others count how often they see them equal.
    operate: async ({ agent }, access) => {
      if (isWriter(agent)) {
        await increment('left', access);
        await access.wait();
        await increment('right', access);
        return;
      }
      const left = await access.get('left');
      await access.wait();
      if (left === (await access.get('right'))) await increment(`seen-${agent}`, access);
    },
    lost: (cells, agents) =>
      agentsOf(agents).reduce(
        (sum, agent) => sum + OPERATIONS - (isWriter(agent) ? 0 : cells.value(`seen-${agent}`)),
        // A pair with one lost member counts once.
        -Math.min(cells.value('left'), cells.value('right')),
      ),
    torn: (cells, agents) =>
      agentsOf(agents).reduce(
        (sum, agent) => sum + (isWriter(agent) ? 0 : OPERATIONS - cells.value(`seen-${agent}`)),
        0,
      ),
    paper: { 2: [100, 0, 0] },
  },
  {
    name: 'write-write',
    claims: () => ({ writes: ['cell:first', 'cell:second'] }),
    // No agent reads: each agent puts its own number into two cells.
    operate: async ({ agent, n }, { set, wait }) => {
      const number = 1 + agent * OPERATIONS + n;
      await set('first', number);
      await wait();
      await set('second', number);
    },
    lost: tornPairs,
    torn: tornPairs,
    isThere: true,
    paper: { 2: [100, 0, 0] },
  },
];

/**
 * How reads become current at the commit. A transaction with other reads restarts as often as
 * necessary.
 */
export interface ReadMode {
  readonly name: string;
  readonly options: Pick<Parameters<Stage['transact']>[0], 'reading' | 'epoch' | 'retries'>;
}

const ORDERED: ReadMode = { name: 'ordered', options: {} };
const UNTIL_DONE = { retries: 1_000_000 };
/**
 * By default, reads wait for transactions with a lower epoch. The other modes read immediately and
 * validate at the gate (decisions §5.3).
 */
export const READ_MODES: readonly ReadMode[] = [
  ORDERED,
  { name: 'optimistic', options: { ...UNTIL_DONE, reading: 'optimistic' } },
  { name: 'optimistic, epoch at the gate', options: { ...UNTIL_DONE, epoch: 'late' } },
];
/** The share of the usual number of runs: each run repeats its work many times. */
const READING_SHARE = 0.1;

/** Columns of table 9, by its order. */
const IN_PAPER: readonly ModeName[] = ['Tx-Full', 'No-Frontier', 'No-Tx'];

/** The figures that do not depend on the seed alone. */
const MEETING =
  'How often operations meet depends on time too, where transactions do not wait for who is older: with the same seed those figures, and how often work is started over, come out a little otherwise each time.';

/** The results of the runs of one scenario in one mode. */
export interface Measured {
  /** Of each run. */
  readonly lost: readonly number[];
  readonly operations: number;
  /** Started transactions; an operation of a mode without them counts as one. */
  readonly begun: number;
  readonly metrics: Metrics;
}

export const contention: Experiment = {
  name: 'contention',
  about:
    'agents that work on the same cells together: correct states, lost updates and throughput (table 9)',
  run: async (running) => {
    const settings = SCENARIOS.flatMap((scenario) =>
      AGENTS.map((agents) => ({ scenario, agents })),
    );
    const parts = settings.length * (MODES.length + READ_MODES.length) + MODES.length + 1;
    let done = 0;
    const part = async <T>(made: Promise<T>): Promise<T> => {
      const value = await made;
      running.progress(++done, parts);
      return value;
    };
    const measured: Measured[][] = [];
    for (const { scenario, agents } of settings) {
      const row: Measured[] = [];
      for (const mode of MODES) row.push(await part(measuredIn(mode, scenario, agents, running)));
      measured.push(row);
    }
    const few = { ...running, scale: running.scale * READING_SHARE };
    const read: Measured[][] = [];
    for (const { scenario, agents } of settings) {
      const row: Measured[] = [];
      for (const reading of READ_MODES)
        row.push(await part(measuredIn(modeOf('Tx-Full'), scenario, agents, few, reading)));
      read.push(row);
    }
    return [
      ...tablesOf(settings, measured, running),
      readingTable(settings, read, few),
      await throughput(running, part),
    ];
  },
};

/** The cost of optimistic reads: repeated work, and never a lost update. */
function readingTable(
  settings: readonly { readonly scenario: Scenario; readonly agents: number }[],
  measured: readonly (readonly Measured[])[],
  running: Running,
): Table {
  return {
    source: 'Table 9',
    title: 'operations of Tx-Full that were started over, by how reads wait',
    unit: '%',
    keys: ['scenario', 'agents'],
    columns: [...READ_MODES.map(({ name }) => name), 'lost, in any of them'],
    rows: settings.map(({ scenario, agents }, i) => {
      const row = measured[i]!;
      const anew = row.map(
        ({ begun, operations }): Cell => ({ measured: (100 * (begun - operations)) / operations }),
      );
      const lost = row.flatMap((one) => one.lost).reduce((sum, each) => sum + each, 0);
      return { keys: [scenario.name, agents], cells: [...anew, { measured: lost }] };
    }),
    notes: [
      `As above, ${runsOf(2, running)} runs of two agents. Whoever is stale starts over, as often as it takes: above 100 % more than once. The paper has no such table.`,
      MEETING,
    ],
  };
}

function tablesOf(
  settings: readonly { readonly scenario: Scenario; readonly agents: number }[],
  measured: readonly (readonly Measured[])[],
  running: Running,
): Table[] {
  const tableOf = (
    title: string,
    shareOf: (lost: number, measured: Measured) => number,
    paperOf: (scenario: Scenario, agents: number, mode: ModeName) => Cell['paper'],
    notes: readonly string[],
  ): Table => ({
    source: 'Table 9',
    title,
    unit: '%',
    keys: ['scenario', 'agents'],
    columns: MODES.map(({ name }) => name),
    rows: settings.map(({ scenario, agents }, i) => ({
      keys: [scenario.name, agents],
      cells: MODES.map(({ name }, m): Cell => {
        const one = measured[i]![m]!;
        const { mean, within } = estimateOf(
          one.lost.map((lost) => shareOf(lost, one)),
          running.seed,
        );
        const paper = paperOf(scenario, agents, name);
        return { measured: mean, within, ...(paper === undefined ? {} : { paper }) };
      }),
    })),
    notes,
    plot: { sort: 'line', x: 'agents', y: title },
  });
  const ordered = measured.map((row) => row[0]!);
  const [begun, operations] = [ordered, ordered].map((all, i) =>
    all.reduce((sum, one) => sum + (i === 0 ? one.begun : one.operations), 0),
  );
  return [
    tableOf(
      'correct final states',
      (lost) => (lost === 0 ? 100 : 0),
      (scenario, agents, mode) => scenario.paper[agents]?.[IN_PAPER.indexOf(mode)],
      [
        `${OPERATIONS} operations an agent; ${runsOf(2, running)} runs of two agents, of more as many fewer as they are more (the paper: 100 of each). Without faults. Tx-Full began ${begun} transactions for ${operations} operations.`,
        'read-write: half of the agents move two cells on together, the others look whether they are equal. write-write: each puts its number into two cells, and reads neither.',
        MEETING,
      ],
    ),
    tableOf(
      'operations that were lost',
      (lost, { lost: runs, operations: all }) => (100 * lost) / (all / runs.length),
      () => undefined,
      [
        'An update that is not there, a pair of cells that was torn, or a look at one. Read off the cells and their log.',
      ],
    ),
    sixTable(
      {
        source: 'Table 9',
        title: 'over all numbers of agents',
        keys: ['scenario'],
        notes: [
          'A step is an operation. Contaminated: somebody else could see half of one, as a pair of cells with one moved on. Nothing goes wrong with a call here, so no error is reported.',
        ],
      },
      MODES,
      SCENARIOS.map((scenario) => ({
        keys: [scenario.name],
        measured: MODES.map((_, m) =>
          Metrics.together(
            measured.flatMap((row, i) =>
              settings[i]!.scenario === scenario ? [row[m]!.metrics] : [],
            ),
            running.seed,
          ),
        ),
      })),
    ),
  ];
}

function runsOf(agents: number, running: Running): number {
  return scaled((RUNS * 2) / agents, running);
}

/** `reading`: of a mode with transactions. */
export function measuredIn(
  mode: Mode,
  scenario: Scenario,
  agents: number,
  running: Running,
  reading: ReadMode = ORDERED,
): Promise<Measured> {
  return measuredWith(scenario, agents, running, (cells, wait) =>
    workersIn(mode, cells, scenario, wait, reading),
  );
}

/** `open`: how agents do their operations on the cells of one run. */
export async function measuredWith(
  scenario: Scenario,
  agents: number,
  running: Running,
  open: (cells: Cells, wait: Access['wait']) => Workers | Promise<Workers>,
): Promise<Measured> {
  const lost: number[] = [];
  const metrics = new Metrics(running.seed);
  let begun = 0;
  const runs = runsOf(agents, running);
  for (let run = 0; run < runs; run++) {
    await yieldToEventLoop(running);
    const wait = waitsOf(numbersFrom('contention', running.seed, agents, run));
    const cells = new Cells(wait);
    const workers = await open(cells, wait);
    try {
      await Promise.all(
        agentsOf(agents).map(async (agent) => {
          for (let n = 0; n < OPERATIONS; n++) await workers.work({ agent, n });
        }),
      );
      begun += workers.begun();
    } finally {
      await workers.close();
    }
    lost.push(scenario.lost(cells, agents));
    metrics.add(resultOf(scenario, cells, agents));
  }
  return { lost, operations: runs * agents * OPERATIONS, begun, metrics };
}

function resultOf(
  { lost: lostOf, torn, isThere }: Scenario,
  cells: Cells,
  agents: number,
): TaskResult {
  const [steps, lost] = [agents * OPERATIONS, lostOf(cells, agents)];
  const contaminated = torn !== undefined && torn(cells, agents) > 0;
  return {
    ...{ steps, success: true, faults: 0, retries: 0, recovered: 0, propagated: 0, waiting: 0 },
    judged: {
      correct: lost === 0,
      expected: steps,
      present: isThere ? steps : steps - lost,
      wrong: isThere ? lost : 0,
      contaminated,
    },
  };
}

/**
 * Waits for other agents at random. No agent sleeps, because the experiment examines the order, not
 * the time.
 */
function waitsOf(chance: () => number): Access['wait'] {
  return async () => {
    if (chance() < WAITS) await othersGoOn();
  };
}

export interface Workers {
  work(operation: Operation): Promise<unknown>;
  begun(): number;
  close(): Promise<void>;
}

/** The accesses of an operation, as calls of the tools of the cells. */
export function accessOver(
  call: (tool: string, input: unknown) => Promise<unknown>,
  wait: Access['wait'],
): Access {
  return {
    get: async (name) => (await call('cells.get', { name })) as number,
    set: async (name, value) => void (await call('cells.set', { name, value })),
    wait,
  };
}

/** How agents of a mode do an operation. */
async function workersIn(
  mode: Mode,
  cells: Cells,
  scenario: Scenario,
  wait: Access['wait'],
  { options }: ReadMode,
): Promise<Workers> {
  let begun = 0;
  if (mode.transactional) {
    const stage = await openStage({ mode, tools: cells.tools });
    return {
      work: (operation) =>
        stage.transact({ ...scenario.claims(operation), ...options }, (tx) => {
          begun++;
          return scenario.operate(
            operation,
            accessOver((tool, input) => tx.call(tool, input), wait),
          );
        }),
      begun: () => begun,
      close: () => stage.close(),
    };
  }
  const call = directCaller(cells.tools);
  const access = accessOver((tool, input) => call({ tool, input }), wait);
  return {
    work: (operation) => {
      begun++;
      // Nothing fails here, so that nothing is ever put back.
      if (mode.checkpoint) cells.snapshot();
      return scenario.operate(operation, access);
    },
    begun: () => begun,
    close: async () => {},
  };
}

const THROUGHPUT = 20_000;
const NO_OP_AGENTS = 16;
/** Of table 9, in transactions a second. */
const NO_OP: Partial<Record<ModeName, number>> = {
  'Tx-Full': 14_209,
  'No-Frontier': 13_575,
  'No-Tx': 1_182_535,
};

/** Transactions of no calls, by concurrent agents. */
async function throughput(
  running: Running,
  part: <T>(made: Promise<T>) => Promise<T>,
): Promise<Table> {
  const each = Math.ceil(scaled(THROUGHPUT, running) / NO_OP_AGENTS);
  const cells: Cell[] = [];
  for (const mode of MODES) {
    const paper = NO_OP[mode.name];
    cells.push({
      measured: await part(noOps(mode, each, running)),
      ...(paper === undefined ? {} : { paper }),
    });
  }
  cells.push({ measured: await part(rateOf(coordinated(), each, running)) });
  return {
    source: 'Table 9',
    title: 'transactions that do nothing',
    unit: 'tx/s',
    keys: ['agents'],
    columns: [...MODES.map(({ name }) => name), 'coordination alone'],
    rows: [{ keys: [NO_OP_AGENTS], cells }],
    notes: [
      'In memory. A transaction is also a ruling and an entry of the ledger, which the paper’s is not; what the paper’s does is rather “coordination alone”. Time is of this machine.',
    ],
  };
}

async function noOps(mode: Mode, each: number, running: Running): Promise<number> {
  if (!mode.transactional) {
    const cells = new Cells();
    return rateOf(async () => void (mode.checkpoint && cells.snapshot()), each, running);
  }
  const stage = await openStage({ mode: modeOf(mode.name), tools: [] });
  try {
    return await rateOf(
      (agent) => stage.transact({ writes: [`nothing:${agent}`] }, () => undefined),
      each,
      running,
    );
  } finally {
    await stage.close();
  }
}

/** Epoch, claims, gate and end. */
function coordinated(): (agent: number) => Promise<void> {
  const coordinator = new Coordinator();
  return async (agent) => {
    const work = coordinator.begin([readClaim('write', `nothing:${agent}`)]);
    await coordinator.whenClear(work);
    coordinator.end(work);
  };
}

/**
 * The rate per second, after an uncounted round of the same size, so the measured code is compiled.
 */
async function rateOf(
  make: (agent: number) => Promise<unknown>,
  each: number,
  running: Running,
): Promise<number> {
  let took = 0;
  for (let round = 0; round < 2; round++) {
    await yieldToEventLoop(running);
    const begun = performance.now();
    await Promise.all(
      agentsOf(NO_OP_AGENTS).map(async (agent) => {
        for (let n = 0; n < each; n++) await make(agent);
      }),
    );
    took = performance.now() - begun;
  }
  return (1_000 * NO_OP_AGENTS * each) / took;
}
