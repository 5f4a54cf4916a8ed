import { expect, test } from 'vitest';
import type { Question } from '#memory';
import { createOracle, thetaHash } from '#oracle';
import { openStore } from '#stores';
import { clinic } from '../../../../../../tests/support/clinic/clinic.ts';
import { HandClock, runtimeOver } from '../../../../../../tests/support/ledger/runtime.ts';
import { type Judge, Votes } from './votes.ts';

const question: Question = {
  space: 'ward',
  subject: 'p7',
  predicate: 'triage',
  request: 'ab'.repeat(32),
  strategy: 'rule',
  members: ['one', 'two'].map((claim) => ({ claim, object: claim, confidence: 1, rows: [] })),
};

test('a vote belongs to one θ and policy version; changing either asks again', async () => {
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
    return votes.get(call, question.request);
  };
  const first = await voted({ policy: '1' }, 'one');
  expect(first).toMatchObject({ winner: 'one', policy: '1', theta: thetaHash({}) });
  // A judge with the same policy gets the recorded vote.
  expect(await voted({ policy: '1' }, 'two')).toEqual(first);
  expect(await voted({ policy: '2' }, 'two')).toMatchObject({ winner: 'two', policy: '2' });
  expect(await voted({ policy: '1', theta: { prompt: 'p' } }, 'two')).toMatchObject({
    winner: 'two',
    policy: '1',
  });
  expect((await voted({}, 'two'))!.policy).toBeUndefined();
  expect(asked).toBe(4);
  await store.close();
});

test('a vote for a claim that is not a candidate is invalid', async () => {
  const store = await openStore('memory:');
  const oracle = createOracle({ store, clock: new HandClock(), mode: 'record' });
  const votes = new Votes({ oracle, choose: () => 'three' });
  const call = {};
  await expect(votes.ask(call, question)).rejects.toMatchObject({ reason: 'unknown_member' });
  expect(votes.get(call, question.request)).toBeUndefined();
  await store.close();
});

test('a judge changes only its copy; its vote is checked against the originals', async () => {
  const store = await openStore('memory:');
  const oracle = createOracle({ store, clock: new HandClock(), mode: 'record' });
  const shown = JSON.stringify(question);
  const bending = new Votes({
    oracle,
    choose: ({ members }) => {
      (members as object[]).push({ claim: 'both', object: 'both' });
      (members[0] as { object: string }).object = 'something else';
      return 'both';
    },
  });
  const call = {};
  await expect(bending.ask(call, question)).rejects.toMatchObject({ reason: 'unknown_member' });
  expect(JSON.stringify(question)).toBe(shown);
  const votes = new Votes({ oracle, choose: () => 'two' });
  await votes.ask(call, question);
  expect(votes.get(call, question.request)).toMatchObject({ winner: 'two' });
  await store.close();
});

test('an invalid judge timeout is refused when the runtime is created', async () => {
  const store = await openStore('memory:');
  const oracle = createOracle({ store, clock: new HandClock(), mode: 'record' });
  const made = (timeoutMs: unknown) => (): unknown =>
    runtimeOver(store, [clinic], {
      memory: { judge: { oracle, choose: () => 'one', timeoutMs: timeoutMs as number } },
    });
  for (const timeoutMs of [Number.NaN, -1, 0, 0.5, 2 ** 31, Number.POSITIVE_INFINITY, '5', null])
    expect(made(timeoutMs), String(timeoutMs)).toThrow(
      expect.objectContaining({
        code: 'bad_argument',
        message: expect.stringContaining('memory.judge.timeoutMs'),
      }),
    );
  for (const timeoutMs of [undefined, 1, 2 ** 31 - 1]) expect(made(timeoutMs)).not.toThrow();
  await store.close();
});
