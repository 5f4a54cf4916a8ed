import { expected, pay, type Scenario } from './scenario.ts';
import { approveTampered } from './tampered.ts';

export const tamperedArguments: Scenario = {
  name: 'tampered-arguments',
  title: 'the stored arguments are changed before the approval',
  passes: 'nothing but the call that was shown is made',
  why: 'Stored state is in reach of more people and programs than may approve a payment.',
  needs: ['restart', 'tamper'],
  async run(stage) {
    const call = pay('p1', 'bob', 500);
    await approveTampered(stage, call, pay('p1', 'mallory', 99_900));
    return [expected('at-most-once', call)];
  },
};
