import { declareTool, type Tool } from 'assize/internal/effects';
import { z } from 'zod';
import { type Table, yieldToEventLoop } from '../../tables/index.ts';
import type { Experiment, Running } from '../experiment.ts';
import { quantile } from '../interval.ts';
import { scaled } from '../measure.ts';
import { modeOf } from '../modes.ts';
import { openStage, type Stage } from '../stage.ts';

const RUNS = 200;
/** Runs before the measurement, so the measured code is compiled. */
const WARM_UP = 100;

/** Table 6, in microseconds. */
const ROWS: readonly {
  branches: number;
  setup: number;
  commit: number;
  total: number;
  p99: number;
}[] = [
  { branches: 2, setup: 13, commit: 85, total: 97, p99: 295 },
  { branches: 4, setup: 23, commit: 142, total: 165, p99: 273 },
  { branches: 8, setup: 44, commit: 321, total: 365, p99: 1339 },
  { branches: 16, setup: 86, commit: 939, total: 1025, p99: 23198 },
];

/** The times of one run, in microseconds. */
interface Took {
  readonly setup: number;
  readonly commit: number;
}

export const branches: Experiment = {
  name: 'branches',
  about: 'how long it takes to commit one of 2 to 16 speculative branches (table 6)',
  isTimed: true,
  run: async (running) => [await tableOf(running)],
};

async function tableOf(running: Running): Promise<Table> {
  const runs = scaled(RUNS, running);
  const took = await inTurns(running, runs);
  const rows = ROWS.map(({ branches, ...paper }, i) => {
    const sorted = (of: (one: Took) => number): number[] => took[i]!.map(of).sort((a, b) => a - b);
    const total = sorted(({ setup, commit }) => setup + commit);
    const setup = sorted((one) => one.setup);
    const commit = sorted((one) => one.commit);
    return {
      keys: [branches],
      cells: [
        { measured: quantile(setup, 0.5), paper: paper.setup },
        { measured: quantile(commit, 0.5), paper: paper.commit },
        { measured: quantile(total, 0.5), paper: paper.total },
        { measured: quantile(total, 0.99), paper: paper.p99 },
      ],
    };
  });
  return {
    source: 'Table 6',
    title: 'from the first branch to the commit of the winner',
    unit: 'µs',
    keys: ['branches'],
    columns: ['setup, p50', 'commit, p50', 'total, p50', 'total, p99'],
    rows,
    notes: [
      `${runs} runs each, in memory, one held call a branch. The commit is a ruling, an entry of the ledger and one of the effect log, and the effect itself. The paper’s are means, but for the last. Time is of this machine.`,
    ],
    plot: { sort: 'line', x: 'branches', y: 'time', log: true },
  };
}

/**
 * The times by row. The rows are measured in turns, so other load on the machine affects all of
 * them.
 */
async function inTurns(running: Running, runs: number): Promise<Took[][]> {
  const took: Took[][] = ROWS.map(() => []);
  for (let run = -WARM_UP; run < runs; run++) {
    for (const [i, { branches }] of ROWS.entries()) {
      await yieldToEventLoop(running);
      const one = await timed(branches);
      if (run >= 0) took[i]!.push(one);
    }
    running.progress(run + WARM_UP + 1, WARM_UP + runs);
  }
  return took;
}

/** Each run has its own runtime, so earlier runs do not slow it. */
async function timed(branches: number): Promise<Took> {
  const kept = new Set<string>();
  const stage = await openStage({ mode: modeOf('Tx-Full'), tools: [keep(kept)] });
  try {
    const took = await speculated(stage, branches);
    if (kept.size !== 2)
      throw new Error(`The winner alone was to act, and there are ${[...kept].join(', ')}.`);
    return took;
  } finally {
    await stage.close();
  }
}

async function speculated(stage: Stage, branches: number): Promise<Took> {
  // The first takes the tenure of the effects. That is not a part of it.
  await stage.transact({ writes: ['store:*'] }, (tx) => tx.call('store.keep', { what: 'begun' }));
  const plans = Array.from({ length: branches }, (_, i) => `plan ${i}`);
  const winner = branches - 1;
  let [begun, chosen] = [0, 0];
  await stage.transact({ writes: ['store:*'] }, (tx) => {
    begun = performance.now();
    return tx.speculate(
      plans.map((what) => (branch) => branch.call('store.keep', { what })),
      () => {
        chosen = performance.now();
        return winner;
      },
    );
  });
  return { setup: 1_000 * (chosen - begun), commit: 1_000 * (performance.now() - chosen) };
}

function keep(kept: Set<string>): Tool {
  return declareTool({
    name: 'store.keep',
    input: z.strictObject({ what: z.string() }),
    class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
    writes: ['store:plan'],
    execute: ({ what }) => {
      kept.add(what);
      return null;
    },
    compensate: ({ what }) => {
      kept.delete(what);
      return { undone: 'all' };
    },
  });
}
