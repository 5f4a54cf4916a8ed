import { importLines } from '@assize/audit/internal/export';
import { deepReplay } from '@assize/audit/internal/replay';
import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Json } from '#base';
import { defineDomain, isErased, sensitive } from '#kernel';
import type { Hash } from '#ledger';
import { ward } from '../../../../../tests/support/clinic/ward.ts';
import {
  agent,
  everything,
  expectSound,
  linesOf,
  openWard,
} from '../../../../../tests/support/clinic/ward-with-erasures.ts';
import { runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import { verifyStore } from '../inspect/verify.ts';

describe('a sensitive value', () => {
  test('stands in no entry, and in blobs only with a salt', async () => {
    const { store, trajectory, act } = await openWard({
      patients: {
        p0: { name: 'Rosalind', visits: 0, notes: [{ text: 'allergic', urgent: true }] },
      },
      flagged: 0,
      agreed: 0,
    });
    expect((await act('admit', 'p1', { name: 'David' })).ruling).toBe('committed');
    expect(
      (
        await act(
          'note',
          'p1',
          { text: 'David fell' },
          { observations: [{ name: 'call', value: 'his wife Ann', sensitive: true }] },
        )
      ).ruling,
    ).toBe('committed');
    expect((await act('correct', 'p1', { index: 0, urgent: true })).ruling).toBe('committed');
    expect((await act('note', 'nobody', { text: 'secret Eve' })).ruling).toBe('rejected');
    for (const { payload } of await store.entries('t')) {
      expect(payload).not.toMatch(/David|Ann|Eve|Rosalind|allergic/);
    }
    const salted = (await everything(store))
      .split('\n')
      .filter((line) => /David|Ann|Eve|Rosalind|allergic/.test(line));
    expect(salted).toHaveLength(9);
    for (const line of salted) expect(line).toMatch(/^\{"blob":\{"salt":"[0-9a-f]{32}","value":/);
    await expectSound(store, trajectory, 0);
    expect(await deepReplay(store, 't', { domains: [ward] })).toMatchObject({
      same: true,
      preserved: true,
    });
  });

  test('has another hash each time', async () => {
    const { store, act } = await openWard();
    await act('admit', 'p1', { name: 'David' });
    await act('admit', 'p1', { name: 'David' }, { role: { name: 'nurse', params: { id: 'p2' } } });
    const hashes = (await everything(store)).matchAll(/"\$blob":"([0-9a-f]{64})"/g);
    const seen = [...hashes].map(([, hash]) => hash);
    expect(new Set(seen).size).toBe(seen.length);
  });

  test('is not made erased by an agent', async () => {
    const { act } = await openWard();
    const ruling = await act('admit', 'p1', { name: { $erased: 'ab'.repeat(32) } });
    expect(ruling).toMatchObject({ ruling: 'rejected', reason: 'type_mismatch' });
    expect(
      await act('assize.erase', 'p1', {
        at: ['/patients/p1'],
        entries: [],
        reason: 'x',
        values: [],
      }),
    ).toMatchObject({
      ruling: 'rejected',
      reason: 'unknown_tool',
    });
  });

  test('may not be marked where a change does not show it', () => {
    const spec = (state: z.ZodType) => () =>
      defineDomain({
        name: 'x',
        version: '1',
        state,
        processes: {},
        roles: {},
        actions: {},
        invariants: [],
      });
    expect(
      spec(z.object({ a: z.union([z.number(), z.object({ b: sensitive(z.string()) })]) })),
    ).toThrow(/union or tuple/);
    expect(spec(sensitive(z.object({ a: z.string() })))).toThrow(/whole state/);
    expect(
      spec(z.object({ a: sensitive(z.string()).optional(), b: sensitive(z.number()).nullable() })),
    ).not.toThrow();
  });

  test('repeats under the same key as the same proposal', async () => {
    const { act } = await openWard();
    const observations = [{ name: 'call', value: 'Ann', sensitive: true }];
    const first = await act(
      'admit',
      'p1',
      { name: 'David' },
      { idempotencyKey: 'k', observations },
    );
    expect(
      await act('admit', 'p1', { name: 'David' }, { idempotencyKey: 'k', observations }),
    ).toEqual(first);
  });
});

describe('an erasure', () => {
  test('takes a place with all that was ever written there, and leaves the rest', async () => {
    const { store, trajectory, act } = await openWard();
    await act('admit', 'p1', { name: 'David' });
    await act('admit', 'p2', { name: 'Maria' });
    await act('note', 'p1', { text: 'David fell' });
    await act('note', 'p1', { text: 'David stood up' });
    await act('shift', 'p1');
    const before = await store.entries('t');
    const ruling = await trajectory.erase({
      at: ['/patients/p1'],
      reason: 'he asked',
      writ: agent,
    });
    expect(ruling.ruling).toBe('committed');
    const state = trajectory.state() as {
      patients: Record<string, { name: Json; notes: Json[]; visits: number }>;
    };
    expect(isErased(state.patients['p1']?.name)).toBe(true);
    expect(state.patients['p1']?.notes.map(isErased)).toEqual([true]);
    expect(state.patients['p1']?.visits).toBe(2);
    expect(state.patients['p2']?.name).toBe('Maria');
    // Every entry is unchanged.
    expect((await store.entries('t')).slice(0, -1)).toEqual(before);
    const all = await everything(store);
    expect(all).not.toContain('David');
    expect(all).toContain('Maria');
    // Two of the first, three of the second, four of the shift: its name, arguments, notes, and the
    // note written again.
    await expectSound(store, trajectory, 7);
    expect(await deepReplay(store, 't', { domains: [ward] })).toMatchObject({
      same: true,
      preserved: true,
      taken_as_recorded: { erased: 5 },
    });
    expect((await act('note', 'p1', { text: 'back again' })).ruling).toBe('committed');
    expect((await act('correct', 'p1', { index: 0, urgent: true })).ruling).toBe('rejected');
    expect((await act('correct', 'p1', { index: 1, urgent: true })).ruling).toBe('committed');
    await expectSound(store, trajectory, 7);
  });

  test('reaches the initial state, and rejected and pending proposals', async () => {
    const { store, trajectory, act } = await openWard({
      patients: { p1: { name: 'David', visits: 0, notes: [{ text: 'allergic', urgent: true }] } },
      flagged: 0,
      agreed: 0,
    });
    const refused = await act('note', 'nobody', { text: 'secret David' });
    const flagged = await act('flag', 'p1', { text: 'David is gone' });
    expect([refused.ruling, flagged.ruling]).toEqual(['rejected', 'escalated']);
    // The pending proposal freezes the paths that an erasure would change.
    expect(
      (await trajectory.erase({ at: ['/patients/p1'], reason: 'x', writ: agent })).ruling,
    ).toBe('frozen');
    const [waiting] = trajectory.approvals.pending();
    await trajectory.approvals.reject(waiting!.id, {
      principal: 'dr-who',
      method: 'test',
      reason: 'no',
    });
    const entries = [(refused as { entry: { id: Hash } }).entry.id];
    const ruling = await trajectory.erase({
      at: ['/patients/p1'],
      entries,
      reason: 'x',
      writ: agent,
    });
    expect(ruling.ruling).toBe('committed');
    expect(await everything(store)).not.toMatch(/David|allergic/);
    await expectSound(store, trajectory, 5);
    expect(await deepReplay(store, 't', { domains: [ward] })).toMatchObject({ same: true });
  });

  test('of a pending proposal prevents its approval, and not its rejection', async () => {
    const { store, trajectory, act } = await openWard();
    await act('admit', 'p1', { name: 'David' });
    await act('flag', 'p1', { text: 'look here' });
    const [waiting] = trajectory.approvals.pending();
    const ruling = await trajectory.erase({ entries: [waiting!.id], reason: 'x', writ: agent });
    expect(ruling.ruling).toBe('committed');
    const by = { principal: 'dr-who', method: 'test' };
    await expect(trajectory.approvals.approve(waiting!.id, by)).rejects.toMatchObject({
      code: 'erased',
    });
    expect((await trajectory.approvals.reject(waiting!.id, { ...by, reason: 'gone' })).ruling).toBe(
      'rejected',
    );
    await expectSound(store, trajectory, 2);
    expect(await deepReplay(store, 't', { domains: [ward] })).toMatchObject({ same: true });
  });

  test('needs a writ for it, covering the place', async () => {
    const { trajectory, act } = await openWard();
    await act('admit', 'p1', { name: 'David' });
    const at = ['/patients/p1'];
    const erase = (actions: string[], scopes: string[]) =>
      trajectory.erase({
        at,
        reason: 'x',
        writ: writFor(`agent:${actions} ${scopes}`, { actions, scopes }),
      });
    const refused = { ruling: 'rejected', reason: 'invalid_authority' };
    expect(await erase(['note'], ['**'])).toMatchObject(refused);
    expect(await erase(['assize.erase'], ['erase:/patients/p2/**'])).toMatchObject(refused);
    expect(await erase(['assize.erase'], ['erase:/patients/p1/**'])).toMatchObject(refused);
    expect(await erase(['assize.erase'], ['erase:/patients/*'])).toMatchObject({
      ruling: 'committed',
    });
  });

  test('of nothing is an error, and so is the same again', async () => {
    const { trajectory, act } = await openWard();
    await act('admit', 'p1', { name: 'David' });
    const erase = (input: object) => trajectory.erase({ reason: 'x', writ: agent, ...input });
    await expect(erase({ at: ['/patients/p2'] })).rejects.toMatchObject({
      code: 'nothing_to_erase',
      message: expect.stringContaining('no erasable value at /patients/p2.'),
    });
    await expect(erase({ entries: ['ab'.repeat(32)] })).rejects.toMatchObject({
      code: 'not_found',
    });
    for (const bad of [
      {},
      { at: [''] },
      { at: ['patients'] },
      { at: ['/x'], reason: ' ' },
      { entries: ['x'] },
      { at: '/x' },
    ])
      await expect(erase(bad)).rejects.toMatchObject({ code: 'bad_intent' });
    for (const none of [{ reason: undefined }, { reason: '' }])
      await expect(erase({ at: ['/patients/p1'], ...none })).rejects.toThrow(
        '`reason` must be text of 1 to',
      );
    const erased = (await erase({ at: ['/patients/p1'] })) as { entry: { id: string } };
    await expect(erase({ at: ['/patients/p1'] })).rejects.toMatchObject({
      code: 'nothing_to_erase',
      message: `All erasable values at /patients/p1 in this trajectory were erased earlier, by ${erased.entry.id}.`,
    });
  });

  test('finds concurrent proposals, or leaves them whole', async () => {
    const { store, trajectory, act } = await openWard();
    await act('admit', 'p1', { name: 'David' });
    const notes = Array.from({ length: 20 }, (_, i) => act('note', 'p1', { text: `David ${i}` }));
    const [ruling] = await Promise.all([
      trajectory.erase({ at: ['/patients/p1'], reason: 'x', writ: agent }),
      ...notes,
      ...Array.from({ length: 20 }, (_, i) => act('note', 'p1', { text: `later ${i}` })),
    ]);
    expect(ruling.ruling).toBe('committed');
    await expectSound(store, trajectory, (await verifyStore(store))[0]!.erased);
    for (let round = 0; round < 2; round++)
      await trajectory
        .erase({ at: ['/patients/p1'], reason: 'x', writ: agent })
        .catch(() => undefined);
    expect(await everything(store)).not.toMatch(/David|later/);
    await expectSound(store, trajectory, (await verifyStore(store))[0]!.erased);
  });

  test('of forty in a row lets proposals through, and each needs one attempt', async () => {
    const { store, trajectory, act } = await openWard();
    const who = Array.from({ length: 40 }, (_, i) => `p${i}`);
    for (const id of who) await act('admit', id, { name: `David ${id}` });
    let searches = 0;
    const entries = store.entries.bind(store);
    store.entries = (...args) => {
      searches++;
      return entries(...args);
    };
    const rulings = await Promise.all([
      // It has already started, and is delayed.
      act('admit', 'q', { name: 'Maria' }, { idempotencyKey: 'k' }),
      ...who.map((id) => trajectory.erase({ at: [`/patients/${id}`], reason: 'x', writ: agent })),
      act('admit', 'r', { name: 'Rosa' }),
    ]);
    expect(rulings.map(({ ruling }) => ruling)).toEqual(
      Array.from({ length: 42 }, () => 'committed'),
    );
    expect(searches).toBe(40);
    store.entries = entries;
    expect(await everything(store)).not.toContain('David');
    expect(trajectory.length).toBe(1 + 40 + 40 + 2);
    expect(trajectory.state()).toMatchObject({
      patients: { q: { name: 'Maria' }, r: { name: 'Rosa' } },
    });
    await expectSound(store, trajectory, 80);
  });

  test('is frozen by a pending proposal for the same patient, and no other', async () => {
    const { store, trajectory, act } = await openWard();
    for (const id of ['p1', 'p2', 'p10']) await act('admit', id, { name: `David ${id}` });
    expect((await act('flag', 'p1', { text: 'look here' })).ruling).toBe('escalated');
    const erase = (id: string) =>
      trajectory.erase({ at: [`/patients/${id}`], reason: 'x', writ: agent });
    expect((await erase('p2')).ruling).toBe('committed');
    expect((await erase('p10')).ruling).toBe('committed');
    const { id } = trajectory.approvals.pending()[0]!;
    expect(await erase('p1')).toMatchObject({ ruling: 'frozen', by: id });
    expect(await everything(store)).toContain('David p1');
    expect(
      (await trajectory.approvals.approve(id, { principal: 'dr-who', method: 'test' })).ruling,
    ).toBe('committed');
    expect((await erase('p1')).ruling).toBe('committed');
    await expectSound(store, trajectory, 9);
  });

  test('is left alone by a branch that has erased values too', async () => {
    const { store, trajectory, act } = await openWard();
    const admitted = await act('admit', 'p1', { name: 'David' });
    const assize = runtimeOver(store, [ward]);
    const at = (admitted as { entry: { id: Hash } }).entry.id;
    const branch = await assize.branch('t', at, { trajectoryId: 'b', note: 'x' });
    await expect(
      branch.erase({ at: ['/patients/p1'], reason: 'x', writ: agent }),
    ).rejects.toMatchObject({
      code: 'nothing_to_erase',
    });
    await trajectory.erase({ at: ['/patients/p1'], reason: 'x', writ: agent });
    const again = await runtimeOver(store, [ward]).open('b');
    expect(isErased((again.state() as { patients: { p1: { name: Json } } }).patients.p1.name)).toBe(
      true,
    );
    expect(await verifyStore(store)).toMatchObject([{ valid: true }, { valid: true }]);
  });
});

describe('a text that is gone', () => {
  test('without an erasure that names it is missing, and not erased', async () => {
    const { store, trajectory, act } = await openWard();
    await act('admit', 'p1', { name: 'David' });
    await act('admit', 'p2', { name: 'Maria' });
    await trajectory.erase({ at: ['/patients/p1'], reason: 'x', writ: agent });
    const payload = (await store.entries('t', { from: 2, limit: 1 }))[0]!.payload;
    const hash = /"\$blob":"([0-9a-f]{64})"/.exec(payload)![1] as Hash;
    for (const by of [
      'ab'.repeat(32),
      (await store.head('t'))!.id,
      (await store.entries('t'))[1]!.id,
    ]) {
      const copy = new MemoryStore();
      await everything(store);
      await importLines(copy, linesOf(store));
      await copy.commit({ entries: [], blobs: [], erased: [{ hash, by }] });
      expect(await verifyStore(copy)).toMatchObject([
        { valid: false, fault: { seq: 2, code: 'blob_missing' } },
      ]);
    }
  });

  test('travels as gone: an export that is read in again is the same', async () => {
    const { store, trajectory, act } = await openWard();
    await act('admit', 'p1', { name: 'David' });
    const early = new MemoryStore();
    await everything(store);
    await importLines(early, linesOf(store));
    await act('note', 'p1', { text: 'David fell' });
    await trajectory.erase({ at: ['/patients/p1'], reason: 'x', writ: agent });
    const lines = await everything(store);
    for (const copy of [new MemoryStore(), early]) {
      await importLines(copy, linesOf(store), { erase: true });
      expect(await everything(copy)).toBe(lines);
      expect(await verifyStore(copy)).toMatchObject([{ valid: true, erased: 4 }]);
    }
  });
});
