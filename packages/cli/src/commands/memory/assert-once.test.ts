import { MemoryStore } from '@assize/testing/memory';
import type { Trajectory } from 'assize/internal/runtime';
import type { Store } from 'assize/internal/stores';
import { expect, test } from 'vitest';
import { clinic } from '../../../../../tests/support/clinic/clinic.ts';
import { runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import { type AssertOnce, assertingOnce } from './assert-once.ts';

// A process that asserts the same claims at the same time as another process submits nothing twice.

const WARD = 'ward';

/** Two processes. Neither has read the other's statements yet. */
async function two(nonces: readonly [string, string], storeKey = new Uint8Array(32)) {
  const store: Store = new MemoryStore();
  await store.claimKey(storeKey);
  const first = runtimeOver(store, [clinic]);
  await first.create(clinic, { trajectoryId: 't' });
  const opened = await Promise.all(
    [first, runtimeOver(store, [clinic])].map((each) => each.open('t')),
  );
  const said = { subject: 'p7', predicate: 'diagnosis', object: 'flu', source: '0' };
  const ward = (trajectory: Trajectory, nonce: string) =>
    trajectory.memory({ space: WARD, writ: writFor('n', { nonce }) });
  await ward(opened[0]!, 'first').assert(said);
  const once = (trajectory: Trajectory, nonce: string): Promise<AssertOnce> => {
    const memory = ward(trajectory, nonce);
    const waits = async () => trajectory.approvals.pending().length > 0;
    return assertingOnce(
      store,
      trajectory,
      (claims, options) => memory.assertMany(claims, options),
      waits,
    );
  };
  const [one, other] = await Promise.all(opened.map((each, n) => once(each, nonces[n]!)));
  return {
    one: one!,
    other: other!,
    trajectories: opened as [Trajectory, Trajectory],
    again: once,
  };
}

const CLAIMS = new Map([
  ['a', { subject: 'p7', predicate: 'diagnosis', object: 'cold', source: '1' }],
]);

test('under the same writ both get the same ruling', async () => {
  const { one, other, trajectories } = await two(['same', 'same']);
  const [first, second] = await Promise.all([one(CLAIMS, 1), other(CLAIMS, 1)]);
  expect(first).toMatchObject({ ruling: 'escalated' });
  expect(second).toEqual(first);
  expect(trajectories[1].approvals.pending()).toHaveLength(1);
});

test('under another writ the second caller finds the proposal pending', async () => {
  const { one, other, trajectories } = await two(['one', 'other']);
  const rulings = await Promise.all([one(CLAIMS, 1), other(CLAIMS, 1)]);
  expect(rulings.filter((ruling) => ruling !== undefined)).toMatchObject([{ ruling: 'escalated' }]);
  for (const trajectory of trajectories) expect(trajectory.approvals.pending()).toHaveLength(1);
});

test.each([
  ['the same', 'same'],
  ['another', 'other'],
])('a resolved claim is resubmitted under %s writ, and so is another line’s', async (_, nonce) => {
  const { one, trajectories, again } = await two(['same', nonce]);
  const first = await one(CLAIMS, 1);
  if (first?.ruling !== 'escalated') throw new Error(first?.ruling);
  await trajectories[0].approvals.reject(first.pending, {
    principal: 'dr house',
    method: 'test',
    reason: 'ask again',
  });
  const later = await again(trajectories[0], nonce);
  const second = await later(CLAIMS, 1);
  expect(second).toMatchObject({ ruling: 'escalated' });
  expect(second).not.toEqual(first);
  expect(await later(CLAIMS, 2)).not.toEqual(second);
});

test('a proposal key reveals its claims only with the store key', async () => {
  const keyUnder = async (byte: number): Promise<string> => {
    const { one, trajectories } = await two(['same', 'same'], new Uint8Array(32).fill(byte));
    await one(CLAIMS, 1);
    return trajectories[0].approvals.pending()[0]!.payload.proposal.key_hash as string;
  };
  expect(await keyUnder(1)).toBe(await keyUnder(1));
  expect(await keyUnder(1)).not.toBe(await keyUnder(2));
});
