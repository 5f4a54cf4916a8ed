import { expect, test } from 'vitest';
import type { Question } from '#memory';
import { createOracle, thetaHash } from '#oracle';
import { openStore } from '#stores';
import { HandClock } from '../../../tests/support/runtime.ts';
import { type Judge, Votes } from './judge.ts';

const question: Question = {
  space: 'ward',
  subject: 'p7',
  predicate: 'triage',
  request: 'ab'.repeat(32),
  strategy: 'rule',
  members: ['one', 'two'].map((claim) => ({ claim, object: claim, confidence: 1, rows: [] })),
};

test('a vote is of one θ and one version of the policy, and another of either is asked anew', async () => {
  const store = await openStore('memory:');
  const oracle = createOracle({ store, clock: new HandClock(), mode: 'record' });
  let asked = 0;
  const voted = async (judge: Omit<Judge, 'oracle' | 'choose'>, claim: string) => {
    const choose = (): string => {
      asked += 1;
      return claim;
    };
    const votes = new Votes({ oracle, choose, ...judge });
    const call = {};
    await votes.ask(call, question);
    return votes.of(call, question.request);
  };
  const first = await voted({ policy: '1' }, 'one');
  expect(first).toMatchObject({ winner: 'one', policy: '1', theta: thetaHash({}) });
  // Whoever judges by the same policy has the vote that it gave.
  expect(await voted({ policy: '1' }, 'two')).toEqual(first);
  expect(await voted({ policy: '2' }, 'two')).toMatchObject({ winner: 'two', policy: '2' });
  expect(await voted({ policy: '1', theta: { prompt: 'p' } }, 'two')).toMatchObject({ winner: 'two', policy: '1' });
  expect((await voted({}, 'two'))!.policy).toBeUndefined();
  expect(asked).toBe(4);
  await store.close();
});

test('a vote for nobody that is in question is no vote', async () => {
  const store = await openStore('memory:');
  const oracle = createOracle({ store, clock: new HandClock(), mode: 'record' });
  const votes = new Votes({ oracle, choose: () => 'three' });
  const call = {};
  await expect(votes.ask(call, question)).rejects.toMatchObject({ code: 'unknown_member' });
  expect(votes.of(call, question.request)).toBeUndefined();
  await store.close();
});
