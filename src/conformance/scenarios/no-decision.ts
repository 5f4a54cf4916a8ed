import { decidingNothing } from './deciding-nothing.ts';
import { PERSON, type Scenario } from './scenario.ts';

export const noDecision: Scenario = {
  name: 'no-decision',
  title: 'an answer has no decision: null, empty or missing',
  passes: 'the call is not made',
  why: 'A form without a choice, and a field that is lost on its way, are no approval.',
  needs: [],
  run: decidingNothing([null, { decision: null, person: PERSON }, { person: PERSON }, undefined]),
};
