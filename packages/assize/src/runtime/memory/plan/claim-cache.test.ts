import { ALICE, changeOf, day, namesOf } from '@assize/testing/internal/fact-rows.ts';
import { batchOf } from '@assize/testing/internal/store-rows.ts';
import { MemoryStore } from '@assize/testing/memory';
import { expect, test, vi } from 'vitest';
import { type FactWrite, OPEN_END, type PartitionName } from '#ledger';
import { clinic } from '../../../../../../tests/support/clinic/clinic.ts';
import { committed, writ } from '../../../../../../tests/support/clinic/clinic-memory.ts';
import { runtimeOver } from '../../../../../../tests/support/ledger/runtime.ts';
import { ClaimCache } from './claim-cache.ts';

const several = (...claims: string[]) =>
  claims.map((fact_id) => ({ fact_id, cardinality: 'multi-valued' as const }));
const stateOf = (name: PartitionName, version: number) => ({ names: namesOf(name), version });

/** The claims of a store; `facts` counts the reads. */
async function begun(...writes: FactWrite[]) {
  const store = new MemoryStore();
  const commit = async (write: FactWrite) =>
    expect(await store.commit({ ...batchOf([]), facts: [write] })).toEqual({ status: 'committed' });
  for (const write of writes) await commit(write);
  const facts = vi.spyOn(store, 'facts');
  return { store, commit, facts, made: new ClaimCache(store) };
}

test('claims are read once, and again only where others went on', async () => {
  const { made, commit, facts } = await begun(
    changeOf(ALICE, 1, 1, several('a', 'b')),
    changeOf(ALICE, 2, 2, several('c')),
  );
  for (const _ of [1, 2])
    expect([...(await made.load(ALICE, stateOf(ALICE, 2)))]).toEqual(['a', 'b', 'c']);
  expect(facts).toHaveBeenCalledTimes(1);
  expect([...(await made.load(ALICE, stateOf(ALICE, 2), day(1)))]).toEqual(['a', 'b']);
  await commit(changeOf(ALICE, 3, 3, several('d')));
  facts.mockClear();
  expect([...(await made.load(ALICE, stateOf(ALICE, 3)))]).toEqual(['a', 'b', 'c', 'd']);
  expect(facts.mock.calls.map(([{ after }]) => after)).toMatchObject([
    { fact_id: 'c', object: '' },
  ]);
});

test('accepted claims are known without a read until they are evicted', async () => {
  const { made, facts } = await begun(changeOf(ALICE, 1, 1, several('a')));
  await made.load(ALICE, stateOf(ALICE, 1));
  made.accept(changeOf(ALICE, 2, 2, several('b')));
  made.merged(ALICE, ['c']);
  facts.mockClear();
  expect([...(await made.load(ALICE, stateOf(ALICE, 2)))]).toEqual(['a', 'b', 'c']);
  expect(facts).not.toHaveBeenCalled();
  // Not a change after an unknown one; both are read together.
  made.accept(changeOf(ALICE, 4, 4, several('e')));
  expect([...(await made.load(ALICE, stateOf(ALICE, 2)))]).not.toContain('e');
  made.evict(ALICE);
  expect([...(await made.load(ALICE, stateOf(ALICE, 1)))]).toEqual(['a']);
});

test('nothing is known of a partition by the name that another had', async () => {
  const { made } = await begun(changeOf(ALICE, 1, 1, several('a')));
  await made.load(ALICE, stateOf(ALICE, 1));
  const names = { hash: 'e'.repeat(64), bytes: 1 };
  made.accept({ ...changeOf(ALICE, 2, 2, several('b')), names });
  expect([...(await made.load(ALICE, stateOf(ALICE, 1)))]).toEqual(['a']);
});

test('the cache evicts partitions that are no longer requested', async () => {
  const { made, facts } = await begun();
  const named = (n: number): PartitionName => ({ ...ALICE, subject: `s${n}` });
  facts.mockImplementation(async ({ subject, after }) => {
    const rows = several(...Array.from({ length: 60_000 }, (_, claim) => `${subject} ${claim}`));
    return after === undefined
      ? changeOf({ ...ALICE, subject: subject! }, 1, 1, rows).insert.map((row) => row)
      : [];
  });
  /** Whether it had to be read. */
  const isRead = async (n: number): Promise<boolean> => {
    facts.mockClear();
    expect((await made.load(named(n), stateOf(named(n), 1))).size).toBe(60_000);
    return facts.mock.calls.length > 0;
  };
  for (const n of [0, 1, 2]) expect(await isRead(n)).toBe(true);
  expect(await isRead(0)).toBe(false);
  for (const n of [3, 4]) expect(await isRead(n)).toBe(true);
  expect([await isRead(0), await isRead(1)]).toEqual([false, true]);
});

test('successive assertions from new sources read no more of the history', async () => {
  const store = new MemoryStore();
  const facts = vi.spyOn(store, 'facts');
  const trajectory = await runtimeOver(store, [clinic]).create(clinic, {
    trajectoryId: 't',
    writs: [writ],
  });
  const memory = trajectory.memory({ space: 'ward', writ });
  const said = (n: number) => ({
    subject: 'p7',
    predicate: 'drug',
    object: `drug ${n}`,
    source: `letter ${n}`,
  });
  const valid = (n: number) => ({ from: day(n), to: n % 3 === 0 ? OPEN_END : day(n + 5) });
  for (let n = 1; n <= 10; n++) await committed(memory.assert({ ...said(n), valid: valid(n) }));
  facts.mockClear();
  for (let n = 11; n <= 60; n++) await committed(memory.assert({ ...said(n), valid: valid(n) }));
  expect(facts).not.toHaveBeenCalled();
  for (const n of [1, 30, 60]) {
    const { delta } = await committed(memory.assert({ ...said(n), valid: valid(n) }));
    expect(delta.beliefs).toEqual([]);
  }
});
