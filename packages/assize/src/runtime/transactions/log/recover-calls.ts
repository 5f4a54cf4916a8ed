import {
  batchesOf,
  type KnownTransaction,
  recorded,
  type Tool,
  type TransactionState,
} from '#effects';
import { type CallRecord, IN_FLIGHT, isLoggedFirst } from './call-record.ts';

/** A transaction of an ended process, in the state from which recovery continues. */
export interface AfterCrash {
  readonly state: TransactionState;
  readonly effects: CallRecord[];
  /** Effects that may have been called although the log has no record of it. */
  readonly perhaps: Set<number>;
}

/** A call that needs no record beforehand counts as executed. */
export function afterCrash(known: KnownTransaction, tools: ReadonlyMap<string, Tool>): AfterCrash {
  const together = batchesOf(known.effects.map(({ tool }) => tools.get(tool)?.spec));
  // A call in a batch with a refused call was not made, because the calls of a batch are made
  // together.
  const waits = (n: number): boolean =>
    together?.(n).some((each) => known.state.effects[each]!.phase === 'unresolved') === true;
  const state = known.state.effects.reduce(
    (all, _, n) => (waits(n) ? all : perhapsUndone(all, n)),
    known.state,
  );
  // A copy of this store may have made a call at a queryable sink. The sink can tell.
  const perhaps = known.state.effects.flatMap(({ phase, class: kind }, n) =>
    phase === 'due' && (kind.sink === 'queryable' || !isLoggedFirst(kind)) && !waits(n) ? [n] : [],
  );
  const effects = known.effects.map((effect, n) => ({
    ...effect,
    isOpen: IN_FLIGHT.has(state.effects[n]!.phase),
  }));
  return { state, effects, perhaps: new Set(perhaps) };
}

/** A compensation that needs no record beforehand may have run. */
function perhapsUndone(state: TransactionState, n: number): TransactionState {
  const { class: kind, phase, isDiscarded } = state.effects[n]!;
  if (isLoggedFirst(kind)) return state;
  const isUnwanted =
    state.phase === 'aborting' || state.phase === 'failing' || isDiscarded === true;
  return phase === 'executed' && isUnwanted ? recorded(state, { is: 'undoing', n }) : state;
}
