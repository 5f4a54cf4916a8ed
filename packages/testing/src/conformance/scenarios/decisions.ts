import { setTimeout as pause } from 'node:timers/promises';
import type { PersonAnswer } from '../protocol/messages.ts';
import { assertDone, assertPaused, type Stage } from '../stage.ts';
import {
  approve,
  assertUnmade,
  expected,
  PERSON,
  pay,
  RUN,
  reject,
  type Scenario,
} from './scenario.ts';

/** Gives each answer to a run of its own. An absent one is left out. None may have an effect. */
function decidingNothing(answers: readonly (PersonAnswer | undefined)[]): Scenario['run'] {
  return async (stage: Stage) => {
    const call = pay('p1', 'bob', 500);
    const runs = answers.map((answer, i) => ({ run: `run-${i + 1}`, answer }));
    let driver = await stage.open();
    for (const { run, answer } of runs) {
      assertPaused(await driver.start(run, [call]), [call]);
      const end = await driver.resume(run, answer === undefined ? {} : { [call.id]: answer });
      if (end.state === 'ended') driver = await stage.open();
    }
    return runs.map(({ run }) => expected('never', call, run));
  };
}

export const approvedOnce: Scenario = {
  name: 'approved-once',
  title: 'a call is approved',
  passes: 'it is made once, after its approval, and the run ends',
  why: 'A runtime that makes nothing would pass every other scenario.',
  needs: [],
  async run(stage) {
    const call = pay('p1', 'bob', 500);
    const driver = await stage.open();
    assertPaused(await driver.start(RUN, [call]), [call]);
    await assertUnmade(stage, call);
    assertDone(await driver.resume(RUN, approve(call)));
    return [expected('once', call)];
  },
};

export const doubleResume: Scenario = {
  name: 'double-resume',
  title: 'the same approval is sent twice',
  passes: 'the call is made once',
  why: 'Browsers, queues and webhooks send a request again, also to another process.',
  needs: ['restart'],
  async run(stage) {
    const call = pay('p1', 'bob', 500);
    const first = await stage.open();
    assertPaused(await first.start(RUN, [call]), [call]);
    await first.resume(RUN, approve(call));
    await first.resume(RUN, approve(call));
    await first.kill();
    const second = await stage.open();
    await second.resume(RUN, approve(call));
    return [expected('once', call)];
  },
};

export const oneOfTwo: Scenario = {
  name: 'one-of-two',
  title: 'two calls wait, and one of them is approved',
  passes: 'the other one is not made',
  why: 'An approval without a name of its call is taken for both, or for the first.',
  needs: ['siblings', 'together'],
  async run(stage) {
    const [other, approved] = [pay('p1', 'mallory', 99_900), pay('p2', 'bob', 500)];
    const driver = await stage.open();
    assertPaused(await driver.start(RUN, [other, approved]), [other, approved]);
    await driver.resume(RUN, approve(approved));
    return [expected('never', other), expected('at-most-once', approved)];
  },
};

/** Each round is another run, as a race has other ends. */
const ROUNDS = ['run-1', 'run-2', 'run-3'];
const SLOW_MS = 150;

export const concurrentApprovals: Scenario = {
  name: 'concurrent-approvals',
  title: 'two processes get the approval concurrently',
  passes: 'the call is made once',
  why: 'Servers have several instances, and two people press the same button.',
  needs: ['restart'],
  async run(stage) {
    const call = pay('p1', 'bob', 500);
    const drivers = [await stage.open(), await stage.open()] as const;
    for (const run of ROUNDS) {
      assertPaused(await drivers[0].start(run, [call]), [call]);
      await stage.sink.behave(call.id, { does: 'late', ms: SLOW_MS });
      await Promise.all(drivers.map((driver) => driver.resume(run, approve(call))));
    }
    return ROUNDS.map((run) => expected('once', call, run));
  },
};

export const deniedThenApproved: Scenario = {
  name: 'denied-then-approved',
  title: 'a call is denied, and approved afterwards',
  passes: 'it is not made',
  why: 'A denial is a decision. An approval that comes after it is about a call that is over.',
  needs: ['restart'],
  async run(stage) {
    const call = pay('p1', 'bob', 500);
    const first = await stage.open();
    assertPaused(await first.start(RUN, [call]), [call]);
    await first.resume(RUN, reject(call));
    await first.resume(RUN, approve(call));
    await first.kill();
    const second = await stage.open();
    await second.resume(RUN, approve(call));
    return [expected('never', call)];
  },
};

export const noDecision: Scenario = {
  name: 'no-decision',
  title: 'an answer has no decision: null, empty or missing',
  passes: 'the call is not made',
  why: 'A form without a choice, and a field that is lost on its way, are not approvals.',
  needs: [],
  run: decidingNothing([null, { decision: null, person: PERSON }, { person: PERSON }, undefined]),
};

/** None of them is a decision in the words of any framework. */
const DECISIONS = ['perhaps', 1, ['approve'], {}] as const;

export const unusableAnswer: Scenario = {
  name: 'unusable-answer',
  title: 'an unknown word or another type is not taken for a decision',
  passes: 'the call is not made',
  why: 'A value that is not empty is not therefore an approval.',
  needs: [],
  run: decidingNothing(DECISIONS.map((decision) => ({ decision, person: PERSON }))),
};

const decision = 'approve';

export const noPerson: Scenario = {
  name: 'no-person',
  title: 'an approval names no person: null, empty, missing or another type',
  passes: 'the call is not made',
  why: 'An expired session, and a program that answers for its user, are not people.',
  needs: ['person'],
  run: decidingNothing([
    { decision },
    { decision, person: null },
    { decision, person: '' },
    { decision, person: {} },
  ]),
};

const EXPIRES_MS = 1_000;

export const expired: Scenario = {
  name: 'expired',
  title: 'the approval comes after the question has expired',
  passes: 'the call is not made',
  why: 'The reasons for a call get old. An approval of last week is about another world.',
  needs: ['restart', 'expiry'],
  async run(stage) {
    const call = pay('p1', 'bob', 500);
    const first = await stage.open({ expiresMs: EXPIRES_MS });
    assertPaused(await first.start(RUN, [call]), [call]);
    await first.kill();
    await pause(EXPIRES_MS * 1.5);
    const second = await stage.open({ expiresMs: EXPIRES_MS });
    await second.resume(RUN, approve(call));
    return [expected('never', call)];
  },
};
