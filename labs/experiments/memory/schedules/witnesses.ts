import type { Anomaly } from '../isolation/index.ts';
import { type Belief, find, isDrifted, type Visible } from './detect.ts';
import type { Execution } from './execute.ts';
import { type Schedule, schedule, type Value } from './schedule.ts';

/** A schedule that is there to show an anomaly, and how to see whether it does. */
export interface Witness {
  readonly schedule: Schedule;
  readonly initial?: ReadonlyMap<string, number>;
  /**
   * Whether the anomaly occurs between the witness's own transactions, independently of other
   * transactions.
   */
  shows(execution: Execution): boolean;
}

const BELIEF: Belief = { cache: 'belief', rows: ['x', 'y'] };

/** The first row is believed, with .9 to .5. */
const INITIAL: ReadonlyMap<string, number> = new Map([
  ['belief', 0],
  ['x', 0.9],
  ['y', 0.5],
]);

/**
 * One witness for each anomaly that a level excludes (Appendix B.5.1), as executed for the matrix.
 */
export const WITNESSES: Readonly<Record<Anomaly, Witness>> = {
  P0: seen('P0', 'w1[x] w2[x] c2 c1'),
  P1: seen('P1', 'w1[x] r2[x] a1 c2'),
  P2: seen('P2', 'r1[x] w2[x] c2 r1[x] c1'),
  P3: seen('P3', 'r1[policy:*] w2[policy:new] c2 r1[policy:*] c1'),
  P4: seen('P4', 'r1[x] w2[x] w1[x] c2 c1'),
  // As printed, both rows are read before either is written.
  A5A: seen('A5A', 'r1[x] w2[x] w2[y] c2 r1[y] c1'),
  A5B: seen('A5B', 'r1[x] r2[y] w1[y] w2[x] c1 c2'),
  // Printed as j1 w2[judge_log] c2 j1 c1. The write is that of the second transaction's own
  // judgement.
  N1: seen('N1', 'j1(R,θ) j2(R,θ) c2 j1(R,θ) c1'),
  // As printed, one revision breaks the invariant alone, and no level can help.
  N2: revisions(),
};

/**
 * Schedules in addition to the witnesses, as the paper prints them, or as it measures them in other
 * sections.
 */
export const EXTRA_SCHEDULES = {
  'A5A as printed, the last read being of a third row': seen(
    'A5A',
    'r1[x] r1[y] w2[x] w2[y] c2 r1[z] c1',
  ),
  'A5A as printed, the last read being of the second row': seen(
    'A5A',
    'r1[x] r1[y] w2[x] w2[y] c2 r1[y] c1',
  ),
  'P3 as measured: two that scan and insert (E.6)': seen(
    'P3',
    'r1[policy:*] r2[policy:*] w1[policy:a] w2[policy:b] c1 c2',
  ),
  'P3 by the second look (A3)': seen('A3', 'r1[policy:*] w2[policy:new] c2 r1[policy:*] c1'),
  'N1 without a key (B.2.1)': seen('N1', 'j1(R) j2(R) c1 c2'),
  'N2 as printed': asPrinted(),
} as const satisfies Readonly<Record<string, Witness>>;

function seen(anomaly: Visible, text: string): Witness {
  return {
    schedule: schedule(text),
    shows: (execution) =>
      find(anomaly, execution).some(({ txs }) => txs.every((tx) => tx <= WITNESS_TXS)),
  };
}

/** Transactions of a witness have these numbers; others stand above. */
export const WITNESS_TXS = 2;

/** Two revisions of two rows. Each keeps the invariant if it is alone. */
function revisions(): Witness {
  return drifting([
    ...schedule('r1[x] r1[y] r2[x] r2[y]'),
    { tx: 1, kind: 'write', item: 'x', value: 0.7 },
    { tx: 2, kind: 'write', item: 'y', value: 0.8 },
    ...schedule('c1 c2'),
  ]);
}

/**
 * Corollary 5 as printed: a query fills the cache from its reads, and a revision reverses the
 * order.
 */
function asPrinted(): Witness {
  const believed: Value = (rows) => (rows.get('x')! >= rows.get('y')! ? 0 : 1);
  return drifting([
    ...schedule('r1[x] r1[y] r2[x] r2[y]'),
    { tx: 1, kind: 'write', item: 'belief', value: believed },
    { tx: 2, kind: 'write', item: 'y', value: 0.95 },
    ...schedule('c1 c2'),
  ]);
}

function drifting(steps: Schedule): Witness {
  return { schedule: steps, initial: INITIAL, shows: ({ values }) => isDrifted(BELIEF, values) };
}
