import { type Table, yieldToEventLoop } from '../../tables/index.ts';
import type { Experiment, Running } from '../experiment.ts';
import { FOLDS, type Folded, folded, foldedInTurn, orders } from '../schedules/index.ts';

const SIZES: readonly number[] = [2, 3, 4, 5, 6, 7, 8];
/** Between two breaths. */
const AT_ONCE = 100;

export const confluence: Experiment = {
  name: 'confluence',
  about:
    'conflict sets of 2 to 8 facts in all 46,232 orders: one winner, one provenance (proposition 14)',
  uses: ['runs'],
  run: async (running) => [await confluenceTable(running)],
};

/** How a set of facts meets: all together, or one commit after the other. */
interface Meeting {
  readonly operator: string;
  readonly sizes: readonly number[];
  readonly fold: (order: readonly number[]) => Folded;
}

const MEETINGS: readonly Meeting[] = [
  ...FOLDS.map((strategy) => ({
    operator: strategy,
    sizes: SIZES,
    fold: (order: readonly number[]) => folded(strategy, order),
  })),
  // As many plans an order as there are facts.
  { operator: 'evi, in turn', sizes: SIZES.filter((size) => size <= 6), fold: foldedInTurn },
];

/** The results of the orders of one size. */
interface Sums {
  readonly winners: number;
  readonly provenances: number;
  readonly incomplete: number;
}

async function confluenceTable(running: Running): Promise<Table> {
  const cells = SIZES.flatMap((size) =>
    MEETINGS.filter(({ sizes }) => sizes.includes(size)).map((meeting) => ({ size, meeting })),
  );
  const all = cells.reduce((sum, { size }) => sum + countOf(size, running), 0);
  let done = 0;
  const sums: Sums[] = [];
  for (const { size, meeting } of cells) {
    const made: Folded[] = [];
    for (const order of some(size, running)) {
      if (done % AT_ONCE === 0) await yieldToEventLoop(running);
      made.push(meeting.fold(order));
      running.progress(++done, all);
    }
    sums.push({
      winners: new Set(made.map(({ winner }) => winner)).size,
      provenances: new Set(made.map(({ provenance }) => provenance)).size,
      incomplete: made.filter(({ isComplete }) => !isComplete).length,
    });
  }
  return {
    source: 'Proposition 14, E.7',
    title: 'a conflict set in different orders',
    keys: ['facts', 'operator', 'orders'],
    columns: ['winners', 'provenances', 'orders in which a loser is not dominated'],
    rows: sums.map(({ winners, provenances, incomplete }, i) => ({
      keys: [cells[i]!.size, cells[i]!.meeting.operator, countOf(cells[i]!.size, running)],
      cells: [
        { measured: winners, expected: 1 },
        { measured: provenances, expected: 1 },
        { measured: incomplete, expected: 0 },
      ],
    })),
    notes: [
      'Each order is planned by the package’s own plan. All members have their claim, another object, and a confidence. In one commit two of them are the surest, and the claim decides; in turn, one commit after the other, no two are, since between those the order of commits decides. That is as many plans an order as there are facts, and so it is done for up to six. Dominated: each loser has an audit row, whose provenance its own precedes; in one commit that of each member does. What the paper says of its own orders (E.7) is the same, in words.',
    ],
    plot: { sort: 'bar', x: 'facts', y: 'of all orders', keys: ['operator'] },
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
