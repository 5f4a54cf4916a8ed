import { MemoryStore } from '@assize/testing/memory';
import type { Store } from 'assize/internal/stores';
import { expect, test, vi } from 'vitest';
import { clinic } from '../../../../../tests/support/clinic/clinic.ts';
import { runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import { type AssertedClaim, pendingByName } from './pending-claims.ts';

// An import inspects the pending claims before each batch. Each inspection costs the new entries,
// not all pending ones.

const nameOf = ({ subject, object }: AssertedClaim): string => `${subject} ${object}`;

/** The same store, and how often something of it was asked for by its hash. */
function counted(store: Store): { readonly store: Store; readonly reads: () => number } {
  let reads = 0;
  const get = (_: Store, name: string | symbol): unknown => {
    const member: unknown = Reflect.get(store, name);
    if (typeof member !== 'function') return member;
    if (name === 'blob' || name === 'resolve') reads += 1;
    return member.bind(store);
  };
  const readsSince = (): number => {
    const since = reads;
    reads = 0;
    return since;
  };
  return { store: new Proxy(store, { get }), reads: readsSince };
}

async function opened() {
  const below: Store = new MemoryStore();
  const trajectory = await runtimeOver(below, [clinic]).create(clinic, { trajectoryId: 't' });
  const memory = trajectory.memory({ space: 'ward', writ: writFor('n') });
  const { store, reads } = counted(below);
  /** Says what waits, as what is believed of each is something else. */
  const putUp = async (...subjects: string[]): Promise<void> => {
    await memory.assertMany(
      subjects.map((subject) => ({ subject, predicate: 'diagnosis', object: 'flu', source: '0' })),
    );
    const objects = subjects.map((subject) => ({
      subject,
      predicate: 'diagnosis',
      object: 'cold',
      source: '1',
    }));
    expect(await memory.assertMany(objects)).toMatchObject({ ruling: 'escalated' });
  };
  return { below, trajectory, putUp, reads, look: pendingByName(store, trajectory, nameOf) };
}

test('a submitted proposal is read once; later lookups equal a first lookup', async () => {
  const { below, trajectory, putUp, reads, look } = await opened();
  const cost: number[] = [];
  for (let n = 0; n < 12; n++) {
    await putUp(`p${n}`, `q${n}`);
    if (n % 4 === 3) {
      const { id } = trajectory.approvals.pending()[1]!;
      await trajectory.approvals.reject(id, {
        principal: 'dr house',
        method: 'test',
        reason: 'no',
      });
    }
    expect([...(await look())]).toEqual([...(await pendingByName(below, trajectory, nameOf)())]);
    cost.push(reads());
  }
  expect((await look()).size).toBe(2 * (12 - 3));
  expect(reads()).toBe(0);
  expect(cost[0]).toBeGreaterThan(0);
  expect(cost).toEqual(Array(12).fill(cost[0]));
});

test('a pending proposal is copied once, for any lookups and other proposals', async () => {
  const { trajectory, putUp, look } = await opened();
  const copies = vi.spyOn(globalThis, 'structuredClone');
  const made: number[] = [];
  for (let n = 0; n < 12; n++) {
    await putUp(`p${n}`);
    copies.mockClear();
    expect((await look()).size).toBe(n + 1);
    expect(trajectory.approvals.pending().map(({ id }) => id)).toHaveLength(n + 1);
    made.push(copies.mock.calls.length);
  }
  expect(made).toEqual(Array(12).fill(1));
  copies.mockClear();
  const payloads = trajectory.approvals.pending().map(({ payload }) => payload);
  for (const [n, { payload }] of trajectory.approvals.pending().entries())
    expect(payload).toBe(payloads[n]);
  expect(copies).not.toHaveBeenCalled();
  // The copy is not what the runtime holds.
  const mine = payloads[0] as { channel: string };
  expect(() => {
    mine.channel = 'none';
  }).toThrow(TypeError);
  copies.mockRestore();
});

test('a resolved claim leaves the list, and is listed again if resubmitted', async () => {
  const { trajectory, putUp, look } = await opened();
  await putUp('p0', 'p1');
  const { id } = trajectory.approvals.pending()[0]!;
  expect([...(await look()).values()].map(({ pending }) => pending)).toEqual([id, id]);
  await trajectory.approvals.reject(id, { principal: 'dr house', method: 'test', reason: 'no' });
  expect(await look()).toEqual(new Map());
  await putUp('p0');
  expect([...(await look()).keys()]).toEqual(['p0 cold']);
});
