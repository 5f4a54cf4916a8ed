import type { Tool } from 'assize/internal/effects';
import { type Cell, partOf, type Table, yieldToEventLoop } from '../../tables/index.ts';
import { BASELINES, type Baseline } from '../baselines/index.ts';
import { type Caller, claimsOf, toolNamed } from '../callers.ts';
import { bookingsTask } from '../environments/bookings.ts';
import type { Experiment, Running } from '../experiment.ts';
import { estimateOf } from '../interval.ts';
import { scaled } from '../measure.ts';
import { Metrics, SIX_COLUMNS } from '../metrics.ts';
import { modeOf } from '../modes.ts';
import { runTask, type TaskOptions } from '../run-task.ts';
import { BOTH, scheduleOf } from '../schedule.ts';
import { numbersFrom } from '../seeded-random.ts';
import { RETRIES } from '../stage.ts';
import {
  AGENTS,
  accessOver,
  type Measured,
  measuredIn,
  measuredWith,
  SCENARIOS,
  type Workers,
} from './contention.ts';
import { type Contaminated, contaminatedIn, STEPS, shareOf } from './speculation.ts';
import { type Speculator, speculatorIn, WRITES } from './speculators.ts';

const SOURCE = 'Baselines (§6.5)';
const TX_FULL = modeOf('Tx-Full');
const NAMES = [TX_FULL.name, ...BASELINES.map(({ name }) => name)];
/** Of the runs of the experiments that these tables stand beside. */
const SHARE = 0.1;
const BRANCHES = [2, 4, 8, 16];
const BRANCH_RUNS = 50;
const BOOKINGS = 10;
const BOOKING_RUNS = 100;
const RATES = [0, 0.1, 0.3, 0.5];

const ABOUT =
  'Locking: an exclusive lock a scope, from before the body until its end; calls act directly, and are undone after an error. OCC: the body reads directly and holds its writes, and one commit at a time validates what was read. TCC: what is to be written is reserved first, made when it is confirmed, each write under one key, and nothing is reserved for a read.';

export const baselines: Experiment = {
  name: 'baselines',
  about:
    'Tx-Full beside locks, optimistic validation (OCC) and try-confirm-cancel (TCC), at the same sinks',
  run: async (running) => [
    ...(await contended(partOf(running, 0, 3))),
    await speculated(partOf(running, 1, 3)),
    await booked(partOf(running, 2, 3)),
  ],
};

async function contended(running: Running): Promise<Table[]> {
  const few = { ...running, scale: running.scale * SHARE };
  const settings = SCENARIOS.flatMap((scenario) => AGENTS.map((agents) => ({ scenario, agents })));
  const measured: Measured[][] = [];
  for (const { scenario, agents } of settings) {
    const row = [await measuredIn(TX_FULL, scenario, agents, few)];
    for (const { open } of BASELINES)
      row.push(
        await measuredWith(scenario, agents, few, (cells, wait): Workers => {
          const baseline = open(cells.tools);
          return {
            work: (operation) =>
              baseline.transact(scenario.claims(operation), [
                (call) => scenario.operate(operation, accessOver(call, wait)),
              ]),
            begun: () => baseline.begun,
            close: async () => {},
          };
        }),
      );
    measured.push(row);
    running.progress(measured.length, settings.length);
  }
  const tableOf = (
    title: string,
    cellOf: (one: Measured) => Cell,
    notes: readonly string[],
  ): Table => ({
    source: SOURCE,
    title,
    unit: '%',
    keys: ['scenario', 'agents'],
    columns: NAMES,
    rows: settings.map(({ scenario, agents }, i) => ({
      keys: [scenario.name, agents],
      cells: measured[i]!.map(cellOf),
    })),
    notes: [ABOUT, ...notes],
  });
  return [
    tableOf(
      'correct final states of concurrent agents',
      ({ lost }) => {
        const { mean, within } = estimateOf(
          lost.map((count) => (count === 0 ? 100 : 0)),
          running.seed,
        );
        return { measured: mean, within };
      },
      [
        'Agents and scenarios as in table 9, without faults. This table is here because isolation is what the four promise. TCC fails where an agent looks at two values: its reads see one confirmed write of a pair without the other.',
      ],
    ),
    tableOf(
      'operations that were started over',
      ({ begun, operations }) => ({ measured: (100 * (begun - operations)) / operations }),
      [
        'The price of isolation in work: OCC repeats an operation for each conflict, and TCC for each reservation that it does not get. Tx-Full and Locking wait instead. How often operations meet depends on time too.',
      ],
    ),
  ];
}

/** The branches of a baseline: each is one transaction, in which one branch stays. */
function speculatorOver(baseline: Baseline, writes: readonly string[]): Speculator {
  return {
    try: async (branches, choose) => {
      await baseline.transact({ writes }, branches, (failed) => choose(failed)!);
      return { isDone: true };
    },
    close: async () => {},
  };
}

async function speculated(running: Running): Promise<Table> {
  const runs = scaled(BRANCH_RUNS, running);
  const openers = [
    ...WRITES.map(({ name, delivery }) => ({
      name: `${TX_FULL.name}, ${name}`,
      delivery,
      open: (options: Parameters<typeof speculatorIn>[1]) => speculatorIn(TX_FULL, options),
    })),
    ...BASELINES.map(({ name, open }) => ({
      name,
      delivery: 'externalised' as const,
      open: async ({ tools, writes }: Parameters<typeof speculatorIn>[1]) =>
        speculatorOver(open(tools), writes),
    })),
  ];
  const measured: Contaminated[][][] = [];
  for (const branches of BRANCHES) {
    const row: Contaminated[][] = [];
    for (const { delivery, open } of openers) {
      const seen: Contaminated[] = [];
      for (let run = 0; run < runs; run++) {
        await yieldToEventLoop(running);
        const chance = numbersFrom('winner', running.seed, branches, run);
        seen.push(await contaminatedIn(open, delivery, branches, chance));
      }
      row.push(seen);
    }
    measured.push(row);
    running.progress(measured.length, BRANCHES.length);
  }
  const WHAT: readonly (readonly [string, (one: Contaminated) => boolean])[] = [
    ['a branch was seen before one was chosen', ({ seen }) => seen],
    ['a losing branch was left', ({ left }) => left],
    ['the winner stood alone', ({ right }) => right],
  ];
  return {
    source: SOURCE,
    title: 'runs of branches with one that stays',
    unit: '%',
    keys: ['in the run', 'branches'],
    columns: openers.map(({ name }) => name),
    rows: WHAT.flatMap(([what, isSo]) =>
      BRANCHES.map((branches, i) => ({
        keys: [what, branches],
        cells: measured[i]!.map((all) =>
          shareOf(
            all.map((one) => (isSo(one) ? 100 : 0)),
            running,
          ),
        ),
      })),
    ),
    notes: [
      ABOUT,
      `${runs} runs a cell, ${STEPS} writes a branch, as in the tables of RQ2. This table is here because it separates holding from ordering: OCC and TCC hold writes as a buffered tool does, and a branch of theirs gets no answer of a write. A lock orders transactions, and hides nothing from a reader who takes none.`,
    ],
  };
}

async function booked(running: Running): Promise<Table> {
  const runs = scaled(BOOKING_RUNS, running);
  const protocols: readonly ({ readonly name: string } & Pick<TaskOptions, 'callerOf'>)[] = [
    { name: TX_FULL.name },
    ...BASELINES.map(({ name, open }) => ({
      name,
      callerOf: (tools: readonly Tool[]) => callerOver(open(tools), tools),
    })),
  ];
  const rows: Table['rows'][number][] = [];
  for (const rate of RATES) {
    const schedule = scheduleOf({ seed: running.seed, rate, kinds: BOTH.kinds(TX_FULL) });
    for (const { name, ...protocol } of protocols) {
      const metrics = new Metrics(running.seed);
      for (let run = 0; run < runs; run++) {
        await yieldToEventLoop(running);
        const task = bookingsTask(`bookings ${run}`, BOOKINGS);
        metrics.add(
          await runTask(task, { mode: TX_FULL, ...protocol, schedule, onError: 'go on' }),
        );
      }
      rows.push({ keys: [rate, name], cells: [...metrics.six(), metrics.total('waiting')] });
      running.progress(rows.length, RATES.length * protocols.length);
    }
  }
  return {
    source: SOURCE,
    title: `${BOOKINGS} bookings under faults, in per cent but for errors and what waits`,
    digits: 1,
    keys: ['fp', 'protocol'],
    columns: [...SIX_COLUMNS, 'left to a person'],
    rows,
    notes: [
      ABOUT,
      `${runs} runs a row. ${BOTH.about} Retry budget ${RETRIES}. The sink takes each key once. This table is here because a lost response is the fault that isolation does not help against: locks and validation have no key to ask or to repeat with, so a retry books twice. A confirmation of TCC repeats its key. A step is wrong if it is booked twice.`,
      'After the last retry TCC and Locking tell an error and leave it open whether the booking stands. Tx-Full asks on, or leaves the booking to a person by name.',
    ],
  };
}

function callerOver(baseline: Baseline, tools: readonly Tool[]): Caller {
  return {
    step: async (_, { tool, input }) => {
      const before = baseline.retries;
      let answer: unknown;
      const told = (error: unknown) => ({
        error,
        retries: baseline.retries - before,
        waits: false,
      });
      try {
        await baseline.transact(claimsOf(toolNamed(tools, tool), input), [
          async (call) => {
            answer = await call(tool, input);
          },
        ]);
        return { ...told(undefined), answer };
      } catch (error) {
        return told(error);
      }
    },
    close: async () => {},
  };
}
