import { expected, pay, refund, type Scenario } from './scenario.ts';
import { approveTampered } from './tampered.ts';

export const otherTool: Scenario = {
  name: 'other-tool',
  title: 'the stored tool is changed before the approval, with the same arguments',
  passes: 'nothing but the call that was shown is made',
  why: 'An approval names a tool too. The same arguments mean another thing to another one.',
  needs: ['restart', 'tamper'],
  async run(stage) {
    const call = pay('p1', 'bob', 500);
    await approveTampered(stage, call, refund('p1', 'bob', 500));
    return [expected('at-most-once', call)];
  },
};
