import { deepReplay } from '@assize/audit/internal/replay';
import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Policy, writId } from '#authority';
import { hashText } from '#canon';
import { declareTool } from '#effects';
import { defineDomain, escalate, pass } from '#kernel';
import { Replayer, verifyTrajectory } from '#ledger';
import type { TransactionOptions } from '#runtime';
import { runtimeOver, writFor } from '../../../../../../tests/support/ledger/runtime.ts';
import { tally } from '../../../../../../tests/support/tools/effect-sink.ts';

import {
  COUNT,
  codeOf,
  stage,
  writ,
} from '../../../../../../tests/support/tools/transaction-stage.ts';

/** Returns the decision for one tool, and allows all others. */
function policyFor(decision: 'needs_approval' | 'deny'): Policy {
  return {
    id: 'test',
    digest: hashText(decision),
    evaluate: ({ action }) => ({
      decision: action === 'irreversible.buffered' ? decision : 'allow',
      reasons: [],
      errors: [],
    }),
  };
}

/** Counts the items that a transaction has looked at. */
const shelf = defineDomain({
  name: 'shelf',
  version: '1',
  state: z.object({ counted: z.record(z.string(), z.number()) }),
  initial: { counted: {} },
  processes: { counting: { writes: ['/counted/*'] } },
  roles: { clerk: { processes: ['counting'] } },
  actions: {
    count: {
      process: 'counting',
      args: z.object({}),
      apply: (state, _args, { observations }) => {
        const values = new Map(observations.map(({ name, value }) => [name, value]));
        for (const n of [0, 1]) {
          const { item } = values.get(`stock.look#${n}.input`) as { item: string };
          state.counted[item] = values.get(`stock.look#${n}`) as number;
        }
      },
    },
  },
  invariants: [],
});

const salted = { $blob: expect.any(String), bytes: expect.any(Number), salted: true };

describe('a transaction', () => {
  test('commits state and effects as one entry that names each effect', async () => {
    const { trajectory, sink, all } = await stage();
    const outcome = await trajectory.transaction(all, async (tx) => {
      expect(await tx.call('reversible.externalised', { what: 'a' })).toEqual({ did: 'a' });
      expect(sink.standing('a')).toBe(1);
      expect(await tx.call('irreversible.buffered', { what: 'b' })).toBe(null);
      expect(sink.standing('b')).toBe(0);
      tx.propose(COUNT);
      return 'done';
    });
    expect(outcome).toMatchObject({
      ruling: { ruling: 'committed' },
      value: 'done',
      epoch: 1,
      effects: 'settled',
    });
    expect([sink.standing('a'), sink.standing('b')]).toEqual([1, 1]);
    expect(trajectory.state()).toEqual({ done: { order: 1 } });
    const { ruling } = outcome;
    if (ruling.ruling !== 'committed') throw new Error('it was not');
    const { delta, observations } = JSON.parse(ruling.entry.payload);
    expect(delta.effects).toEqual([
      {
        id: sink.log[0]?.key,
        effect: { $blob: expect.any(String), bytes: expect.any(Number), salted: true },
      },
      {
        id: sink.log[1]?.key,
        effect: { $blob: expect.any(String), bytes: expect.any(Number), salted: true },
      },
    ]);
    expect(observations).toEqual([{ name: 'reversible.externalised#0', value: { did: 'a' } }]);
  });

  test('keeps its options as given, despite later use of their object', async () => {
    const { trajectory, sink, all } = await stage();
    const options: { -readonly [option in keyof TransactionOptions]: TransactionOptions[option] } =
      { ...all };
    const made = ['a', 'b', 'c'].map((what) => {
      options.name = what;
      return trajectory.transaction(options, async (tx) => {
        await tx.call('reversible.buffered', { what });
        tx.propose({ ...COUNT, args: what });
        return what;
      });
    });
    options.writes = [];
    options.principal = 'mallory';
    options.writ = 'none';
    expect(await Promise.all(made)).toMatchObject([{ value: 'a' }, { value: 'b' }, { value: 'c' }]);
    expect(['a', 'b', 'c'].map((what) => sink.times('do', what))).toEqual([1, 1, 1]);
    expect(trajectory.state()).toEqual({ done: { a: 1, b: 1, c: 1 } });
  });

  test('is committed with an action only; other proposal fields are ignored', async () => {
    const { store, trajectory } = await stage();
    const [alice, mallory] = [writFor('alice'), writFor('mallory')];
    const since = '0'.repeat(64);
    const more = {
      writ: mallory,
      principal: 'mallory',
      idempotencyKey: 'hers',
      precondition: { since, paths: [''] },
    };
    const transact = (name: string) =>
      trajectory.transaction({ writ: alice, writes: ['test:**'], name }, async (tx) => {
        await tx.call('reversible.externalised', { what: 'a' });
        tx.propose({ action: 'count', role: 'counter', args: name, ...more } as never);
      });
    for (const name of ['one', 'two'])
      expect((await transact(name)).ruling.ruling).toBe('committed');
    const [, ...commits] = (await store.entries('t')).map(({ payload }) => JSON.parse(payload));
    const named = commits.filter(({ action }) => action.name === 'count');
    expect(named.map(({ writ_id }) => writ_id)).toEqual([writId(alice), writId(alice)]);
    for (const intent of [null, 7, 'count'])
      await expect(
        trajectory.transaction({ writ: alice, retries: 0 }, (tx) => tx.propose(intent as never)),
      ).rejects.toMatchObject({ code: 'bad_intent' });
  });

  test('has observations with names that other proposals may not use', async () => {
    const { trajectory } = await stage();
    const observed = (name: string) =>
      trajectory.propose({
        action: 'count',
        role: 'counter',
        args: 'x',
        writ: writFor('alice'),
        observations: [{ name, value: 1 }],
      });
    for (const name of [
      'reversible.externalised#0',
      'a#12',
      'a.b_c#1.0/2',
      'a#1.0/2.1/3',
      'a.b#1.input',
      'assize.failure',
      'assize.x',
    ])
      await expect(observed(name)).rejects.toMatchObject({
        code: 'bad_intent',
        message: expect.stringContaining(name),
      });
    for (const name of [
      'a',
      '#0',
      'A#0',
      'a#',
      'a#b',
      'a #0',
      'a#0 ',
      'a#1/2',
      'a.input',
      'a#1.inputs',
      'ticket 12',
      'assize',
      'my assize.x',
    ])
      expect(await observed(name)).toMatchObject({ ruling: 'committed' });
  });

  test('stores a sensitive tool’s answer so that it cannot be guessed', async () => {
    const read = (name: string, sensitive: boolean) =>
      declareTool({
        name,
        input: z.strictObject({}),
        class: 'read',
        sensitive,
        reads: ['test:x'],
        execute: () => 'the PIN',
      });
    const { trajectory, all, store } = await stage({
      tools: [read('plain', false), read('secret', true)],
    });
    await trajectory.transaction(all, async (tx) => {
      expect([await tx.call('plain', {}), await tx.call('secret', {})]).toEqual([
        'the PIN',
        'the PIN',
      ]);
      tx.propose(COUNT);
    });
    const [row] = (await store.entries('t')).slice(-1);
    expect(JSON.parse(row!.payload).observations).toEqual([
      { name: 'plain#0.input', value: salted },
      { name: 'plain#0', value: 'the PIN' },
      { name: 'secret#1.input', value: salted },
      { name: 'secret#1', value: salted },
    ]);
  });

  test('gives an action the input and the answer of each read', async () => {
    const look = declareTool({
      name: 'stock.look',
      input: z.strictObject({ item: z.string() }),
      class: 'read',
      reads: ['stock:{item}'],
      execute: ({ item }) => item.length,
    });
    const writ = writFor('alice');
    const store = new MemoryStore();
    const assize = runtimeOver(store, [shelf], { tools: [look] });
    const trajectory = await assize.create(shelf, { trajectoryId: 't', writs: [writ] });
    const { ruling } = await trajectory.transaction({ writ, reads: ['stock:**'] }, async (tx) => {
      await tx.call('stock.look', { item: 'lamp' });
      await tx.call('stock.look', { item: 'sofa' });
      tx.propose({ action: 'count', role: 'clerk', args: {} });
    });
    expect(ruling.ruling).toBe('committed');
    expect(trajectory.state()).toEqual({ counted: { lamp: 4, sofa: 4 } });
    expect(await deepReplay(store, 't', { domains: [shelf] })).toMatchObject({ differences: [] });
  });

  test.each([
    ['its body throws', (tx: any) => Promise.reject(new Error(`no ${tx.epoch}`)), 'no 1'],
    ['it does not say what it commits with', () => undefined, 'bad_intent'],
    ['what it commits with is nothing', (tx: any) => tx.propose(null), 'bad_intent'],
    [
      'what it commits with is refused',
      (tx: any) => tx.propose({ ...COUNT, args: 'forbidden' }),
      { ruling: { ruling: 'rejected' } },
    ],
    [
      'its action is unknown',
      (tx: any) => tx.propose({ ...COUNT, action: 'fly' }),
      { ruling: { ruling: 'rejected' } },
    ],
  ])('is undone, the last first, where %s', async (_, body, expected) => {
    const { trajectory, sink, all, assize } = await stage();
    const made = trajectory.transaction(all, async (tx) => {
      await tx.call('reversible.externalised', { what: 'a' });
      await tx.call('irreversible.buffered', { what: 'never' });
      await tx.call('reversible.externalised', { what: 'b' });
      await body(tx);
    });
    const outcome = await codeOf(made);
    if (typeof expected === 'string') expect(outcome).toBe(expected);
    else expect(outcome).toMatchObject(expected);
    expect(sink.log.map(({ did, what }) => `${did} ${what}`)).toEqual([
      'do a',
      'do b',
      'undo b',
      'undo a',
    ]);
    expect(trajectory.state()).toEqual({ done: {} });
    expect(await assize.recoverEffects()).toEqual([]);
    // Its claims are free.
    const next = await trajectory.transaction(all, (tx) => tx.propose(COUNT));
    expect(next.ruling.ruling).toBe('committed');
  });

  test('reads its own buffered writes', async () => {
    const notes = new Map<string, string>();
    const inputOf = z.strictObject({ name: z.string(), text: z.string() });
    const write = declareTool({
      name: 'note.write',
      input: inputOf,
      class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
      writes: ['note:{name}'],
      plan: ({ text }) => ({ length: text.length }),
      execute: ({ name, text }) => {
        notes.set(name, text);
      },
      uncompensated: 'notes are of no weight',
    });
    const read = declareTool({
      name: 'note.read',
      input: z.strictObject({ name: z.string() }),
      class: 'read',
      reads: ['note:{name}'],
      execute: ({ name }, _, planned) => {
        const own = planned.findLast(
          (each) => each.tool === 'note.write' && (each.input as { name: string }).name === name,
        );
        return own === undefined ? (notes.get(name) ?? null) : (own.input as { text: string }).text;
      },
    });
    const { trajectory } = await stage({ tools: [write, read] });
    const outcome = await trajectory.transaction({ writ, writes: ['note:*'] }, async (tx) => {
      const before = await tx.call('note.read', { name: 'x' });
      const planned = await tx.call('note.write', { name: 'x', text: 'new' });
      const after = await tx.call('note.read', { name: 'x' });
      tx.propose(COUNT);
      return [before, planned, after, notes.get('x')];
    });
    expect(outcome.value).toEqual([null, { length: 3 }, 'new', undefined]);
    expect(notes.get('x')).toBe('new');
  });

  test.each<[string, TransactionOptions, (tx: any) => unknown, string]>([
    ['an unknown tool', { writ }, (tx) => tx.call('fly', {}), 'unknown_tool'],
    [
      'an input that does not fit',
      { writ },
      (tx) => tx.call('irreversible.buffered', { who: 1 }),
      'bad_input',
    ],
    [
      'what it has not claimed',
      { writ, writes: ['other:*'] },
      (tx) => tx.call('irreversible.buffered', { what: 'x' }),
      'scope_exceeded',
    ],
    [
      'writing where it reads',
      { writ, reads: ['test:**'] },
      (tx) => tx.call('irreversible.buffered', { what: 'x' }),
      'scope_exceeded',
    ],
    [
      'what its writ does not cover',
      { writ: writFor('eve', { actions: ['count'] }), writes: ['test:**'] },
      (tx) => tx.call('irreversible.buffered', { what: 'x' }),
      'not_authorised',
    ],
    [
      'where nobody may',
      { writ: writFor('eve', { scopes: ['role:**'] }), writes: ['test:**'] },
      (tx) => tx.call('reversible.externalised', { what: 'x' }),
      'not_authorised',
    ],
    ['a claim that is not a scope', { writ, writes: ['a//b'] }, () => undefined, 'bad_argument'],
    ['an invalid deadline', { writ, deadlineMs: 0 }, () => undefined, 'bad_intent'],
    ['a name that is empty', { writ, name: '' }, () => undefined, 'bad_intent'],
  ])('refuses %s, and does nothing', async (_, options, body, code) => {
    const { trajectory, sink } = await stage();
    expect(await codeOf(trajectory.transaction({ retries: 0, ...options }, body))).toBe(code);
    expect(sink.log).toEqual([]);
    expect(trajectory.length).toBe(1);
  });

  test('says which option there is not, and that nothing was proposed', async () => {
    const { trajectory, all } = await stage();
    const count = (tx: any): void => tx.propose(COUNT);
    const misspelt = Object.assign({ deadlineMS: 5 }, all);
    await expect(trajectory.transaction(misspelt, count)).rejects.toThrow('no option deadlineMS');
    const inheriting = Object.assign(Object.create({ write: [] }), all);
    await expect(trajectory.transaction(inheriting, count)).rejects.toThrow('no option write');
    const within = (does: (tx: any) => unknown): Promise<unknown> =>
      trajectory.transaction(all, async (tx) => void (await does(tx)));
    for (const [slip, says] of [
      [(tx: any) => tx.expand({ write: ['test:r'] }), 'has no write'],
      [(tx: any) => tx.release({ read: ['test:r'] }), 'has no read'],
      [(tx: any) => tx.expand(), 'expand takes an object { reads, writes }'],
      [(tx: any) => tx.expand({ writes: 'test:r' }), 'lists of scopes'],
      [(tx: any) => tx.nested(() => 1, { retry: 2 }), 'no option retry'],
      [(tx: any) => tx.nested(() => 1, { retries: -1 }), 'a whole number'],
      [(tx: any) => tx.nested(() => 1, null), 'an object'],
      [(tx: any) => tx.nested(() => 1, 2), 'an object'],
      [(tx: any) => tx.speculate([() => 1], () => '0'), 'the index of a branch'],
    ] as const)
      await expect(within(slip)).rejects.toMatchObject({
        code: 'bad_intent',
        message: expect.stringContaining(says),
      });
    expect(trajectory.length).toBe(1);
    await expect(trajectory.transaction(all, () => undefined)).rejects.toThrow('returned without');
  });

  test('without tools, or a store that keeps an effect log, says so', async () => {
    const trajectory = await runtimeOver(new MemoryStore(), [tally]).create(tally);
    await expect(trajectory.transaction({ writ }, () => undefined)).rejects.toMatchObject({
      code: 'bad_argument',
      message: expect.stringContaining('tools'),
    });
  });

  test('nothing is called in one that has ended', async () => {
    const { trajectory, all, sink } = await stage();
    let kept: any;
    await trajectory.transaction(all, (tx) => {
      kept = tx;
      tx.propose(COUNT);
    });
    expect(await codeOf(kept.call('irreversible.buffered', { what: 'x' }))).toBe(
      'transaction_over',
    );
    expect(sink.log).toEqual([]);
  });
});

test.each([false, true])(
  'computation in a body counts for its deadline, if it waits or not: %s',
  async (waits) => {
    const { trajectory, all } = await stage();
    const late = trajectory.transaction({ ...all, deadlineMs: 30 }, async (tx) => {
      for (const end = performance.now() + 60; performance.now() < end; );
      if (waits) await new Promise((resolve) => setTimeout(resolve, 20));
      tx.propose(COUNT);
    });
    expect(await codeOf(late)).toBe('deadline');
  },
);

describe('an effect of a pending proposal', () => {
  const asking = defineDomain<any, any>({
    ...(tally.declared as any),
    name: 'asking',
    invariants: ({ each }: any) => [
      each(
        'ASK',
        '/done/*',
        { onApprove: ({ done }: any) => (done.approved = 1) },
        (n: number, _: unknown, [name]: string[]) =>
          name === 'order' && n > 0 ? escalate('shall it be?') : pass,
      ),
    ],
    counselors: { doctor: (principal: string) => principal === 'doc' },
    freeze: 'footprint',
  });
  const doctor = { principal: 'doc', method: 'test', override: true };

  test('is buffered, executes after the approval and blocks no other work', async () => {
    const { trajectory, sink, all } = await stage({ domain: asking });
    const outcome = await trajectory.transaction(all, async (tx) => {
      await tx.call('irreversible.buffered', { what: 'a' });
      tx.propose(COUNT);
    });
    expect(outcome).toMatchObject({ ruling: { ruling: 'escalated' }, effects: 'waiting' });
    expect(sink.log).toEqual([]);
    if (outcome.ruling.ruling !== 'escalated') return;
    const approved = await trajectory.approvals.approve(outcome.ruling.pending, doctor);
    expect(approved.ruling).toBe('committed');
    expect(sink.times('do', 'a')).toBe(1);
    const { delta } = JSON.parse((approved as any).entry.payload);
    expect(delta.effects).toHaveLength(1);
  });

  test.each<[string, object, object]>([
    ['the policy', {}, { policy: policyFor('needs_approval') }],
    ['the writ', { writ: writFor('alice', { require_approval: ['irreversible.buffered'] }) }, {}],
  ])('is escalated if %s demands approval for its tool alone', async (_, own, around) => {
    const { assize, store, trajectory, sink, all } = await stage({ domain: asking, around });
    const of = (tool: string) =>
      trajectory.transaction({ ...all, ...own }, async (tx) => {
        await tx.call(tool, { what: tool });
        tx.propose({ ...COUNT, args: 'plain' });
      });
    expect((await of('reversible.buffered')).ruling.ruling).toBe('committed');
    const { ruling } = await of('irreversible.buffered');
    expect(ruling.ruling).toBe('escalated');
    expect(sink.times('do', 'irreversible.buffered')).toBe(0);
    if (ruling.ruling !== 'escalated') return;
    const { reason, detail } = JSON.parse(ruling.entry.payload);
    expect([reason.endsWith('_approval'), detail]).toEqual([
      true,
      expect.stringContaining('irreversible.buffered'),
    ]);
    expect((await trajectory.approvals.approve(ruling.pending, doctor)).ruling).toBe('committed');
    expect(sink.times('do', 'irreversible.buffered')).toBe(1);
    await assize.close();
    expect(await verifyTrajectory(new Replayer(store), 't')).toMatchObject({
      valid: true,
      open: 0,
    });
    expect(await deepReplay(store, 't', { domains: [asking] })).toMatchObject({
      same: true,
      differences: [],
    });
  });

  test('is never done where it is rejected', async () => {
    const { trajectory, sink, all } = await stage({ domain: asking });
    const { ruling } = await trajectory.transaction(all, async (tx) => {
      await tx.call('irreversible.buffered', { what: 'a' });
      tx.propose(COUNT);
    });
    if (ruling.ruling !== 'escalated') throw new Error('it was not');
    await trajectory.approvals.reject(ruling.pending, {
      principal: 'doc',
      method: 'test',
      reason: 'no',
    });
    expect(sink.log).toEqual([]);
  });
});
