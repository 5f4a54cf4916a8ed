/** Approvals that expire together delay no proposal, and the waiting proposals have a bound. */

import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { attenuate } from '#authority';
import { generateKeys } from '#canon';
import { defineDomain, escalate, pass } from '#kernel';
import { type Batch, type CommitResult, readRow } from '#ledger';
import { allEntries, soundState } from '../../../../../tests/support/ledger/desk.ts';
import { HandClock, runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import type { ApprovalOptions } from '../options.ts';
import { EXPIRED_IN_GROUP } from './pending/expire.ts';

const HOUR = 3_600_000;
const keys = generateKeys(new Uint8Array(32).fill(1));
const root = writFor(keys.publicKey);

/** Claims above ten wait for the manager. */
const claimsOf = (freeze: 'world' | 'footprint' | 'reserve') =>
  defineDomain({
    name: 'claims',
    version: '1',
    freeze,
    state: z.object({ claims: z.record(z.string(), z.number()) }),
    initial: { claims: {} },
    processes: { claiming: { writes: ['/claims/{id}'] } },
    roles: { clerk: { params: ['id'], processes: ['claiming'] } },
    counselors: { manager: () => true },
    actions: {
      claim: {
        process: 'claiming',
        args: z.strictObject({ euros: z.number() }),
        apply: (state, { euros }, { role }) => {
          state.claims[role['id'] as string] = euros;
        },
      },
    },
    invariants: ({ each }) => [
      each('MANAGER', '/claims/*', { channel: 'manager' }, (euros) =>
        euros <= 10 ? pass : escalate(`${euros} euros`),
      ),
    ],
  });

class CountingStore extends MemoryStore {
  readonly batches: Batch[] = [];

  override commit(batch: Batch): Promise<CommitResult> {
    this.batches.push(batch);
    return super.commit(batch);
  }
}

async function opened(freeze: 'world' | 'footprint' | 'reserve', approvals: ApprovalOptions = {}) {
  const [store, clock, domain] = [new CountingStore(), new HandClock(), claimsOf(freeze)];
  const assize = runtimeOver(store, [domain], {
    approvals: { timeoutMs: HOUR, ...approvals },
    ports: { clock },
  });
  const trajectory = await assize.create(domain, { trajectoryId: 't', writs: [root] });
  const claim = (id: string, euros: number, writ: unknown = root) =>
    trajectory.propose({
      action: 'claim',
      role: { name: 'clerk', params: { id } },
      args: { euros },
      writ: writ as never,
    });
  return { store, clock, trajectory, claim };
}

test('expired approvals are recorded in groups and freeze nothing', async () => {
  const count = 2 * EXPIRED_IN_GROUP + 10;
  const { store, clock, trajectory, claim } = await opened('footprint');
  const pending: string[] = [];
  for (let n = 0; n < count; n++) {
    const ruling = await claim(`${n}`, 11);
    pending.push(ruling.ruling === 'escalated' ? ruling.pending : '');
  }
  expect(await claim(`${count - 1}`, 5)).toMatchObject({ ruling: 'frozen', by: pending.at(-1) });
  clock.forward(HOUR);
  const lengths = async (euros: number): Promise<number[]> => {
    const before = store.batches.length;
    // The same place as the last expired proposal, whose expiry is recorded last.
    expect(await claim(`${count - 1}`, euros)).toMatchObject({ ruling: 'committed' });
    return store.batches.slice(before).map(({ entries }) => entries.length);
  };
  expect(await lengths(1)).toEqual([EXPIRED_IN_GROUP, 1]);
  expect(trajectory.approvals.pending()).toEqual([]);
  // The expiry is not recorded yet, and an approval comes too late nevertheless.
  const late = await trajectory.approvals.approve(pending.at(-1) as string, {
    principal: 'm',
    method: 'test',
  });
  expect(late).toMatchObject({ ruling: 'rejected', reason: 'expired' });
  expect(await lengths(2)).toEqual([EXPIRED_IN_GROUP, 1]);
  expect(await lengths(3)).toEqual([9, 1]);
  expect(await lengths(4)).toEqual([1]);
  const expired = (await allEntries(store, 't')).flatMap(({ payload }) => {
    const { reason, resolves } = JSON.parse(payload);
    return reason === 'expired' ? [resolves] : [];
  });
  expect(expired.toSorted()).toEqual(pending.toSorted());
  expect(await soundState(store, 't')).toContain('claims');
});

test('concurrent proposals wait for one group of expired approvals', async () => {
  const { store, clock, claim } = await opened('reserve');
  for (let n = 0; n < EXPIRED_IN_GROUP + 1; n++) await claim(`${n}`, 11);
  clock.forward(HOUR);
  const before = store.batches.length;
  // Among them the place of the last approval, whose expiry stays unrecorded.
  const rulings = await Promise.all(
    Array.from({ length: 20 }, (_, n) => claim(`${EXPIRED_IN_GROUP - n}`, 1)),
  );
  expect(new Set(rulings.map(({ ruling }) => ruling))).toEqual(new Set(['committed']));
  const groups = store.batches.slice(before).filter(({ entries }) => entries.length > 1);
  expect(groups.map(({ entries }) => entries.length)).toEqual([EXPIRED_IN_GROUP]);
});

test('an expired approval that freezes the whole state is recorded first', async () => {
  const { store, clock, claim } = await opened('world');
  await claim('a', 11);
  clock.forward(HOUR);
  expect(await claim('b', 1)).toMatchObject({ ruling: 'committed' });
  const kinds = (await allEntries(store, 't')).map((row) => readRow(row).payload.kind);
  expect(kinds).toEqual(['root', 'pending_approval', 'rejection', 'commit']);
});

test('a root writ and the writs below it share a bound of waiting proposals', async () => {
  const { store, clock, trajectory, claim } = await opened('reserve', { maxPending: 3 });
  const below = (nonce: string) => ({
    writ: attenuate(root, { subject: `agent ${nonce}`, nonce }, keys.privateKey),
    chain: [root],
  });
  const other = writFor('other');
  for (const [n, writ] of [root, below('b'), below('c')].entries())
    expect(await claim(`${n}`, 11, writ)).toMatchObject({ ruling: 'escalated' });
  const length = trajectory.length;
  for (const writ of [root, below('b'), below('d')])
    await expect(claim('x', 11, writ)).rejects.toMatchObject({
      code: 'too_many_pending',
      retryable: true,
      evidence: { pending: 3, trajectory_id: 't' },
    });
  expect(trajectory.length).toBe(length);
  // Neither a proposal that needs no approval nor another root is concerned.
  expect(await claim('x', 1, below('d'))).toMatchObject({ ruling: 'committed' });
  expect(await claim('y', 11, { writ: other, chain: [] })).toMatchObject({ ruling: 'escalated' });
  const [{ id }] = trajectory.approvals.pending() as unknown as [{ id: string }];
  await trajectory.approvals.reject(id, { principal: 'm', method: 'test', reason: 'no' });
  expect(await claim('z', 11)).toMatchObject({ ruling: 'escalated' });
  await expect(claim('z2', 11)).rejects.toMatchObject({ code: 'too_many_pending' });
  clock.forward(HOUR);
  expect(await claim('z2', 11)).toMatchObject({ ruling: 'escalated' });
  expect(await soundState(store, 't')).toContain('claims');
});

test('a thousand proposals may wait by default, or any number', async () => {
  const { claim } = await opened('footprint', { timeoutMs: 'never' });
  for (let n = 0; n < 1_000; n++) await claim(`${n}`, 11);
  await expect(claim('one more', 11)).rejects.toMatchObject({ code: 'too_many_pending' });
  const unlimited = await opened('footprint', { maxPending: 'unlimited' });
  for (let n = 0; n < 1_001; n++)
    expect((await unlimited.claim(`${n}`, 11)).ruling).toBe('escalated');
});
