import {
  Coordinator,
  type Delivery,
  declareTool,
  readClaim,
  type Tool,
} from 'assize/internal/effects';
import { z } from 'zod';
import { type Cell, type Table, yieldToEventLoop } from '../../tables/index.ts';
import { directCaller } from '../callers.ts';
import { Cells } from '../environments/cells.ts';
import type { Experiment, Running } from '../experiment.ts';
import { quantile } from '../interval.ts';
import { scaled } from '../measure.ts';
import { MODES, type Mode, type ModeName } from '../modes.ts';
import { openStage } from '../stage.ts';

const RUNS = 1_000;
/** Runs before the measurement, so the measured code is compiled. */
const WARM_UP = 1_000;
/** Between two breaths. */
const AT_ONCE = 50;

/** A.10, in microseconds. */
const PAPER: Partial<Record<ModeName, number>> = { 'Tx-Full': 7.7, 'No-Tx': 0.8 };
const DELIVERIES: readonly { delivery: Delivery; says: string }[] = [
  { delivery: 'buffered', says: 'held until the commit' },
  { delivery: 'externalised', says: 'direct' },
];
/** Numbers that a checkpoint has: as many as the tasks of A.6 write. */
const CHECKPOINTED = 10;

/** One step; settles when it is done. */
type Step = () => Promise<unknown>;

export const overhead: Experiment = {
  name: 'overhead',
  about: 'what a step costs without faults, in each mode (A.10)',
  isTimed: true,
  uses: ['scale'],
  run: async (running) => [await tableOf(running)],
};

async function tableOf(running: Running): Promise<Table> {
  const parts = DELIVERIES.length * (MODES.length + 1);
  let done = 0;
  const cell = async (step: Step, paper?: number): Promise<Cell> => {
    const measured = await microsOf(step, running);
    running.progress(++done, parts);
    return { measured, ...(paper === undefined ? {} : { paper }) };
  };
  const rows: Table['rows'][number][] = [];
  for (const { delivery, says } of DELIVERIES) {
    const cells: Cell[] = [];
    for (const mode of MODES)
      cells.push(await inMode(mode, delivery, (step) => cell(step, PAPER[mode.name])));
    cells.push(await cell(coordinated()));
    rows.push({ keys: [says], cells });
  }
  return {
    source: 'A.10',
    title: 'a step without faults',
    unit: 'µs',
    keys: ['the tool acts'],
    columns: [...MODES.map(({ name }) => name), 'coordination alone'],
    rows,
    notes: [
      `The median of ${scaled(RUNS, running)} steps, in memory, of a tool that does nothing. A step of a transaction is also a ruling, an entry of the ledger and one of the effect log, which the paper’s is not; what the paper’s does is rather “coordination alone”. A checkpoint is of ${CHECKPOINTED} numbers. Time is of this machine.`,
      'Nothing fails here and nobody else is at work, so that of the six metrics each mode has the best: they say nothing of what a step costs.',
    ],
    plot: { sort: 'bar', x: 'the tool acts', y: 'a step', log: true },
  };
}

async function inMode<T>(
  mode: Mode,
  delivery: Delivery,
  use: (step: Step) => Promise<T>,
): Promise<T> {
  if (!mode.transactional)
    return use(mode.checkpoint ? await checkpointed(delivery) : direct(delivery));
  const stage = await openStage({ mode, tools: [nothing(delivery)] });
  let n = 0;
  try {
    return await use(() => {
      const input = { n: n++ };
      return stage.transact({ writes: [`nothing:${input.n}`] }, (tx) =>
        tx.call('nothing.do', input),
      );
    });
  } finally {
    await stage.close();
  }
}

function direct(delivery: Delivery): Step {
  const call = directCaller([nothing(delivery)]);
  return () => call({ tool: 'nothing.do', input: { n: 0 } });
}

/** With a copy of the state before each call. */
async function checkpointed(delivery: Delivery): Promise<Step> {
  const cells = new Cells();
  const call = directCaller(cells.tools);
  for (let value = 0; value < CHECKPOINTED; value++)
    await call({ tool: 'cells.set', input: { name: `${value}`, value } });
  const step = direct(delivery);
  return () => {
    cells.snapshot();
    return step();
  };
}

/** Epoch, claims, gate and end, in memory. */
function coordinated(): Step {
  const coordinator = new Coordinator();
  let n = 0;
  return async () => {
    const work = coordinator.begin([readClaim('write', `nothing:${n++}`)]);
    await coordinator.whenClear(work);
    coordinator.end(work);
  };
}

async function microsOf(step: Step, running: Running): Promise<number> {
  const runs = scaled(RUNS, running);
  const micros: number[] = [];
  for (let run = -WARM_UP; run < runs; run++) {
    if (run % AT_ONCE === 0) await yieldToEventLoop(running);
    const begun = performance.now();
    await step();
    if (run >= 0) micros.push(1_000 * (performance.now() - begun));
  }
  return quantile(
    micros.sort((a, b) => a - b),
    0.5,
  );
}

function nothing(delivery: Delivery): Tool {
  return declareTool({
    name: 'nothing.do',
    input: z.strictObject({ n: z.number() }),
    class: { reversibility: 'reversible', delivery, sink: 'keyed' },
    writes: ['nothing:{n}'],
    execute: () => null,
    compensate: () => ({ undone: 'all' }),
  });
}
