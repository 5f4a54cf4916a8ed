import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { generateKeys, type Json } from '#canon';
import { type Domain, defineDomain, isErased, sensitive } from '#kernel';
import { exportLines, type Hash, importLines, integrateLog, type LedgerStore, type RootPayload } from '#ledger';
import { MemoryStore } from '#stores';
import { lead } from '../../tests/support/delegations.ts';
import { runtimeOver, writFor } from '../../tests/support/runtime.ts';
import { ward } from '../../tests/support/ward.ts';
import type { Assize } from './assize.ts';
import { deepReplay } from './deep-replay/index.ts';
import type { ObservationInput } from './intent.ts';
import type { Trajectory } from './trajectory.ts';
import { verifyStore } from './verify.ts';

const agent = writFor('agent:nurse');

interface Ward {
  readonly assize: Assize;
  readonly store: LedgerStore & MemoryStore;
  readonly trajectory: Trajectory;
  act(action: string, id: string, args?: unknown, more?: object): ReturnType<Trajectory['propose']>;
}

async function openWard(initial?: unknown): Promise<Ward> {
  const store = new MemoryStore();
  const assize = runtimeOver(store, [ward]);
  const trajectory = await assize.create(ward, {
    trajectoryId: 't',
    ...(initial === undefined ? {} : { initial }),
  });
  return {
    assize,
    store,
    trajectory,
    act: (action, id, args = {}, more = {}) =>
      trajectory.propose({ action, role: { name: 'nurse', params: { id } }, args, writ: agent, ...more }),
  };
}

/** Everything that the store has, as text. */
async function everything(store: MemoryStore): Promise<string> {
  await integrateLog(store);
  let text = '';
  for await (const line of exportLines(store)) text += line;
  return text;
}

async function* linesOf(store: MemoryStore): AsyncGenerator<string> {
  for await (const line of exportLines(store)) yield line.slice(0, -1);
}

async function reopened(store: MemoryStore): Promise<Trajectory> {
  return runtimeOver(store, [ward]).open('t');
}

async function expectSound(store: MemoryStore, trajectory: Trajectory, erased: number): Promise<void> {
  const again = await reopened(store);
  expect(again.state()).toEqual(trajectory.state());
  expect(again.head).toBe(trajectory.head);
  expect(await verifyStore(store)).toMatchObject([{ valid: true, erased, entries: trajectory.length }]);
}

describe('what is sensitive', () => {
  test('stands in no entry, and in blobs only with a salt', async () => {
    const { store, trajectory, act } = await openWard({
      patients: { p0: { name: 'Rosalind', visits: 0, notes: [{ text: 'allergic', urgent: true }] } },
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
    const salted = (await everything(store)).split('\n').filter((line) => /David|Ann|Eve|Rosalind|allergic/.test(line));
    expect(salted).toHaveLength(9);
    for (const line of salted) expect(line).toMatch(/^\{"blob":\{"salt":"[0-9a-f]{32}","value":/);
    await expectSound(store, trajectory, 0);
    expect(await deepReplay(store, 't', { domains: [ward] })).toMatchObject({ same: true, preserved: true });
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
      await act('assize.erase', 'p1', { at: ['/patients/p1'], entries: [], reason: 'x', values: [] }),
    ).toMatchObject({
      ruling: 'rejected',
      reason: 'unknown_tool',
    });
  });

  test('may not be marked where a change does not show it', () => {
    const spec = (state: z.ZodType) => () =>
      defineDomain({ name: 'x', version: '1', state, processes: {}, roles: {}, actions: {}, invariants: [] });
    expect(spec(z.object({ a: z.union([z.number(), z.object({ b: sensitive(z.string()) })]) }))).toThrow(
      /union or tuple/,
    );
    expect(spec(sensitive(z.object({ a: z.string() })))).toThrow(/whole state/);
    expect(spec(z.object({ a: sensitive(z.string()).optional(), b: sensitive(z.number()).nullable() }))).not.toThrow();
  });

  test('repeats under the same key as the same proposal', async () => {
    const { act } = await openWard();
    const observations = [{ name: 'call', value: 'Ann', sensitive: true }];
    const first = await act('admit', 'p1', { name: 'David' }, { idempotencyKey: 'k', observations });
    expect(await act('admit', 'p1', { name: 'David' }, { idempotencyKey: 'k', observations })).toEqual(first);
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
    const ruling = await trajectory.erase({ at: ['/patients/p1'], reason: 'he asked', writ: agent });
    expect(ruling.ruling).toBe('committed');
    const state = trajectory.state() as { patients: Record<string, { name: Json; notes: Json[]; visits: number }> };
    expect(isErased(state.patients['p1']?.name)).toBe(true);
    expect(state.patients['p1']?.notes.map(isErased)).toEqual([true]);
    expect(state.patients['p1']?.visits).toBe(2);
    expect(state.patients['p2']?.name).toBe('Maria');
    // Every entry is as it was.
    expect((await store.entries('t')).slice(0, -1)).toEqual(before);
    const all = await everything(store);
    expect(all).not.toContain('David');
    expect(all).toContain('Maria');
    // Two of the first, three of the second, four of the shift: its name, arguments, notes, and the note written again.
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

  test('reaches what an initial state had, what was refused, and what waits', async () => {
    const { store, trajectory, act } = await openWard({
      patients: { p1: { name: 'David', visits: 0, notes: [{ text: 'allergic', urgent: true }] } },
      flagged: 0,
      agreed: 0,
    });
    const refused = await act('note', 'nobody', { text: 'secret David' });
    const flagged = await act('flag', 'p1', { text: 'David is gone' });
    expect([refused.ruling, flagged.ruling]).toEqual(['rejected', 'escalated']);
    // What waits freezes what an erasure would touch.
    expect((await trajectory.erase({ at: ['/patients/p1'], reason: 'x', writ: agent })).ruling).toBe('frozen');
    const [waiting] = trajectory.pending();
    await trajectory.reject(waiting!.id, { principal: 'dr-who', method: 'test', reason: 'no' });
    const entries = [(refused as { entry: { id: Hash } }).entry.id];
    const ruling = await trajectory.erase({ at: ['/patients/p1'], entries, reason: 'x', writ: agent });
    expect(ruling.ruling).toBe('committed');
    expect(await everything(store)).not.toMatch(/David|allergic/);
    await expectSound(store, trajectory, 5);
    expect(await deepReplay(store, 't', { domains: [ward] })).toMatchObject({ same: true });
  });

  test('of what waits makes its approval impossible, and not its rejection', async () => {
    const { store, trajectory, act } = await openWard();
    await act('admit', 'p1', { name: 'David' });
    await act('flag', 'p1', { text: 'look here' });
    const [waiting] = trajectory.pending();
    const ruling = await trajectory.erase({ entries: [waiting!.id], reason: 'x', writ: agent });
    expect(ruling.ruling).toBe('committed');
    const by = { principal: 'dr-who', method: 'test' };
    await expect(trajectory.approve(waiting!.id, by)).rejects.toMatchObject({ code: 'erased' });
    expect((await trajectory.reject(waiting!.id, { ...by, reason: 'gone' })).ruling).toBe('rejected');
    await expectSound(store, trajectory, 2);
    expect(await deepReplay(store, 't', { domains: [ward] })).toMatchObject({ same: true });
  });

  test('needs a writ for it, covering the place', async () => {
    const { trajectory, act } = await openWard();
    await act('admit', 'p1', { name: 'David' });
    const at = ['/patients/p1'];
    const erase = (actions: string[], scopes: string[]) =>
      trajectory.erase({ at, reason: 'x', writ: writFor(`agent:${actions} ${scopes}`, { actions, scopes }) });
    const refused = { ruling: 'rejected', reason: 'invalid_authority' };
    expect(await erase(['note'], ['**'])).toMatchObject(refused);
    expect(await erase(['assize.erase'], ['erase:/patients/p2/**'])).toMatchObject(refused);
    expect(await erase(['assize.erase'], ['erase:/patients/p1/**'])).toMatchObject(refused);
    expect(await erase(['assize.erase'], ['erase:/patients/*'])).toMatchObject({ ruling: 'committed' });
  });

  test('of nothing is an error, and so is the same again', async () => {
    const { trajectory, act } = await openWard();
    await act('admit', 'p1', { name: 'David' });
    const erase = (input: object) => trajectory.erase({ reason: 'x', writ: agent, ...input });
    await expect(erase({ at: ['/patients/p2'] })).rejects.toMatchObject({
      code: 'nothing_to_erase',
      message: expect.stringContaining('nothing to erase at /patients/p2 in this trajectory: it was never there, or'),
    });
    await expect(erase({ entries: ['ab'.repeat(32)] })).rejects.toMatchObject({ code: 'not_found' });
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
      await expect(erase({ at: ['/patients/p1'], ...none })).rejects.toThrow('say why, as its reason, in 1 to');
    const erased = (await erase({ at: ['/patients/p1'] })) as { entry: { id: string } };
    await expect(erase({ at: ['/patients/p1'] })).rejects.toMatchObject({
      code: 'nothing_to_erase',
      message: `All that could be erased at /patients/p1 in this trajectory was erased before, by ${erased.entry.id}.`,
    });
  });

  test('finds what is proposed at the same time, or leaves it whole', async () => {
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
      await trajectory.erase({ at: ['/patients/p1'], reason: 'x', writ: agent }).catch(() => undefined);
    expect(await everything(store)).not.toMatch(/David|later/);
    await expectSound(store, trajectory, (await verifyStore(store))[0]!.erased);
  });

  test('of forty, one after the other, lets a proposal be ruled on, and each is made at the first try', async () => {
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
      // It has begun already, and is put off.
      act('admit', 'q', { name: 'Maria' }, { idempotencyKey: 'k' }),
      ...who.map((id) => trajectory.erase({ at: [`/patients/${id}`], reason: 'x', writ: agent })),
      act('admit', 'r', { name: 'Rosa' }),
    ]);
    expect(rulings.map(({ ruling }) => ruling)).toEqual(Array.from({ length: 42 }, () => 'committed'));
    expect(searches).toBe(40);
    store.entries = entries;
    expect(await everything(store)).not.toContain('David');
    expect(trajectory.length).toBe(1 + 40 + 40 + 2);
    expect(trajectory.state()).toMatchObject({ patients: { q: { name: 'Maria' }, r: { name: 'Rosa' } } });
    await expectSound(store, trajectory, 80);
  });

  test('is not frozen by what waits for another patient, but by what waits for the same', async () => {
    const { store, trajectory, act } = await openWard();
    for (const id of ['p1', 'p2', 'p10']) await act('admit', id, { name: `David ${id}` });
    expect((await act('flag', 'p1', { text: 'look here' })).ruling).toBe('escalated');
    const erase = (id: string) => trajectory.erase({ at: [`/patients/${id}`], reason: 'x', writ: agent });
    expect((await erase('p2')).ruling).toBe('committed');
    expect((await erase('p10')).ruling).toBe('committed');
    const { id } = trajectory.pending()[0]!;
    expect(await erase('p1')).toMatchObject({ ruling: 'frozen', by: id });
    expect(await everything(store)).toContain('David p1');
    expect((await trajectory.approve(id, { principal: 'dr-who', method: 'test' })).ruling).toBe('committed');
    expect((await erase('p1')).ruling).toBe('committed');
    await expectSound(store, trajectory, 9);
  });

  test('is left alone by a branch, which has erased values too', async () => {
    const { store, trajectory, act } = await openWard();
    const admitted = await act('admit', 'p1', { name: 'David' });
    const assize = runtimeOver(store, [ward]);
    const at = (admitted as { entry: { id: Hash } }).entry.id;
    const branch = await assize.branch('t', at, { trajectoryId: 'b', note: 'x' });
    await expect(branch.erase({ at: ['/patients/p1'], reason: 'x', writ: agent })).rejects.toMatchObject({
      code: 'nothing_to_erase',
    });
    await trajectory.erase({ at: ['/patients/p1'], reason: 'x', writ: agent });
    const again = await runtimeOver(store, [ward]).open('b');
    expect(isErased((again.state() as { patients: { p1: { name: Json } } }).patients.p1.name)).toBe(true);
    expect(await verifyStore(store)).toMatchObject([{ valid: true }, { valid: true }]);
  });
});

test('a child whose root was lost begins with the same salted hashes, and not with what they hide', async () => {
  const lead = generateKeys();
  const granted = writFor(lead.publicKey, { trajectory: 't' });
  const store = new MemoryStore();
  const trajectory = await runtimeOver(store, [ward]).create(ward, { trajectoryId: 't', writs: [granted] });
  const patients = { p1: { name: 'David', visits: 0, notes: [] } };
  const initial = { patients, flagged: 0, agreed: 0 };
  const terms = { task: 'x', writ: granted, subject: 'helper', childTrajectoryId: 'c', initial };
  await trajectory.delegate({ ...terms, privateKey: lead.privateKey });
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

describe('what was erased is forgotten', () => {
  test('by branches, open or not, before and after, and does not come back through them', async () => {
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
      expect((await branch.propose({ action: 'correct', role, args, writ: agent })).ruling).toBe('rejected');
    }
    expect(await everything(store)).not.toContain('David');
  });

  test('by a process that is behind: it reads anew, and erases what the other one wrote', async () => {
    const { store, trajectory, act } = await openWard();
    await act('admit', 'p1', { name: 'David' });
    const other = await reopened(store);
    await act('note', 'p1', { text: 'David fell' });
    expect((await other.erase({ at: ['/patients/p1'], reason: 'x', writ: agent })).ruling).toBe('committed');
    expect(await everything(store)).not.toContain('David');
    await act('shift', 'p1');
    await expectSound(store, trajectory, 4);
  });

  test('by snapshots that are kept elsewhere', async () => {
    const [store, elsewhere] = [new MemoryStore(), new MemoryStore()];
    const trajectory = await runtimeOver(store, [ward], { snapshots: elsewhere }).create(ward, { trajectoryId: 't' });
    const role = { name: 'nurse', params: { id: 'p1' } };
    await trajectory.propose({ action: 'admit', role, args: { name: 'David' }, writ: agent });
    let dropped = 0;
    elsewhere.dropSnapshots = async () => void dropped++;
    await trajectory.erase({ at: ['/patients/p1'], reason: 'x', writ: agent });
    expect(dropped).toBe(1);
  });

  test('also where the same was written again, which changed nothing', async () => {
    const { store, trajectory, act } = await openWard();
    for (let i = 0; i < 2; i++) await act('admit', 'p1', { name: 'David' });
    await act('admit', 'p1', { name: 5 });
    await trajectory.erase({ at: ['/patients/p1'], reason: 'x', writ: agent });
    expect(await everything(store)).not.toContain('David');
    expect(await deepReplay(store, 't', { domains: [ward] })).toMatchObject({ same: true });
  });
});

describe('an erasure is not to be bent', () => {
  test('its approval is not replaced, and no state is made to look erased', async () => {
    const { trajectory, act } = await openWard();
    await act('admit', 'p1', { name: 'David' });
    const careful = writFor('agent:careful', { require_approval: ['assize.erase'] });
    await trajectory.erase({ at: ['/patients/p1'], reason: 'x', writ: careful });
    const by = { principal: 'dr-who', method: 'test' };
    const [waiting] = trajectory.pending();
    // Each of them is inside of what is frozen for it.
    for (const replacement of [[], [{ op: 'replace', path: '/patients/p1/name', value: 'Eve' }] as const])
      await expect(trajectory.approve(waiting!.id, { ...by, replacement })).rejects.toMatchObject({
        code: 'invalid_replacement',
      });
    expect(trajectory.state()).toMatchObject({ patients: { p1: { name: 'David' } } });
    expect((await trajectory.approve(waiting!.id, by)).ruling).toBe('committed');
    expect(JSON.stringify(trajectory.state())).not.toContain('David');
    const forged = {
      patients: { p1: { name: { $erased: 'ab'.repeat(32) }, visits: 0, notes: [] } },
      flagged: 0,
      agreed: 0,
    };
    const create = runtimeOver(new MemoryStore(), [ward]).create(ward, { initial: forged });
    await expect(create).rejects.toMatchObject({ code: 'bad_option' });
  });

  describe('a value that is said to be erased where anything may stand', () => {
    const anything = defineDomain<any, any>({
      ...ward.declared,
      state: (ward.declared.state as unknown as z.ZodObject).extend({ data: z.unknown() }),
      initial: { patients: {}, flagged: 0, agreed: 0, data: null },
      processes: {
        keeping: { writes: ['/data'] },
        admitting: { writes: ['/patients/{id}'] },
        flagging: { writes: ['/flagged', '/data', '/patients/{id}'] },
      },
      roles: { nurse: { params: ['id'], processes: ['keeping', 'admitting', 'flagging'] } },
      actions: {
        ...ward.declared.actions,
        keep: {
          process: 'keeping',
          args: z.object({ any: z.any(), unknown: z.unknown() }),
          apply: (state: any, args: any, { observations }: any) => {
            state.data = [args.any, args.unknown, ...observations];
          },
        },
      },
    }) as unknown as Domain;
    const erased = { $erased: 'ab'.repeat(32) };
    const granted = writFor(lead.publicKey, { trajectory: 't' });
    const role = { name: 'nurse', params: { id: 'p1' } };

    async function begun() {
      const store = new MemoryStore();
      const assize = runtimeOver(store, [anything]);
      const trajectory = await assize.create(anything, { trajectoryId: 't', writs: [granted] });
      return { store, assize, trajectory };
    }

    test.each([
      ['itself', erased],
      ['in a list', [1, erased]],
      ['deep down', { a: [{ b: erased }] }],
    ])('is refused in a proposal, %s', async (_, value) => {
      const { store, trajectory } = await begun();
      const keep = (args: object, ...observations: ObservationInput[]) =>
        trajectory.propose({ action: 'keep', role, args, writ: agent, observations });
      for (const asked of [
        keep({ any: value, unknown: 1 }),
        keep({ any: 1, unknown: value }),
        keep({ any: 1, unknown: 1 }, { name: 'o', value }),
        keep({ any: 1, unknown: 1 }, { name: 'o', value: 1 }, { name: 'p', value, sensitive: true }),
      ])
        expect(await asked).toMatchObject({
          ruling: 'rejected',
          reason: 'type_mismatch',
          detail: expect.stringContaining('which only an erasure leaves'),
        });
      expect(trajectory.state()).toMatchObject({ data: null });
      expect(await deepReplay(store, 't', { domains: [anything] })).toMatchObject({ same: true, compared: 5 });
      expect((await keep({ any: { $erased: 'x' }, unknown: 1 })).ruling).toBe('committed');
    });

    test.each([
      ['itself', erased],
      ['in a list', [1, erased]],
      ['deep down', { a: [{ b: erased }] }],
    ])('is refused in a replacement and in a beginning, %s', async (_, value) => {
      const { store, assize, trajectory } = await begun();
      await trajectory.propose({ action: 'flag', role, args: { text: 'x' }, writ: agent });
      const [waiting] = trajectory.pending();
      const replaced = (data: Json) => {
        const replacement = [{ op: 'replace', path: '/data', value: data }] as const;
        return trajectory.approve(waiting!.id, { principal: 'dr-who', method: 'test', replacement });
      };
      await expect(replaced(value)).rejects.toThrow('which only an erasure leaves');
      const initial = { ...(anything.initial as object), data: value };
      await expect(assize.create(anything, { initial })).rejects.toThrow('said to be erased');
      await replaced(1);
      const task = { task: 'x', writ: granted, subject: 'helper', initial, privateKey: lead.privateKey };
      await expect(trajectory.delegate(task)).rejects.toThrow('said to be erased');
      expect(await store.trajectories()).toMatchObject([{ entries: 3 }]);
    });
  });

  test('why is what was said when it was asked for, and under which writ', async () => {
    const { store, trajectory, act } = await openWard();
    await act('admit', 'a', { name: 'Ada', note: 'n' });
    const input = { at: ['/patients/a'], reason: 'she asked', writ: agent };
    const ruling = trajectory.erase(input);
    Object.assign(input, { reason: 7, writ: 'none' });
    expect(await ruling).toMatchObject({ ruling: 'committed' });
    const [, , erasure] = await store.entries('t');
    expect(JSON.parse(erasure?.payload as string)).toMatchObject({ action: { args: { reason: 'she asked' } } });
  });

  test('the mark stays, whatever is added to the schema', () => {
    const marked = sensitive(z.string());
    for (const schema of [
      marked.describe('x'),
      marked.meta({ title: 'x' }),
      marked.refine(() => true),
      marked.optional(),
    ]) {
      const domain = defineDomain({
        name: 'x',
        version: '1',
        state: z.object({ a: schema }),
        processes: { p: { writes: ['/a'] } },
        roles: { r: { processes: ['p'] } },
        actions: { set: { process: 'p', args: z.object({ a: schema }), apply: () => {} } },
        invariants: [],
      });
      expect(domain.sensitive).toBeDefined();
      expect([...domain.sensitiveArgs]).toEqual(['set']);
    }
  });

  test('a counselor’s own state makes the same entry in whatever order it was written', async () => {
    const patient = { name: 'Maria', notes: [{ text: 'fell', urgent: true }], visits: 2 };
    const { name, notes, visits } = patient;
    const heads: string[] = [];
    for (const value of [patient, { visits, notes: [{ urgent: true, text: 'fell' }], name }, { notes, visits, name }]) {
      const { store, trajectory, act } = await openWard();
      await act('flag', 'p1', { text: 'x' });
      const replacement = [{ op: 'add', path: '/patients/p1', value }] as const;
      const [waiting] = trajectory.pending();
      await trajectory.approve(waiting!.id, { principal: 'dr-who', method: 'test', replacement });
      heads.push(trajectory.head);
      await expectSound(store, trajectory, 0);
      expect(await deepReplay(store, 't', { domains: [ward] })).toMatchObject({ same: true, preserved: true });
    }
    expect(new Set(heads).size).toBe(1);
  });

  test('a slip in the name of an action hides its arguments all the same', async () => {
    const { store, act } = await openWard();
    expect((await act('admitt', 'p1', { name: 'David' })).ruling).toBe('rejected');
    for (const { payload } of await store.entries('t')) expect(payload).not.toContain('David');
  });

  test('a sensitive observation has a value of its own', async () => {
    const { act } = await openWard();
    const observations = [{ name: 'o', value: 'David', oracle_key: 'ab'.repeat(32), sensitive: true }];
    await expect(act('admit', 'p1', { name: 'x' }, { observations })).rejects.toMatchObject({ code: 'bad_intent' });
  });

  test('a part of a sensitive value is not erased by itself', async () => {
    const { trajectory, act } = await openWard();
    await act('admit', 'p1', { name: 'David' });
    await act('note', 'p1', { text: 'David fell' });
    const erasure = trajectory.erase({ at: ['/patients/p1/notes/0/text'], reason: 'x', writ: agent });
    await expect(erasure).rejects.toThrow('a part of the sensitive value at /patients/p1/notes/0,');
  });

  test('an import takes no text away, unless it is trusted', async () => {
    const { store, act } = await openWard();
    await act('admit', 'p1', { name: 'David' });
    const name = /"\$blob":"([0-9a-f]{64})","bytes":59/.exec((await store.entries('t'))[1]!.payload)![1] as Hash;
    await everything(store);
    const early = new MemoryStore();
    await importLines(early, linesOf(store));
    const later = await reopened(store);
    await later.erase({ at: ['/patients/p1'], reason: 'x', writ: agent });
    await everything(store);
    expect(await importLines(early, linesOf(store))).toEqual({
      entries: 3,
      imported: 1,
      beliefs: 0,
      marked: 0,
      unerased: 2,
    });
    expect(await early.blob(name)).toContain('David');
    expect(await importLines(early, linesOf(store), { erase: true })).toEqual({
      entries: 3,
      imported: 0,
      beliefs: 0,
      marked: 0,
      unerased: 0,
    });
    expect(await early.blob(name)).toBeUndefined();
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
    for (const by of ['ab'.repeat(32), (await store.head('t'))!.id, (await store.entries('t'))[1]!.id]) {
      const copy = new MemoryStore();
      await everything(store);
      await importLines(copy, linesOf(store));
      await copy.commit({ entries: [], blobs: [], erased: [{ hash, by }] });
      expect(await verifyStore(copy)).toMatchObject([{ valid: false, fault: { seq: 2, code: 'blob_missing' } }]);
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

/** Steps on three patients, and erasures among them. */
const steps = fc.array(
  fc.record({
    what: fc.constantFrom('admit', 'note', 'note', 'correct', 'shift', 'dismiss', 'erase'),
    who: fc.constantFrom('a', 'b', 'a/b'),
  }),
  { minLength: 1, maxLength: 25 },
);

test('whatever is done and erased in between, nothing erased is left, nothing else is lost, and all verifies (property)', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (list) => {
      const { store, trajectory, act } = await openWard();
      /** Texts that were given, by patient; erased ones are in `gone`. */
      const given = new Map<string, string[]>();
      const gone: string[] = [];
      let n = 0;
      for (const { what, who } of list) {
        const text = `text-${n++}-`;
        if (what === 'erase') {
          const at = [`/patients/${who.replace('/', '~1')}`];
          await trajectory.erase({ at, reason: 'x', writ: agent }).catch((error: { code?: string }) => {
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
      expect(await deepReplay(store, 't', { domains: [ward] })).toMatchObject({ same: true, preserved: true });
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
  const nameIn = (trajectory: Trajectory, id: string) => (trajectory.state() as any).patients[id].name;

  test('each has its own text, also where it is the same: to erase one leaves the other', async () => {
    const store = new MemoryStore();
    const begin = (trajectoryId: string) =>
      runtimeOver(store, [ward]).create(ward, {
        trajectoryId,
        initial: { ...(ward.initial as object), patients: { p0: { name: 'David', visits: 0, notes: [] } } } as never,
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
      expect(await admit(await runtimeOver(store, [ward]).open('t'), id)).toMatchObject({ ruling: 'committed' });
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
