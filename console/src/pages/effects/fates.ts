import type { Effect, Transaction } from './effects-query.ts';

/** The shapes that distinguish fates without colour. */
export type Shape = 'permanent' | 'undone' | 'doubt' | 'waiting' | 'never' | 'stands';

/** How far a call has come outside the ledger. */
export interface Fate {
  readonly shape: Shape;
  readonly word: string;
}

const ENDED: ReadonlySet<string> = new Set(['settled', 'aborted']);

export function isEnded({ phase }: Pick<Transaction, 'phase'>): boolean {
  return ENDED.has(phase);
}

const UNDER_WAY: Readonly<Record<string, Fate>> = {
  intended: { shape: 'waiting', word: 'being called' },
  executed: { shape: 'stands', word: 'executed, can be undone' },
  due: { shape: 'waiting', word: 'waits for its call' },
  applying: { shape: 'waiting', word: 'being called' },
  undoing: { shape: 'waiting', word: 'being compensated' },
  dropped: { shape: 'never', word: 'never happened' },
  accepted: { shape: 'stands', word: 'left as it is' },
  in_doubt: { shape: 'doubt', word: 'in doubt' },
  unresolved: { shape: 'doubt', word: 'failed, needs a decision' },
};

/** An applied effect is permanent if no compensation exists, or none can come any more. */
export function fateOf(effect: Effect, transaction: Pick<Transaction, 'phase'>): Fate {
  if (effect.phase === 'applied')
    return effect.class.reversibility === 'irreversible' || isEnded(transaction)
      ? { shape: 'permanent', word: 'permanent' }
      : { shape: 'stands', word: 'applied, can be undone' };
  if (effect.phase === 'undone' && effect.resolved?.as === 'undone')
    return { shape: 'undone', word: 'undone, as a person found' };
  if (effect.phase === 'undone')
    return {
      shape: 'undone',
      word: effect.residue === undefined ? 'compensated' : 'compensated in part',
    };
  return UNDER_WAY[effect.phase] ?? { shape: 'waiting', word: effect.phase };
}

/** The state of a transaction in words. */
export function stateOf(transaction: Transaction): string {
  const { phase, cause, effects } = transaction;
  if (effects.some((effect) => effect.needs_human)) return 'Needs a decision';
  const isRolledBack = transaction['failing'] !== undefined;
  if (phase === 'aborted') return cause === undefined ? 'Aborted' : `Aborted: ${cause}`;
  if (phase === 'settled') return isRolledBack ? 'Rolled back' : 'Settled';
  if (phase === 'committed') return 'Committed, calls run';
  if (phase === 'failing') return 'Being rolled back';
  return phase === 'aborting' ? 'Being aborted' : 'Open';
}

/** The fates of the calls with their numbers, in the order of the calls. */
export function countFates(
  transaction: Transaction,
): readonly (Fate & { readonly count: number })[] {
  const counts = new Map<string, Fate & { count: number }>();
  for (const effect of transaction.effects) {
    const fate = fateOf(effect, transaction);
    const known = counts.get(fate.word);
    if (known === undefined) counts.set(fate.word, { ...fate, count: 1 });
    else known.count++;
  }
  return [...counts.values()];
}

const CLASS_WORDS: Readonly<Record<string, string>> = {
  buffered: 'called after the commit',
  externalised: 'called before the commit',
  reversible: 'can be compensated',
  with_cost: 'can be compensated at a cost',
  irreversible: 'cannot be compensated',
  keyed: 'a repeated call happens once',
  queryable: 'the tool can be asked whether it happened',
  blind: 'an unanswered call stays unknown',
};

/** The meaning of a word of an effect's class. */
export function classWord(word: string): string {
  return CLASS_WORDS[word] ?? word;
}
