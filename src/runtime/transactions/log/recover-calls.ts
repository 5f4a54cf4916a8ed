import { type KnownTransaction, recorded, type Tool, type TransactionState, togetherBy } from '#effects';
import { type Called, isToldFirst, UNDER_WAY } from './call-record.ts';

/** A transaction whose process has ended, as it is gone on with. */
export interface AfterCrash {
  readonly state: TransactionState;
  readonly effects: Called[];
  /** Effects that may have been called, although the log does not say so. */
  readonly perhaps: Set<number>;
}

/** What the log does not say because it need not have been there before a call is taken for having happened. */
export function afterCrash(known: KnownTransaction, tools: ReadonlyMap<string, Tool>): AfterCrash {
  const together = togetherBy(known.effects.map(({ tool }) => tools.get(tool)?.spec));
  // What waits with another one that was refused was not called: whoever calls one of them calls them all.
  const waits = (n: number): boolean =>
    together?.(n).some((each) => known.state.effects[each]!.phase === 'unresolved') === true;
  const state = known.state.effects.reduce((all, _, n) => (waits(n) ? all : perhapsUndone(all, n)), known.state);
  const perhaps = known.state.effects.flatMap(({ phase, class: kind }, n) =>
    phase === 'due' && !isToldFirst(kind) && !waits(n) ? [n] : [],
  );
  const effects = known.effects.map((effect, n) => ({ ...effect, isOpen: UNDER_WAY.has(state.effects[n]!.phase) }));
  return { state, effects, perhaps: new Set(perhaps) };
}

/** What needs no record before it is undone may have been. */
function perhapsUndone(state: TransactionState, n: number): TransactionState {
  const { class: kind, phase, isDiscarded } = state.effects[n]!;
  if (isToldFirst(kind)) return state;
  const isUnwanted = state.phase === 'aborting' || state.phase === 'failing' || isDiscarded === true;
  return phase === 'executed' && isUnwanted ? recorded(state, { is: 'undoing', n }) : state;
}
