import { decidingNothing } from './deciding-nothing.ts';
import { PERSON, type Scenario } from './scenario.ts';

/** None of them is a decision in the words of any framework. */
const DECISIONS = ['perhaps', 1, ['approve'], {}] as const;

export const unusableAnswer: Scenario = {
  name: 'unusable-answer',
  title: 'an answer is no decision: an unknown word, or another type',
  passes: 'the call is not made',
  why: 'A value that is not empty is no approval.',
  needs: [],
  run: decidingNothing(DECISIONS.map((decision) => ({ decision, person: PERSON }))),
};
