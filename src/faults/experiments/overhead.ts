import { Coordinator, type Delivery, declareTool, readClaim, type Tool } from 'assize/effects';
import { breath, type Cell, type Table } from 'assize/tables';
import { z } from 'zod';
import { callingAtOnce } from '../callers.ts';
import type { Experiment, Running } from '../experiment.ts';
import { quantile } from '../interval.ts';
import { scaled } from '../measure.ts';
import { type ModeName, modeOf } from '../modes.ts';
import { openStage } from '../stage.ts';

const RUNS = 1_000;
/** Before anything is measured, so that what is measured is compiled. */
const WARM_UP = 1_000;
/** Between two breaths. */
const AT_ONCE = 50;

/** A.10, in microseconds. */
const PAPER: Partial<Record<ModeName, number>> = { 'Tx-Full': 7.7, 'No-Tx': 0.8 };
const DELIVERIES: readonly { delivery: Delivery; says: string }[] = [
  { delivery: 'buffered', says: 'held until the commit' },
  { delivery: 'externalised', says: 'at once' },
];
const TRANSACTIONAL: readonly ModeName[] = ['Tx-Full', 'No-Frontier'];

/** One step; settles when it is done. */
type Step = () => Promise<unknown>;

export const overhead: Experiment = {
  name: 'overhead',
  about: 'what a step costs without faults, in each mode (A.10)',
  isTimed: true,
  run: async (running) => [await tableOf(running)],
};

async function tableOf(running: Running): Promise<Table> {
  const parts = DELIVERIES.length * (TRANSACTIONAL.length + 2);
  let done = 0;
  const cell = async (step: Step, mode?: ModeName): Promise<Cell> => {
    const measured = await microsOf(step, running);
    running.progress(++done, parts);
    const paper = mode && PAPER[mode];
    return { measured, ...(paper === undefined ? {} : { paper }) };
  };
  const rows: Table['rows'][number][] = [];
  for (const { delivery, says } of DELIVERIES) {
    const cells: Cell[] = [];
    for (const mode of TRANSACTIONAL) cells.push(await inMode(mode, delivery, (step) => cell(step, mode)));
    cells.push(await cell(coordinated()));
    const call = callingAtOnce([nothing(delivery)]);
    cells.push(await cell(() => call({ tool: 'nothing.do', input: { n: 0 } }), 'No-Tx'));
    rows.push({ keys: [says], cells });
  }
  return {
    source: 'A.10',
    title: 'a step without faults',
    unit: 'µs',
    keys: ['the tool acts'],
    columns: [...TRANSACTIONAL, 'coordination alone', 'No-Tx'],
    rows,
    notes: [
      `The median of ${scaled(RUNS, running)} steps, in memory, of a tool that does nothing. A step of a transaction is also a ruling, an entry of the ledger and one of the effect log, which the paper’s is not; what the paper’s does is rather “coordination alone”. Time is of this machine.`,
    ],
  };
}

async function inMode<T>(mode: ModeName, delivery: Delivery, use: (step: Step) => Promise<T>): Promise<T> {
  const stage = await openStage({ mode: modeOf(mode), tools: [nothing(delivery)] });
  let n = 0;
  try {
    return await use(() => {
      const input = { n: n++ };
      return stage.transact({ writes: [`nothing:${input.n}`] }, (tx) => tx.call('nothing.do', input));
    });
  } finally {
    await stage.close();
  }
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
    if (run % AT_ONCE === 0) await breath(running);
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
