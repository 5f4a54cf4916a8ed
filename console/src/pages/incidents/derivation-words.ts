import type { AffectedEntry } from './incidents-query.ts';

export type Derivation = AffectedEntry['from'][number]['how'];

/** The derivations, in words. */
export const DERIVATION_WORDS: Readonly<Record<Derivation, string>> = {
  belief: 'a fact rests on a statement',
  recall: 'the proposal observed a recall',
  state: 'it changes a written path',
  decision: 'it decides the proposal',
  outcome: 'it records the outcome of effects',
  delegation: 'a step of a delegation',
  permission: 'rules, a tool definition or a standing approval judged the call',
  branch: 'it begins with that state',
};
