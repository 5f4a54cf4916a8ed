import type { Transaction } from './effects-query.ts';
import { countFates, type Fate, isEnded, type Shape } from './fates.ts';

/** A resource with the transactions that claim it. */
export interface Lane {
  readonly scope: string;
  /** The lowest epoch that is open and claims exactly this scope. */
  readonly frontier: number | undefined;
  /** The outcome of the calls of each transaction, by epoch. */
  readonly fates: ReadonlyMap<number, Fate>;
}

export interface Lanes {
  /** The shown epochs, ascending. */
  readonly epochs: readonly number[];
  /** The resources of these epochs: busy ones first, then by their newest epoch. */
  readonly lanes: readonly Lane[];
}

/** From the fate that needs a person to the fate that needs nothing. */
const FIRST: readonly Shape[] = ['doubt', 'waiting', 'stands', 'undone', 'permanent', 'never'];
const NO_CALL: Fate = { shape: 'waiting', word: 'no call yet' };

/** The newest transactions by the resources that they claim. */
export function lanesOf(transactions: readonly Transaction[], epochsMax: number): Lanes {
  const newest = transactions.toSorted((a, b) => a.epoch - b.epoch).slice(-epochsMax);
  const lanes = new Map<
    string,
    { scope: string; frontier: number | undefined; fates: Map<number, Fate> }
  >();
  for (const transaction of newest) {
    const { epoch, claims } = transaction;
    for (const { scope } of claims) {
      const lane = lanes.get(scope) ?? { scope, frontier: undefined, fates: new Map() };
      if (!isEnded(transaction)) lane.frontier ??= epoch;
      lane.fates.set(epoch, mostUrgent(transaction));
      lanes.set(scope, lane);
    }
  }
  const newestOf = ({ fates }: Lane) => Math.max(...fates.keys());
  return {
    epochs: newest.map(({ epoch }) => epoch),
    lanes: [...lanes.values()].sort(
      (a, b) =>
        Number(b.frontier !== undefined) - Number(a.frontier !== undefined) ||
        newestOf(b) - newestOf(a) ||
        (a.scope < b.scope ? -1 : 1),
    ),
  };
}

function mostUrgent(transaction: Transaction): Fate {
  const fates = countFates(transaction).toSorted(
    (a, b) => FIRST.indexOf(a.shape) - FIRST.indexOf(b.shape),
  );
  return fates[0] ?? NO_CALL;
}
