import { deepReplay } from '@assize/audit/internal/replay';
import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { generateKeys } from '#canon';
import { isErased } from '#kernel';
import type { Hash, RootPayload } from '#ledger';
import { ward } from '../../../../../tests/support/clinic/ward.ts';
import {
  agent,
  everything,
  expectSound,
  openWard,
  reopened,
} from '../../../../../tests/support/clinic/ward-with-erasures.ts';
import { runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import { verifyStore } from '../inspect/verify.ts';
import type { Trajectory } from '../trajectory.ts';

test('a child with a lost root restarts with equal salted hashes, not values', async () => {
  const lead = generateKeys();
  const granted = writFor(lead.publicKey, { trajectory: 't' });
  const store = new MemoryStore();
  const trajectory = await runtimeOver(store, [ward]).create(ward, {
    trajectoryId: 't',
    writs: [granted],
  });
  const patients = { p1: { name: 'David', visits: 0, notes: [] } };
  const initial = { patients, flagged: 0, agreed: 0 };
  const terms = { task: 'x', writ: granted, subject: 'helper', childTrajectoryId: 'c', initial };
  await trajectory.delegations.delegate({ ...terms, privateKey: lead.privateKey });
  const [start, [root]] = [await store.head('t'), await store.entries('c')];
  const { sensitive = [] } = JSON.parse(root!.payload) as RootPayload;
  const hash = (sensitive[0] as { value: { $blob: Hash } }).value.$blob;
  const copy = new MemoryStore();
  const blobs = [{ hash, text: (await store.blob(hash))! }];
  await copy.commit({ entries: await store.entries('t'), blobs });
  await runtimeOver(copy, [ward]).open('t');
  expect(await copy.entries('c')).toEqual([root]);
  expect(start!.payload + root!.payload).not.toContain('David');
  for (const one of [store, copy])
    expect((await verifyStore(one)).map(({ fault }) => fault)).toEqual([undefined, undefined]);
});

describe('an erased value is evicted', () => {
  test('by branches, open or not, earlier or later, and never returns by them', async () => {
    const { store, assize, trajectory, act } = await openWard();
    await act('admit', 'p1', { name: 'David' });
    const noted = await act('note', 'p1', { text: 'David fell' });
    const at = (noted as { entry: { id: Hash } }).entry.id;
    const before = await assize.branch('t', at, { trajectoryId: 'before', note: 'x' });
    await trajectory.erase({ at: ['/patients/p1'], reason: 'x', writ: agent });
    const after = await assize.branch('t', at, { trajectoryId: 'after', note: 'x' });
    for (const branch of [before, after]) {
      expect(JSON.stringify(branch.state())).not.toContain('David');
      const replayed = await runtimeOver(store, [ward]).open(branch.id);
      expect(branch.state()).toEqual(replayed.state());
      const role = { name: 'nurse', params: { id: 'p1' } };
      const args = { index: 0, urgent: true };
      expect((await branch.propose({ action: 'correct', role, args, writ: agent })).ruling).toBe(
        'rejected',
      );
    }
    expect(await everything(store)).not.toContain('David');
  });

  test('by a stale process: it reloads and erases newer writes too', async () => {
    const { store, trajectory, act } = await openWard();
    await act('admit', 'p1', { name: 'David' });
    const other = await reopened(store);
    await act('note', 'p1', { text: 'David fell' });
    expect((await other.erase({ at: ['/patients/p1'], reason: 'x', writ: agent })).ruling).toBe(
      'committed',
    );
    expect(await everything(store)).not.toContain('David');
    await act('shift', 'p1');
    await expectSound(store, trajectory, 4);
  });

  test('by snapshots that are kept elsewhere', async () => {
    const [store, elsewhere] = [new MemoryStore(), new MemoryStore()];
    const trajectory = await runtimeOver(store, [ward], { snapshots: elsewhere }).create(ward, {
      trajectoryId: 't',
    });
    const role = { name: 'nurse', params: { id: 'p1' } };
    await trajectory.propose({ action: 'admit', role, args: { name: 'David' }, writ: agent });
    let dropped = 0;
    elsewhere.dropSnapshots = async () => void dropped++;
    await trajectory.erase({ at: ['/patients/p1'], reason: 'x', writ: agent });
    expect(dropped).toBe(1);
  });

  test('also where the same was written again without a change', async () => {
    const { store, trajectory, act } = await openWard();
    for (let i = 0; i < 2; i++) await act('admit', 'p1', { name: 'David' });
    await act('admit', 'p1', { name: 5 });
    await trajectory.erase({ at: ['/patients/p1'], reason: 'x', writ: agent });
    expect(await everything(store)).not.toContain('David');
    expect(await deepReplay(store, 't', { domains: [ward] })).toMatchObject({ same: true });
  });
});

/** Steps on three patients, with erasures among them. */
const steps = fc.array(
  fc.record({
    what: fc.constantFrom('admit', 'note', 'note', 'correct', 'shift', 'dismiss', 'erase'),
    who: fc.constantFrom('a', 'b', 'a/b'),
  }),
  { minLength: 1, maxLength: 25 },
);

test('any writes and erasures lose only erased values and verify (property)', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (list) => {
      const { store, trajectory, act } = await openWard();
      /** The given texts, by patient; erased ones are in `gone`. */
      const given = new Map<string, string[]>();
      const gone: string[] = [];
      let n = 0;
      for (const { what, who } of list) {
        const text = `text-${n++}-`;
        if (what === 'erase') {
          const at = [`/patients/${who.replace('/', '~1')}`];
          await trajectory
            .erase({ at, reason: 'x', writ: agent })
            .catch((error: { code?: string }) => {
              expect(error.code).toBe('nothing_to_erase');
            });
          gone.push(...(given.get(who) ?? []));
          given.delete(who);
          continue;
        }
        const args =
          what === 'admit'
            ? { name: text }
            : what === 'note'
              ? { text }
              : what === 'correct'
                ? { index: 0, urgent: true }
                : {};
        const { ruling } = await act(what, who, args);
        if (ruling === 'committed' && (what === 'admit' || what === 'note'))
          given.set(who, [...(given.get(who) ?? []), text]);
      }
      const all = await everything(store);
      for (const text of gone) expect(all).not.toContain(text);
      for (const text of [...given.values()].flat()) expect(all).toContain(text);
      await expectSound(store, trajectory, (await verifyStore(store))[0]!.erased);
      expect(await deepReplay(store, 't', { domains: [ward] })).toMatchObject({
        same: true,
        preserved: true,
      });
    }),
    { numRuns: 150 },
  );
});

describe('of runtimes that were given one seed of chance', () => {
  const officer = writFor('officer');
  const seen = [{ name: 'letter', value: 'David was born in May', sensitive: true }];
  const admit = (trajectory: Trajectory, id: string) =>
    trajectory.propose({
      action: 'admit',
      role: { name: 'nurse', params: { id } },
      args: { name: 'David' },
      writ: agent,
      observations: seen,
    });
  const nameIn = (trajectory: Trajectory, id: string) =>
    (trajectory.state() as any).patients[id].name;

  test('each has its own blob for an equal value: erasing one keeps the other', async () => {
    const store = new MemoryStore();
    const begin = (trajectoryId: string) =>
      runtimeOver(store, [ward]).create(ward, {
        trajectoryId,
        initial: {
          ...(ward.initial as object),
          patients: { p0: { name: 'David', visits: 0, notes: [] } },
        } as never,
      });
    const [one, other] = [await begin('t'), await begin('u')];
    const rulings = [await admit(one, 'p1'), await admit(other, 'p1')];
    expect(rulings.map(({ ruling }) => ruling)).toEqual(['committed', 'committed']);
    await one.erase({ at: ['/patients/p0', '/patients/p1'], reason: 'request 1', writ: officer });
    expect([nameIn(one, 'p0'), nameIn(one, 'p1')].map(isErased)).toEqual([true, true]);
    const read = await runtimeOver(store, [ward]).open('u');
    expect([nameIn(read, 'p0'), nameIn(read, 'p1')]).toEqual(['David', 'David']);
    expect((await verifyStore(store)).map(({ fault, erased }) => [fault, erased])).toEqual([
      [undefined, 4],
      [undefined, 0],
    ]);
    expect(await deepReplay(store, 'u', { domains: [ward] })).toMatchObject({ same: true });
  });

  test('so it is where they write to one trajectory by turns', async () => {
    const store = new MemoryStore();
    await runtimeOver(store, [ward]).create(ward, { trajectoryId: 't' });
    for (const id of ['p1', 'p2'])
      expect(await admit(await runtimeOver(store, [ward]).open('t'), id)).toMatchObject({
        ruling: 'committed',
      });
    const trajectory = await reopened(store);
    await trajectory.erase({ at: ['/patients/p1'], reason: 'request 1', writ: officer });
    expect([isErased(nameIn(trajectory, 'p1')), nameIn(trajectory, 'p2')]).toEqual([true, 'David']);
    const text = await everything(store);
    expect(text.split('David was born in May')).toHaveLength(2);
  });

  test('and the same again makes the same ledger', async () => {
    const texts: string[] = [];
    for (const _ of [1, 2]) {
      const { store, trajectory } = await openWard();
      await admit(trajectory, 'p1');
      await admit(trajectory, 'p2');
      texts.push(await everything(store));
    }
    expect(texts[0]).toBe(texts[1]);
  });
});
