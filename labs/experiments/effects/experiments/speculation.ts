import type { Delivery } from 'assize/internal/effects';
import { type Cell, partOf, type Table, yieldToEventLoop } from '../../tables/index.ts';
import { Shelf } from '../environments/shelf.ts';
import type { Experiment, Running } from '../experiment.ts';
import { estimateOf } from '../interval.ts';
import { scaled } from '../measure.ts';
import { Metrics, sixTable } from '../metrics.ts';
import { MODES, type ModeName } from '../modes.ts';
import { numbersFrom } from '../seeded-random.ts';
import { conflicts } from './speculation-conflicts.ts';
import { leakedFiles } from './speculation-files.ts';
import {
  type Branch,
  GIVEN,
  isInPaper,
  placesOf,
  type Speculator,
  type SpeculatorOptions,
  speculatorIn,
  WRITES,
} from './speculators.ts';

export const speculation: Experiment = {
  name: 'speculation',
  about:
    'branches with one that is to stay: what others see of them, what they leave, where they meet (RQ2, table 3)',
  run: async (running) => [
    ...(await contamination(partOf(running, 0, 3))),
    ...(await leakedFiles(partOf(running, 1, 3))),
    ...(await conflicts(partOf(running, 2, 3))),
  ],
};

const RUNS = 200;
const BRANCHES = [2, 4, 8, 16];
export const STEPS = 5;
/** Runs with a visible write of an uncommitted branch, in per cent, in all settings (§6.3). */
const SEEN: Partial<Record<ModeName, number>> = {
  'Tx-Full': 0,
  CR: 100,
  'No-Frontier': 100,
  'No-Tx': 100,
};

/**
 * Whether a reader at every step of every branch sees uncommitted writes, and how many of the
 * writes stay.
 */
async function contamination(running: Running): Promise<Table[]> {
  const runs = scaled(RUNS, running);
  const settings = WRITES.flatMap((writes) => BRANCHES.map((branches) => ({ writes, branches })));
  const measured: Contaminated[][][] = [];
  let done = 0;
  for (const { writes, branches } of settings) {
    const row: Contaminated[][] = [];
    for (const mode of MODES) {
      const seen: Contaminated[] = [];
      for (let run = 0; run < runs; run++) {
        await yieldToEventLoop(running);
        const chance = numbersFrom('winner', running.seed, branches, run);
        seen.push(
          await contaminatedIn(
            (options) => speculatorIn(mode, options),
            writes.delivery,
            branches,
            chance,
          ),
        );
        running.progress(++done, runs * settings.length * MODES.length);
      }
      row.push(seen);
    }
    measured.push(row);
  }
  const tableOf = (
    title: string,
    isSo: (one: Contaminated) => boolean,
    paper: Partial<Record<ModeName, number>>,
  ): Table => ({
    source: 'RQ2',
    title,
    unit: '%',
    keys: ['writes', 'branches'],
    columns: MODES.map(({ name }) => name),
    rows: settings.map(({ writes, branches }, i) => ({
      keys: [writes.name, branches],
      cells: MODES.map((mode, m) =>
        shareOf(
          measured[i]![m]!.map((one) => (isSo(one) ? 100 : 0)),
          running,
          isInPaper(mode, writes.delivery) ? paper[mode.name] : undefined,
        ),
      ),
    })),
    notes: [
      `${runs} runs a cell, ${STEPS} writes a branch. Somebody looks at the whole store after each step of each branch. Buffered writes are held until the commit; those made directly are undone, put back or left.`,
      GIVEN,
    ],
  });
  return [
    tableOf('runs in which a branch that was not committed was seen', ({ seen }) => seen, SEEN),
    tableOf('runs after which something of a losing branch stood', ({ left }) => left, {}),
    tableOf('runs after which the winner stood, and nothing else', ({ right }) => right, {}),
    sixTable(
      {
        source: 'RQ2',
        title: 'of branches in one store',
        keys: ['writes', 'branches'],
        notes: [
          'A step is a write of the branch that is chosen. Nothing goes wrong with a call here, so no error is told.',
        ],
      },
      MODES,
      settings.map(({ writes, branches }, i) => ({
        keys: [writes.name, branches],
        measured: MODES.map((_, m) => metricsOf(measured[i]![m]!, running)),
      })),
    ),
  ];
}

export interface Contaminated {
  readonly seen: boolean;
  readonly left: boolean;
  readonly right: boolean;
  /** Writes of the winner that stand. */
  readonly own: number;
}

function metricsOf(all: readonly Contaminated[], { seed }: Running): Metrics {
  const metrics = new Metrics(seed);
  for (const { seen, right, own } of all)
    metrics.add({
      ...{
        steps: STEPS,
        success: true,
        faults: 0,
        retries: 0,
        recovered: 0,
        propagated: 0,
        waiting: 0,
      },
      judged: { correct: right, expected: STEPS, present: own, wrong: 0, contaminated: seen },
    });
  return metrics;
}

/** One run. `open`: how branches are tried. */
export async function contaminatedIn(
  open: (options: SpeculatorOptions) => Promise<Speculator>,
  delivery: Delivery,
  count: number,
  chance: () => number,
): Promise<Contaminated> {
  const shelf = new Shelf();
  const speculator = await open({
    tools: [shelf.tool(delivery)],
    writes: ['shelf:*'],
    world: shelf,
  });
  const winner = Math.floor(chance() * count);
  let seen = false;
  const branches = placesOf(count).map(
    (branch): Branch =>
      async (call) => {
        for (let step = 0; step < STEPS; step++) {
          await call('shelf.put', { place: `${branch}-${step}`, by: `branch ${branch}` });
          // Nothing is committed before one was chosen.
          if (!isChosen && shelf.look().size > 0) seen = true;
        }
      },
  );
  let isChosen = false;
  try {
    // Checkpoints do the winner again by itself. It is then the only one.
    await speculator.try(branches, (failed) => {
      isChosen = true;
      return failed.length === 1 ? 0 : winner;
    });
  } finally {
    await speculator.close();
  }
  const standing = [...shelf.look().values()];
  const own = standing.filter((by) => by === `branch ${winner}`).length;
  return {
    seen,
    left: own < standing.length,
    right: own === STEPS && standing.length === STEPS,
    own,
  };
}

export function shareOf(values: readonly number[], running: Running, paper?: Cell['paper']): Cell {
  const { mean, within } = estimateOf(values, running.seed);
  return { measured: mean, within, ...(paper === undefined ? {} : { paper }) };
}
