import { importLines } from '@assize/audit/internal/export';
import { deepReplay } from '@assize/audit/internal/replay';
import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Json } from '#base';
import { type Domain, defineDomain, sensitive } from '#kernel';
import type { Hash } from '#ledger';
import { ward } from '../../../../../tests/support/clinic/ward.ts';
import {
  agent,
  everything,
  expectSound,
  linesOf,
  openWard,
  reopened,
} from '../../../../../tests/support/clinic/ward-with-erasures.ts';
import { lead } from '../../../../../tests/support/ledger/delegations.ts';
import { runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import type { ObservationInput } from '../records/intent.ts';

describe('an erasure is not to be bent', () => {
  test('its approval is not replaced, and no state is made to look erased', async () => {
    const { trajectory, act } = await openWard();
    await act('admit', 'p1', { name: 'David' });
    const careful = writFor('agent:careful', { require_approval: ['assize.erase'] });
    await trajectory.erase({ at: ['/patients/p1'], reason: 'x', writ: careful });
    const by = { principal: 'dr-who', method: 'test' };
    const [waiting] = trajectory.approvals.pending();
    // Each is inside of the frozen footprint.
    for (const replacement of [
      [],
      [{ op: 'replace', path: '/patients/p1/name', value: 'Eve' }] as const,
    ])
      await expect(
        trajectory.approvals.approve(waiting!.id, { ...by, replacement }),
      ).rejects.toMatchObject({
        code: 'invalid_state',
        message: expect.stringContaining('An erasure cannot be replaced. Approve or reject it.'),
        name: 'KernelError',
      });
    expect(trajectory.state()).toMatchObject({ patients: { p1: { name: 'David' } } });
    expect((await trajectory.approvals.approve(waiting!.id, by)).ruling).toBe('committed');
    expect(JSON.stringify(trajectory.state())).not.toContain('David');
    const forged = {
      patients: { p1: { name: { $erased: 'ab'.repeat(32) }, visits: 0, notes: [] } },
      flagged: 0,
      agreed: 0,
    };
    const create = runtimeOver(new MemoryStore(), [ward]).create(ward, { initial: forged });
    await expect(create).rejects.toMatchObject({
      code: 'bad_argument',
      message: expect.stringContaining('The options are not valid'),
    });
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
        keep(
          { any: 1, unknown: 1 },
          { name: 'o', value: 1 },
          { name: 'p', value, sensitive: true },
        ),
      ])
        expect(await asked).toMatchObject({
          ruling: 'rejected',
          reason: 'type_mismatch',
          detail: expect.stringContaining('erasure writes that mark'),
        });
      expect(trajectory.state()).toMatchObject({ data: null });
      expect(await deepReplay(store, 't', { domains: [anything] })).toMatchObject({
        same: true,
        compared: 5,
      });
      expect((await keep({ any: { $erased: 'x' }, unknown: 1 })).ruling).toBe('committed');
    });

    test.each([
      ['itself', erased],
      ['in a list', [1, erased]],
      ['deep down', { a: [{ b: erased }] }],
    ])('is refused in a replacement and in a beginning, %s', async (_, value) => {
      const { store, assize, trajectory } = await begun();
      await trajectory.propose({ action: 'flag', role, args: { text: 'x' }, writ: agent });
      const [waiting] = trajectory.approvals.pending();
      const replaced = (data: Json) => {
        const replacement = [{ op: 'replace', path: '/data', value: data }] as const;
        return trajectory.approvals.approve(waiting!.id, {
          principal: 'dr-who',
          method: 'test',
          replacement,
        });
      };
      await expect(replaced(value)).rejects.toThrow('erasure writes that mark');
      const initial = { ...(anything.initial as object), data: value };
      await expect(assize.create(anything, { initial })).rejects.toThrow('marked as erased');
      await replaced(1);
      const task = {
        task: 'x',
        writ: granted,
        subject: 'helper',
        initial,
        privateKey: lead.privateKey,
      };
      await expect(trajectory.delegations.delegate(task)).rejects.toThrow('marked as erased');
      expect(await store.trajectories()).toMatchObject([{ entries: 3 }]);
    });
  });

  test('the reason and the writ are recorded as of the call', async () => {
    const { store, trajectory, act } = await openWard();
    await act('admit', 'a', { name: 'Ada', note: 'n' });
    const input = { at: ['/patients/a'], reason: 'she asked', writ: agent };
    const ruling = trajectory.erase(input);
    Object.assign(input, { reason: 7, writ: 'none' });
    expect(await ruling).toMatchObject({ ruling: 'committed' });
    const [, , erasure] = await store.entries('t');
    expect(JSON.parse(erasure?.payload as string)).toMatchObject({
      action: { args: { reason: 'she asked' } },
    });
  });

  test('the mark survives every addition to the schema', () => {
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

  test('a counselor’s own state makes the same entry for any key order', async () => {
    const patient = { name: 'Maria', notes: [{ text: 'fell', urgent: true }], visits: 2 };
    const { name, notes, visits } = patient;
    const heads: string[] = [];
    for (const value of [
      patient,
      { visits, notes: [{ urgent: true, text: 'fell' }], name },
      { notes, visits, name },
    ]) {
      const { store, trajectory, act } = await openWard();
      await act('flag', 'p1', { text: 'x' });
      const replacement = [{ op: 'add', path: '/patients/p1', value }] as const;
      const [waiting] = trajectory.approvals.pending();
      await trajectory.approvals.approve(waiting!.id, {
        principal: 'dr-who',
        method: 'test',
        replacement,
      });
      heads.push(trajectory.head);
      await expectSound(store, trajectory, 0);
      expect(await deepReplay(store, 't', { domains: [ward] })).toMatchObject({
        same: true,
        preserved: true,
      });
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
    const observations = [
      { name: 'o', value: 'David', oracle_key: 'ab'.repeat(32), sensitive: true },
    ];
    await expect(act('admit', 'p1', { name: 'x' }, { observations })).rejects.toMatchObject({
      code: 'bad_intent',
    });
  });

  test('a part of a sensitive value is not erased by itself', async () => {
    const { trajectory, act } = await openWard();
    await act('admit', 'p1', { name: 'David' });
    await act('note', 'p1', { text: 'David fell' });
    const erasure = trajectory.erase({
      at: ['/patients/p1/notes/0/text'],
      reason: 'x',
      writ: agent,
    });
    await expect(erasure).rejects.toThrow('a part of the sensitive value at /patients/p1/notes/0,');
  });

  test('an import takes no text away, unless it is trusted', async () => {
    const { store, act } = await openWard();
    await act('admit', 'p1', { name: 'David' });
    const name = /"\$blob":"([0-9a-f]{64})","bytes":59/.exec(
      (await store.entries('t'))[1]!.payload,
    )![1] as Hash;
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
