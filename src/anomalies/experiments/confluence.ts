import { FOLDS, folded, orders } from 'assize/memory/experiments';
import { breath, type Table } from 'assize/tables';
import type { Experiment, Running } from '../experiment.ts';

const SIZES: readonly number[] = [2, 3, 4, 5, 6, 7, 8];
/** Between two breaths. */
const AT_ONCE = 100;

export const confluence: Experiment = {
  name: 'confluence',
  about: 'conflict sets of 2 to 8 facts in all 46,232 orders: one winner, one provenance (proposition 14)',
  run: async (running) => [await confluenceTable(running)],
};

/** What the orders of one size came to. */
interface Sums {
  readonly size: number;
  readonly orders: number;
  readonly winners: number;
  readonly provenances: number;
  readonly incomplete: number;
}

async function confluenceTable(running: Running): Promise<Table> {
  const cells = SIZES.flatMap((size) => FOLDS.map((strategy) => ({ size, strategy })));
  const all = cells.reduce((sum, { size }) => sum + countOf(size, running), 0);
  let done = 0;
  const sums: Sums[] = [];
  for (const { size, strategy } of cells) {
    const winners = new Set<string>();
    const provenances = new Set<string>();
    let incomplete = 0;
    for (const order of some(size, running)) {
      if (done % AT_ONCE === 0) await breath(running);
      const { winner, provenance, isComplete } = folded(strategy, order);
      winners.add(winner);
      provenances.add(provenance);
      if (!isComplete) incomplete += 1;
      running.progress(++done, all);
    }
    const { size: winning } = winners;
    sums.push({ size, orders: countOf(size, running), winners: winning, provenances: provenances.size, incomplete });
  }
  return {
    source: 'Proposition 14, E.7',
    title: 'a conflict set in different orders',
    keys: ['facts', 'operator', 'orders'],
    columns: ['winners', 'provenances', 'audit rows that do not dominate'],
    rows: sums.map(({ size, orders: count, winners, provenances, incomplete }, i) => ({
      keys: [size, cells[i]!.strategy, count],
      cells: [
        { measured: winners, expected: 1, paper: 1 },
        { measured: provenances, expected: 1, paper: 1 },
        { measured: incomplete, expected: 0, paper: 0 },
      ],
    })),
    notes: [
      'Each order is planned by the package’s own plan, in one commit. All members have their claim, another object, and a confidence; of eight, two are the surest. Dominating: each loser has an audit row, whose provenance each member’s precedes.',
    ],
  };
}

/** All orders, or as many of them as there are to be runs, evenly spread. */
function* some(size: number, running: Running): Generator<readonly number[]> {
  const step = factorial(size) / countOf(size, running);
  let next = 0;
  let nth = 0;
  for (const order of orders(size)) {
    if (nth++ !== Math.floor(next)) continue;
    yield order;
    next += step;
  }
}

function countOf(size: number, { runs }: Running): number {
  return Math.min(factorial(size), runs ?? Number.POSITIVE_INFINITY);
}

function factorial(n: number): number {
  return n <= 1 ? 1 : n * factorial(n - 1);
}
