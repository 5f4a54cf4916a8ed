/** The derivations, in words. */
export const HOW: Readonly<Record<string, string>> = {
  belief: 'a fact rests on a statement',
  recall: 'the proposal observed a recall',
  state: 'it changes a written path',
  decision: 'it decides the proposal',
  outcome: 'it records the outcome of effects',
  delegation: 'a step of a delegation',
  branch: 'it begins with that state',
};
