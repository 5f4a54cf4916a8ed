import { decidingNothing } from './deciding-nothing.ts';
import type { Scenario } from './scenario.ts';

const decision = 'approve';

export const noPerson: Scenario = {
  name: 'no-person',
  title: 'an approval names no person: null, empty, missing or another type',
  passes: 'the call is not made',
  why: 'A session that has run out, and a program that answers for its user, are no person.',
  needs: ['person'],
  run: decidingNothing([{ decision }, { decision, person: null }, { decision, person: '' }, { decision, person: {} }]),
};
