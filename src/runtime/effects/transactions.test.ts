import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Policy, writId } from '#authority';
import { hashText } from '#canon';
import { DidNothing, declareTool, readTransaction, type Sink, type Tool } from '#effects';
import { defineDomain, escalate, pass } from '#kernel';
import { Replayer, verifyTrajectory } from '#ledger';
import { type AssizeOptions, deepReplay, type TransactionOptions } from '#runtime';
import { MemoryStore } from '#stores';
import { asking } from '../../../tests/support/effects-ledger.ts';
import { type Fault, type Outside, OutsideSink, Steps, tally, toolFor } from '../../../tests/support/effects-stage.ts';
import { runtimeOver, writFor } from '../../../tests/support/runtime.ts';
import { readSalted } from './quarantine.ts';

const writ = writFor('alice');
const COUNT = { action: 'count', role: 'counter', args: 'order' } as const;

/** A runtime with the tools of one sink, and how their calls go. */
async function stage(
  options: {
    sort?: Sink;
    fault?: Outside['fault'];
    tools?: readonly Tool[];
    callMs?: number;
    domain?: typeof tally;
    around?: Partial<AssizeOptions>;
  } = {},
) {
  const { sort = 'keyed', fault, domain = tally } = options;
  const sink = new OutsideSink(sort);
  const outside = { sink, steps: new Steps(), ...(fault && { fault }) };
  const tools = [
    toolFor(outside, 'reversible', 'externalised'),
    toolFor(outside, 'reversible', 'buffered'),
    toolFor(outside, 'with_cost', 'externalised'),
    toolFor(outside, 'irreversible', 'buffered'),
    ...(options.tools ?? []),
  ];
  const store = new MemoryStore();
  const assize = runtimeOver(store, [domain], { tools, callMs: options.callMs ?? 1_000, ...options.around });
  const trajectory = await assize.create(domain, { trajectoryId: 't' });
  const all: TransactionOptions = { writ, writes: ['test:**'], retries: 0 };
  return { sink, store, assize, trajectory, all };
}

const codeOf = (made: Promise<unknown>): Promise<unknown> =>
  made.then(
    (value) => value,
    (error: { code?: string; message: string }) => error.code ?? error.message,
  );

/** Says that of one tool, and lets all else be. */
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

/** The first call of something goes so, all others well. */
function once(which: Fault, of: 'do' | 'undo' = 'do'): NonNullable<Outside['fault']> {
  let gone = false;
  return (kind) => {
    if (gone || kind !== of) return 'none';
    gone = true;
    return which;
  };
}

describe('a transaction', () => {
  test('commits the state and what tools do as one entry, which names each effect', async () => {
    const { trajectory, sink, all } = await stage();
    const outcome = await trajectory.transaction(all, async (tx) => {
      expect(await tx.call('reversible.externalised', { what: 'a' })).toEqual({ did: 'a' });
      expect(sink.standing('a')).toBe(1);
      expect(await tx.call('irreversible.buffered', { what: 'b' })).toBe(null);
      expect(sink.standing('b')).toBe(0);
      tx.propose(COUNT);
      return 'done';
    });
    expect(outcome).toMatchObject({ ruling: { ruling: 'committed' }, value: 'done', epoch: 1, effects: 'settled' });
    expect([sink.standing('a'), sink.standing('b')]).toEqual([1, 1]);
    expect(trajectory.state()).toEqual({ done: { order: 1 } });
    const { ruling } = outcome;
    if (ruling.ruling !== 'committed') throw new Error('it was not');
    const { delta, observations } = JSON.parse(ruling.entry.payload);
    expect(delta.effects).toEqual([
      { id: sink.log[0]?.key, effect: { $blob: expect.any(String), bytes: expect.any(Number), salted: true } },
      { id: sink.log[1]?.key, effect: { $blob: expect.any(String), bytes: expect.any(Number), salted: true } },
    ]);
    expect(observations).toEqual([{ name: 'reversible.externalised#0', value: { did: 'a' } }]);
  });

  test('is committed with an action, and with nothing else of a proposal that comes with it', async () => {
    const { store, trajectory } = await stage();
    const [alice, mallory] = [writFor('alice'), writFor('mallory')];
    const since = '0'.repeat(64);
    const more = { writ: mallory, principal: 'mallory', idempotencyKey: 'hers', ifUnchanged: { since, places: [''] } };
    const transact = (name: string) =>
      trajectory.transaction({ writ: alice, writes: ['test:**'], name }, async (tx) => {
        await tx.call('reversible.externalised', { what: 'a' });
        tx.propose({ action: 'count', role: 'counter', args: name, ...more } as never);
      });
    for (const name of ['one', 'two']) expect((await transact(name)).ruling.ruling).toBe('committed');
    const [, ...commits] = (await store.entries('t')).map(({ payload }) => JSON.parse(payload));
    const named = commits.filter(({ action }) => action.name === 'count');
    expect(named.map(({ writ_id }) => writ_id)).toEqual([writId(alice), writId(alice)]);
    for (const intent of [null, 7, 'count'])
      await expect(
        trajectory.transaction({ writ: alice, retries: 0 }, (tx) => tx.propose(intent as never)),
      ).rejects.toMatchObject({ code: 'bad_intent' });
  });

  test('has observations of a form that nobody else may give theirs', async () => {
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
      'assize.failure',
      'assize.x',
    ])
      await expect(observed(name)).rejects.toMatchObject({
        code: 'bad_intent',
        message: expect.stringContaining(name),
      });
    for (const name of ['a', '#0', 'A#0', 'a#', 'a#b', 'a #0', 'a#0 ', 'a#1/2', 'ticket 12', 'assize', 'my assize.x'])
      expect(await observed(name)).toMatchObject({ ruling: 'committed' });
  });

  test('keeps what a tool answers where nobody can try it out, where it is sensitive', async () => {
    const read = (name: string, sensitive: boolean) =>
      declareTool({
        name,
        input: z.strictObject({}),
        class: 'read',
        sensitive,
        reads: ['test:x'],
        execute: () => 'the PIN',
      });
    const { trajectory, all, store } = await stage({ tools: [read('plain', false), read('secret', true)] });
    await trajectory.transaction(all, async (tx) => {
      expect([await tx.call('plain', {}), await tx.call('secret', {})]).toEqual(['the PIN', 'the PIN']);
      tx.propose(COUNT);
    });
    const [row] = (await store.entries('t')).slice(-1);
    expect(JSON.parse(row!.payload).observations).toEqual([
      { name: 'plain#0', value: 'the PIN' },
      { name: 'secret#1', value: { $blob: expect.any(String), bytes: expect.any(Number), salted: true } },
    ]);
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
    ['its action is none', (tx: any) => tx.propose({ ...COUNT, action: 'fly' }), { ruling: { ruling: 'rejected' } }],
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
    expect(sink.log.map(({ did, what }) => `${did} ${what}`)).toEqual(['do a', 'do b', 'undo b', 'undo a']);
    expect(trajectory.state()).toEqual({ done: {} });
    expect(await assize.recoverEffects()).toEqual([]);
    // What it had claimed is free.
    const next = await trajectory.transaction(all, (tx) => tx.propose(COUNT));
    expect(next.ruling.ruling).toBe('committed');
  });

  test('sees what it is itself about to do', async () => {
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
    ['a tool that is none', { writ }, (tx) => tx.call('fly', {}), 'unknown_tool'],
    ['an input that does not fit', { writ }, (tx) => tx.call('irreversible.buffered', { who: 1 }), 'bad_input'],
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
    ['a claim that is no scope', { writ, writes: ['a//b'] }, () => undefined, 'bad_resource'],
    ['a deadline that is none', { writ, deadlineMs: 0 }, () => undefined, 'bad_intent'],
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
      [(tx: any) => tx.expand({ write: ['test:r'] }), 'there is no write'],
      [(tx: any) => tx.release({ read: ['test:r'] }), 'there is no read'],
      [(tx: any) => tx.expand(), 'expand takes { reads, writes }'],
      [(tx: any) => tx.expand({ writes: 'test:r' }), 'lists of scopes'],
      [(tx: any) => tx.nested(() => 1, { retry: 2 }), 'no option retry'],
      [(tx: any) => tx.nested(() => 1, { retries: -1 }), 'a whole number'],
      [(tx: any) => tx.speculate([() => 1], () => '0'), 'the place of a branch'],
    ] as const)
      await expect(within(slip)).rejects.toMatchObject({ code: 'bad_intent', message: expect.stringContaining(says) });
    expect(trajectory.length).toBe(1);
    await expect(trajectory.transaction(all, () => undefined)).rejects.toThrow('returned without');
  });

  test('without tools, or a store that keeps an effect log, says so', async () => {
    const trajectory = await runtimeOver(new MemoryStore(), [tally]).create(tally);
    expect(await codeOf(trajectory.transaction({ writ }, () => undefined))).toBe('bad_option');
  });

  test('nothing is called in one that has ended', async () => {
    const { trajectory, all, sink } = await stage();
    let kept: any;
    await trajectory.transaction(all, (tx) => {
      kept = tx;
      tx.propose(COUNT);
    });
    expect(await codeOf(kept.call('irreversible.buffered', { what: 'x' }))).toBe('transaction_over');
    expect(sink.log).toEqual([]);
  });
});

describe('calls that fail', () => {
  test('before the commit: the body is told that nothing was done, and may go on', async () => {
    const { trajectory, all, sink } = await stage({ fault: once('fail') });
    const outcome = await trajectory.transaction(all, async (tx) => {
      expect(await codeOf(tx.call('reversible.externalised', { what: 'a' }))).toBe('tool_failed');
      await tx.call('reversible.externalised', { what: 'b' });
      tx.propose(COUNT);
    });
    expect(outcome).toMatchObject({ ruling: { ruling: 'committed' }, effects: 'settled' });
    expect([sink.standing('a'), sink.standing('b')]).toEqual([0, 1]);
  });

  test.each([{}, { name: 'order 1' }])(
    'or it begins anew with another epoch, after what it did was undone: %o',
    async (named) => {
      const { trajectory, all, sink } = await stage({
        fault: (of, what) => (of === 'do' && what === 'b' && ++failed < 3 ? 'fail' : 'none'),
      });
      let failed = 0;
      const outcome = await trajectory.transaction({ ...all, ...named, retries: 3 }, async (tx) => {
        await tx.call('reversible.externalised', { what: 'a' });
        await tx.call('reversible.externalised', { what: 'b' });
        tx.propose(COUNT);
      });
      expect(outcome).toMatchObject({ ruling: { ruling: 'committed' }, epoch: 3, effects: 'settled' });
      expect([sink.times('do', 'a'), sink.standing('a'), sink.standing('b')]).toEqual([3, 1, 1]);
      // Each attempt that was undone has its own keys: a sink that was told to undo must not take the next for the same.
      expect(new Set(sink.log.filter(({ what }) => what === 'a').map(({ key }) => key)).size).toBe(3);
    },
  );

  test('the log keeps the keys of a transaction that has a name, and of no other: nobody can come with those again', async () => {
    const { trajectory, all, sink, store } = await stage();
    const keysOf = async (named: Partial<TransactionOptions>) => {
      const from = sink.log.length;
      await trajectory.transaction({ ...all, ...named }, async (tx) => {
        await tx.call('reversible.externalised', { what: 'a' });
        await tx.call('reversible.buffered', { what: 'b' });
        tx.propose(COUNT);
      });
      const keys = sink.log.slice(from).map(({ key }) => key);
      return Promise.all(keys.map((key) => store.effectKey(key)));
    };
    expect(await keysOf({})).toEqual([undefined, undefined]);
    expect(await keysOf({ name: 'order 1' })).toMatchObject([
      { epoch: 2, n: 0 },
      { epoch: 2, n: 1 },
    ]);
  });

  test('a refusal tells nothing of an earlier call whose answer was lost', async () => {
    const script =
      (faults: Fault[]): NonNullable<Outside['fault']> =>
      () =>
        faults.shift() ?? 'none';
    const lasting = await stage({ fault: script(['lose', 'fail_for_good', 'fail']) });
    const made = lasting.trajectory.transaction(lasting.all, (tx) => tx.call('reversible.externalised', { what: 'a' }));
    expect(await codeOf(made)).toBe('outcome_unknown');
    expect(await lasting.assize.recoverEffects()).toMatchObject([{ phase: 'in_doubt' }]);
    const passing = await stage({ fault: script(['lose', 'fail']) });
    const outcome = await passing.trajectory.transaction(passing.all, async (tx) => {
      await tx.call('reversible.externalised', { what: 'a' });
      tx.propose(COUNT);
    });
    expect(outcome).toMatchObject({ ruling: { ruling: 'committed' }, effects: 'settled' });
    expect(passing.sink.standing('a')).toBe(1);
  });

  test('where the tool says that it never will, it is not tried again', async () => {
    const { trajectory, all } = await stage({ fault: () => 'fail_for_good' });
    let attempts = 0;
    const made = trajectory.transaction({ ...all, retries: 3 }, (tx) => {
      attempts++;
      return tx.call('reversible.externalised', { what: 'a' });
    });
    expect(await codeOf(made)).toBe('tool_failed');
    expect(attempts).toBe(1);
  });

  test.each<[Sink, Fault, string, number]>([
    ['keyed', 'lose', 'settled', 1],
    ['keyed', 'lose_before', 'settled', 1],
    ['keyed', 'hang', 'settled', 1],
    ['queryable', 'lose', 'settled', 1],
    ['queryable', 'lose_before', 'settled', 1],
    ['queryable', 'hang', 'settled', 1],
    ['blind', 'lose', 'person', 1],
    ['blind', 'lose_before', 'person', 0],
    ['blind', 'hang', 'person', 1],
    ['blind', 'fail', 'settled', 1],
  ])('after it, with a %s sink whose answer is: %s', async (sort, fault, effects, times) => {
    const { trajectory, all, sink, assize } = await stage({ sort, fault: once(fault), callMs: 20 });
    const outcome = await trajectory.transaction(all, async (tx) => {
      await tx.call('irreversible.buffered', { what: 'a' });
      tx.propose(COUNT);
    });
    expect(outcome).toMatchObject({ ruling: { ruling: 'committed' }, effects });
    expect(sink.times('do', 'a')).toBe(times);
    expect(await assize.recoverEffects()).toHaveLength(effects === 'person' ? 1 : 0);
  });

  test('what fails again and again waits for a person, and stops nobody but who touches it', async () => {
    const { trajectory, all, sink, assize } = await stage({ fault: (_, what) => (what === 'bad' ? 'fail' : 'none') });
    const bad = await trajectory.transaction({ ...all, writes: ['test:bad'] }, async (tx) => {
      await tx.call('irreversible.buffered', { what: 'bad', at: 'bad' });
      tx.propose(COUNT);
    });
    expect(bad).toMatchObject({ ruling: { ruling: 'committed' }, effects: 'person' });
    const [left] = await assize.recoverEffects();
    expect(left).toMatchObject({ epoch: 1, tool: 'irreversible.buffered', phase: 'unresolved', trajectoryId: 't' });
    const good = await trajectory.transaction({ ...all, writes: ['test:good'] }, async (tx) => {
      await tx.call('irreversible.buffered', { what: 'good', at: 'good' });
      tx.propose(COUNT);
    });
    expect(good.effects).toBe('settled');
    expect(await codeOf(trajectory.transaction({ ...all, writes: ['test:*'] }, (tx) => tx.propose(COUNT)))).toBe(
      'resource_in_doubt',
    );
    expect(sink.standing('good')).toBe(1);
  });

  test('a compensation that fails at first is tried again; one that fails for good waits for a person', async () => {
    for (const [times, left] of [
      [2, 0],
      [99, 1],
    ] as const) {
      let failed = 0;
      const { trajectory, all, sink, assize } = await stage({
        fault: (of) => (of === 'undo' && failed++ < times ? 'fail' : 'none'),
      });
      const made = trajectory.transaction(all, async (tx) => {
        await tx.call('reversible.externalised', { what: 'a' });
        throw new Error('no');
      });
      expect(await codeOf(made)).toBe('no');
      expect(sink.standing('a')).toBe(left);
      expect(await assize.recoverEffects()).toHaveLength(left);
    }
  });

  test('a body that hangs is undone at its deadline, and whoever waited goes on', async () => {
    const { trajectory, all, sink } = await stage();
    const hung = codeOf(
      trajectory.transaction({ ...all, deadlineMs: 30 }, async (tx) => {
        await tx.call('reversible.externalised', { what: 'a' });
        await new Promise(() => undefined);
      }),
    );
    const next = trajectory.transaction(all, async (tx) => {
      await tx.call('reversible.externalised', { what: 'b' });
      tx.propose(COUNT);
    });
    expect(await hung).toBe('deadline');
    expect((await next).ruling.ruling).toBe('committed');
    expect(sink.log.map(({ did, what }) => `${did} ${what}`)).toEqual(['do a', 'undo a', 'do b']);
  });
});

test.each([false, true])('what a body computes counts for its deadline, if it waits then or not: %s', async (waits) => {
  const { trajectory, all } = await stage();
  const late = trajectory.transaction({ ...all, deadlineMs: 30 }, async (tx) => {
    for (const end = performance.now() + 60; performance.now() < end; );
    if (waits) await new Promise((resolve) => setTimeout(resolve, 20));
    tx.propose(COUNT);
  });
  expect(await codeOf(late)).toBe('deadline');
});

describe('transactions that meet', () => {
  test('act in the order of their epochs, whoever is first to its gate; others do not wait', async () => {
    const { trajectory, sink, all } = await stage();
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const one = (what: string, at: string, gate: Promise<void>) =>
      trajectory.transaction({ ...all, writes: [`test:${at}`] }, async (tx) => {
        await tx.call('irreversible.buffered', { what, at });
        await gate;
        tx.propose(COUNT);
      });
    const first = one('first', 'r', gates[0]!.promise);
    const second = one('second', 'r', Promise.resolve());
    const other = one('other', 's', Promise.resolve());
    expect((await other).effects).toBe('settled');
    expect(sink.log.map(({ what }) => what)).toEqual(['other']);
    gates[0]!.resolve();
    await Promise.all([first, second]);
    expect(sink.log.map(({ what }) => what)).toEqual(['other', 'first', 'second']);
  });

  test('lose no update, where each reads what it writes', async () => {
    const cell = { value: 0 };
    const get = declareTool({
      name: 'cell.get',
      input: z.strictObject({}),
      class: 'read',
      reads: ['cell:x'],
      execute: () => cell.value,
    });
    const set = declareTool({
      name: 'cell.set',
      input: z.strictObject({ to: z.int() }),
      class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
      writes: ['cell:x'],
      execute: ({ to }) => {
        cell.value = to;
      },
      uncompensated: 'a counter',
    });
    const { trajectory } = await stage({ tools: [get, set] });
    await Promise.all(
      Array.from({ length: 50 }, () =>
        trajectory.transaction({ writ, writes: ['cell:x'] }, async (tx) => {
          const value = (await tx.call('cell.get', {})) as number;
          await Promise.resolve();
          await tx.call('cell.set', { to: value + 1 });
          tx.propose(COUNT);
        }),
      ),
    );
    expect(cell.value).toBe(50);
  });

  test('one that claims more where a younger one has acted is stale, and begins anew', async () => {
    const { trajectory, sink, all } = await stage();
    const acted = Promise.withResolvers<void>();
    let epochs: number[] = [];
    const late = trajectory.transaction({ ...all, writes: ['test:mine'], retries: 1 }, async (tx) => {
      epochs = [...epochs, tx.epoch];
      await acted.promise;
      await tx.expand({ writes: ['test:r'] });
      await tx.call('irreversible.buffered', { what: 'late' });
      tx.propose(COUNT);
    });
    await trajectory.transaction({ ...all, writes: ['test:r'] }, async (tx) => {
      await tx.call('irreversible.buffered', { what: 'young' });
      tx.propose(COUNT);
    });
    acted.resolve();
    expect((await late).ruling.ruling).toBe('committed');
    expect(epochs).toEqual([1, 3]);
    expect(sink.log.map(({ what }) => what)).toEqual(['young', 'late']);
  });

  test('of one name are done once, also at the same time', async () => {
    const { trajectory, sink, all } = await stage();
    const order = () =>
      trajectory.transaction({ ...all, name: 'order-1' }, async (tx) => {
        await tx.call('irreversible.buffered', { what: 'a' });
        tx.propose(COUNT);
      });
    const [one, two] = await Promise.all([order(), order()]);
    expect(one.ruling).toEqual(two.ruling);
    expect(sink.times('do', 'a')).toBe(1);
    expect(trajectory.state()).toEqual({ done: { order: 1 } });
  });

  test('of one name read each attempt before them once, however many calls it made', async () => {
    const { trajectory, sink, store, all } = await stage();
    const read: number[] = [];
    const effectsOf = store.effectsOf.bind(store);
    store.effectsOf = (epoch) => {
      read.push(epoch);
      return effectsOf(epoch);
    };
    const order = (ends: 'throws' | 'commits') =>
      trajectory.transaction({ ...all, name: 'order-1' }, async (tx) => {
        for (const what of ['a', 'b', 'c']) await tx.call('reversible.externalised', { what });
        await tx.nested((part) => part.call('reversible.externalised', { what: 'd' }));
        if (ends === 'throws') throw new Error('not yet');
        tx.propose(COUNT);
      });
    for (const before of [[], [1], [1, 2]]) {
      expect(await codeOf(order('throws'))).toBe('not yet');
      expect(read.splice(0)).toEqual(before);
    }
    await order('commits');
    expect(read).toEqual([1, 2, 3]);
    for (const what of ['a', 'b', 'c', 'd']) expect([what, sink.standing(what)]).toEqual([what, 1]);
  });
});

describe('what has to be approved', () => {
  const asking = defineDomain<any, any>({
    ...(tally.declared as any),
    name: 'asking',
    invariants: ({ each }: any) => [
      each(
        'ASK',
        '/done/*',
        { onApprove: ({ done }: any) => (done.approved = 1) },
        (n: number, _: unknown, [name]: string[]) => (name === 'order' && n > 0 ? escalate('shall it be?') : pass),
      ),
    ],
    counselors: { doctor: (principal: string) => principal === 'doc' },
    freeze: 'footprint',
  });
  const doctor = { principal: 'doc', method: 'test', override: true };

  test('is held with it, is done once it is approved, and stops nobody meanwhile', async () => {
    const { trajectory, sink, all } = await stage({ domain: asking });
    const outcome = await trajectory.transaction(all, async (tx) => {
      await tx.call('irreversible.buffered', { what: 'a' });
      tx.propose(COUNT);
    });
    expect(outcome).toMatchObject({ ruling: { ruling: 'escalated' }, effects: 'waiting' });
    expect(sink.log).toEqual([]);
    if (outcome.ruling.ruling !== 'escalated') return;
    const approved = await trajectory.approve(outcome.ruling.pending, doctor);
    expect(approved.ruling).toBe('committed');
    expect(sink.times('do', 'a')).toBe(1);
    const { delta } = JSON.parse((approved as any).entry.payload);
    expect(delta.effects).toHaveLength(1);
  });

  test.each<[string, object, object]>([
    ['the policy', {}, { policy: policyFor('needs_approval') }],
    ['the writ', { writ: writFor('alice', { require_approval: ['irreversible.buffered'] }) }, {}],
  ])('is what %s wants a person to be asked about, though it be only a tool', async (_, own, around) => {
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
    expect([reason.endsWith('_approval'), detail]).toEqual([true, expect.stringContaining('irreversible.buffered')]);
    expect((await trajectory.approve(ruling.pending, doctor)).ruling).toBe('committed');
    expect(sink.times('do', 'irreversible.buffered')).toBe(1);
    await assize.close();
    expect(await verifyTrajectory(new Replayer(store), 't')).toMatchObject({ valid: true, open: 0 });
    expect(await deepReplay(store, 't', { domains: [asking] })).toMatchObject({ same: true, differences: [] });
  });

  test('is never done where it is rejected', async () => {
    const { trajectory, sink, all } = await stage({ domain: asking });
    const { ruling } = await trajectory.transaction(all, async (tx) => {
      await tx.call('irreversible.buffered', { what: 'a' });
      tx.propose(COUNT);
    });
    if (ruling.ruling !== 'escalated') throw new Error('it was not');
    await trajectory.reject(ruling.pending, { principal: 'doc', method: 'test', reason: 'no' });
    expect(sink.log).toEqual([]);
  });
});

describe('what a tool answers', () => {
  const odd = (execute: () => unknown, compensate: () => unknown = () => ({ undone: 'all' })): Tool =>
    declareTool({
      name: 'odd.tool',
      input: z.strictObject({}),
      class: { reversibility: 'reversible', delivery: 'externalised', sink: 'keyed' },
      writes: ['test:x'],
      execute,
      compensate: compensate as never,
    });

  test.each([[() => new Date(0)], [() => Number.NaN], [() => ({ at: undefined, of: () => 1 })]])(
    'that is no JSON is none: it is called as often as any whose answer is lost, and left: %s',
    async (execute) => {
      let calls = 0;
      const counting = () => {
        calls++;
        return execute();
      };
      const { trajectory, all, assize } = await stage({ tools: [odd(counting)] });
      expect(await codeOf(trajectory.transaction(all, (tx) => tx.call('odd.tool', {})))).toBe('outcome_unknown');
      expect(calls).toBe(3);
      expect(await assize.recoverEffects()).toMatchObject([{ phase: 'in_doubt' }]);
    },
  );

  test.each([
    [undefined],
    [1],
    [{}],
    [{ undone: 'some' }],
    [{ undone: 'partly' }],
    [{ undone: 'partly', residue: 1n }],
  ])('about what it has undone has to say it: %o is no answer', async (said) => {
    const { trajectory, all, assize } = await stage({
      tools: [
        odd(
          () => null,
          () => said,
        ),
      ],
    });
    const thrown = trajectory.transaction(all, async (tx) => {
      await tx.call('odd.tool', {});
      throw new Error('as planned');
    });
    await expect(thrown).rejects.toThrow('as planned');
    expect(await assize.recoverEffects()).toMatchObject([{ phase: 'in_doubt' }]);
  });
});

describe('what a compensation leaves is mitigated', () => {
  const refund = (sink: Sink, mitigate: (residue: string) => unknown, log: string[]): Tool =>
    declareTool({
      name: 'booking.make',
      input: z.strictObject({}),
      class: { reversibility: 'reversible', delivery: 'externalised', sink },
      writes: ['test:x'],
      execute: () => null,
      compensate: () => {
        log.push('cancel');
        return { undone: 'partly', residue: 'the fee' };
      },
      mitigate: (_, residue, { key }) => {
        log.push(`mail ${key.length === 64 ? 'under its key' : key}`);
        return mitigate(residue);
      },
      ...(sink === 'queryable' ? { reconcile: () => ({ happened: true, result: null }) } : {}),
    });

  async function undone(sink: Sink, mitigate: (residue: string) => unknown) {
    const log: string[] = [];
    const { trajectory, all, assize, store } = await stage({ tools: [refund(sink, mitigate, log)] });
    const thrown = trajectory.transaction(all, async (tx) => {
      await tx.call('booking.make', {});
      throw new Error('as planned');
    });
    await expect(thrown).rejects.toThrow('as planned');
    const left = await assize.recoverEffects();
    const known = readTransaction((await store.effectsOf(1))!);
    const ref = known.effects[0]!.residue;
    const residue = ref && (await readSalted((hash) => store.blob(hash), ref));
    return { log, left, residue };
  }

  test.each<Sink>(['keyed', 'queryable', 'blind'])('and what came of that is kept with it: %s', async (sink) => {
    const { log, left, residue } = await undone(sink, (residue) => ({ mailed: `about ${residue}` }));
    expect([log, left]).toEqual([['cancel', 'mail under its key'], []]);
    expect(residue).toEqual({ mitigated: { mailed: 'about the fee' }, residue: 'the fee' });
  });

  test.each([
    ['keyed', 'unresolved', 3],
    ['queryable', 'unresolved', 3],
    ['blind', 'in_doubt', 1],
  ] as const)('or is for a person, where that fails: %s is %s', async (sink, phase, times) => {
    const { log, left, residue } = await undone(sink, () => {
      throw new Error('nobody answers');
    });
    expect(log).toEqual(Array(times).fill(['cancel', 'mail under its key']).flat());
    expect(left).toMatchObject([{ phase }]);
    expect(residue).toBeUndefined();
  });

  test('where it fails once, both are made again', async () => {
    let times = 0;
    const { log, left, residue } = await undone('keyed', () => {
      if (times++ === 0) throw new Error('nobody answers');
    });
    expect([log.length, left]).toEqual([4, []]);
    expect(residue).toEqual({ mitigated: null, residue: 'the fee' });
  });
});

test('what is given as a tool has to be one', () => {
  const plain = { name: 'x.y', execute: () => null } as unknown as Tool;
  expect(() => runtimeOver(new MemoryStore(), [tally], { tools: [plain] })).toThrow('make it with declareTool');
});

test('a tool that is wrongly declared is refused by name', () => {
  const good = {
    name: 'x.y',
    input: z.strictObject({ a: z.string() }),
    class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
    writes: ['x:{a}'],
    execute: () => null,
    compensate: () => ({ undone: 'all' }),
  } as const;
  expect(declareTool(good as never).name).toBe('x.y');
  const wrong: [object, string][] = [
    [{ name: 'X' }, 'lower-case words'],
    [{ name: 'assize.x' }, 'not begin with assize'],
    [{ input: {} }, 'zod schema'],
    [{ execute: undefined }, 'no execute'],
    [{ class: { ...good.class, reversibility: 'maybe' } }, 'reversibility'],
    [{ class: 'write' }, "its class is 'read'"],
    [{ class: 'read' }, 'only reads'],
    [{ writes: undefined }, 'what it writes'],
    [{ writes: ['x//y'] }, 'does not parse'],
    [{ writes: 'x:y' }, 'a list of scopes'],
    [{ writes: [] }, 'what it writes'],
    [{ writes: ['x:{a'] }, 'a brace stands only around'],
    [{ writes: ['x:{b}'] }, 'no member b'],
    [{ compensate: 'yes' }, 'compensate has to be a function'],
    [{ mitigate: 'yes' }, 'mitigate has to be a function'],
    [{ mitigate: () => null, compensate: undefined, uncompensated: 'it may stay' }, 'and it has no compensate'],
    [{ class: 'read', mitigate: () => null, compensate: undefined, writes: undefined }, "can't have mitigate"],
    [{ uncompensated: 'it may stay' }, 'leave one of them out'],
    [{ compensate: undefined, uncompensated: ' ' }, 'why it may stay'],
    [{ compensate: undefined }, 'uncompensated'],
    [{ class: { ...good.class, reversibility: 'irreversible' } }, 'has no compensate'],
    [{ class: { ...good.class, sink: 'queryable' } }, 'reconcile'],
    [{ reconcile: () => ({ happened: false }) }, 'queryable'],
  ];
  wrong.push(
    [{ compensat: () => null }, 'no "compensat"'],
    [{ description: 7 }, 'description has to be a text'],
    [{ plan: 'x' }, 'plan has to be a function'],
    [{ sensitive: 'no' }, 'sensitive has to be true or false'],
    [{ parallel: 1 }, 'parallel has to be true or false'],
    [{ compensate: undefined, uncompensated: 7 }, 'uncompensated has to be a text'],
  );
  for (const [change, what] of wrong) {
    let said = 'nothing';
    try {
      declareTool({ ...good, ...change } as never);
    } catch (error) {
      said =
        (error as { code: string; message: string }).code === 'invalid_tool' ? (error as Error).message : String(error);
    }
    expect(said).toContain(what);
  }
  class Declared {
    constructor() {
      Object.assign(this, good);
    }
  }
  class Wrong {
    readonly name = 'x.y';
    readonly input = good.input;
    readonly class = good.class;
    readonly writes = good.writes;
    execute = good.execute;
    get compensate() {
      return 7;
    }
  }
  for (const odd of [new Declared(), new Wrong(), Object.create(good)])
    expect(() => declareTool(odd as never)).toThrow(
      "The tool x.y can't be used: its declaration has to be a plain object",
    );
  const hidden = { ...good, compensate: undefined };
  for (const proto of [null, Object.create(null, { compensate: { value: 7 } })]) {
    const spec = Object.setPrototypeOf({ ...good }, proto);
    expect(declareTool(spec).name).toBe('x.y');
    delete spec.compensate;
    expect(() => declareTool(spec)).toThrow(proto === null ? 'uncompensated' : 'compensate has to be a function');
  }
  Object.defineProperty(hidden, 'compensate', { value: 7, enumerable: false });
  expect(() => declareTool(hidden as never)).toThrow('compensate has to be a function');
  expect(declareTool({ ...good, note: undefined, plan: undefined } as never).name).toBe('x.y');
  for (const none of [undefined, null, 7, 'x.y'])
    expect(() => declareTool(none as never)).toThrow(expect.objectContaining({ code: 'invalid_tool' }));
  expect(new DidNothing('no')).toMatchObject({ isFinal: false });
});

test.each<[string, object, string]>([
  ['scopes that are none', { writes: () => null }, 'no list'],
  ['one scope', { writes: () => 'x:1' }, 'no list'],
  ['no scope, though it writes', { writes: () => [] }, 'does not say where'],
  ['scopes that are not told', { reads: () => JSON.parse('') }, 'reads can’t be told'],
  ['scopes that are told later', { writes: async () => ['x:1'] }, 'no list'],
  ['what is no scope', { writes: () => [7] }, 'no scope'],
  ['a schema that takes its time', { input: z.string().refine(async () => true) }, 'its schema can’t tell'],
])('a call that has %s is refused by name, with nothing done', async (_, change, what) => {
  let calls = 0;
  const tool = declareTool({
    name: 'x.y',
    input: z.string(),
    class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' },
    writes: ['test:x'],
    execute: () => void calls++,
    ...change,
  } as never);
  const { trajectory, all } = await stage({ tools: [tool] });
  const { ruling } = await trajectory.transaction(all, async (tx) => {
    const refused = { code: 'bad_input', evidence: { tool: 'x.y' }, message: expect.stringContaining(what) };
    await expect(tx.call('x.y', 'a')).rejects.toMatchObject(refused);
    tx.propose(COUNT);
  });
  expect([ruling.ruling, calls]).toEqual(['committed', 0]);
});

/** A store that loses its answer to what brings effects, once, and can't be asked until it is `mended`. */
function forgetful(memory: MemoryStore, did: boolean) {
  let state: 'sound' | 'broken' | 'mended' = 'sound';
  const store = new Proxy(memory, {
    get(target, name) {
      const member = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      if (name === 'commit')
        return async (batch: Parameters<MemoryStore['commit']>[0]) => {
          if (batch.effects === undefined || state === 'mended') return target.commit(batch);
          state = 'broken';
          if (did) await target.commit(batch);
          return { status: 'unknown', cause: new Error('the line went dead') };
        };
      if (name === 'resolve' && state === 'broken') return () => Promise.reject(new Error('the line is dead'));
      return member.bind(target);
    },
  });
  return {
    store,
    mended: () => {
      state = 'mended';
    },
  };
}

describe.each([true, false])('a store that can’t say whether it committed, and did: %s', (did) => {
  async function forgetfulStage(domain: typeof tally) {
    const memory = new MemoryStore();
    await runtimeOver(memory, [domain]).create(domain, { trajectoryId: 't' });
    const { store, mended } = forgetful(memory, did);
    const sink = new OutsideSink('keyed');
    const outside = { sink, steps: new Steps() };
    const tools = [toolFor(outside, 'reversible', 'externalised'), toolFor(outside, 'irreversible', 'buffered')];
    const assize = runtimeOver(store, [domain], { tools });
    return { assize, mended, sink, trajectory: await assize.open('t') };
  }

  test('what tools did is left as it is until the log is read anew, and then is done or undone', async () => {
    const { assize, mended, sink, trajectory } = await forgetfulStage(tally);
    const made = trajectory.transaction({ writ, writes: ['test:**'], retries: 0 }, async (tx) => {
      await tx.call('reversible.externalised', { what: 'acted' });
      await tx.call('irreversible.buffered', { what: 'held' });
      tx.propose(COUNT);
    });
    expect(await codeOf(made)).toBe('commit_unknown');
    expect(sink.log.map(({ did: does, what }) => `${does} ${what}`)).toEqual(['do acted']);
    mended();
    expect(await assize.recoverEffects()).toEqual([]);
    expect([sink.standing('acted'), sink.standing('held')]).toEqual(did ? [1, 1] : [0, 0]);
    expect(sink.times('do', 'held')).toBe(did ? 1 : 0);
  });

  test('what was approved is done as soon as the log is read anew, or is still to be approved', async () => {
    const { assize, mended, sink, trajectory } = await forgetfulStage(asking);
    const { ruling } = await trajectory.transaction({ writ, writes: ['test:**'] }, async (tx) => {
      await tx.call('irreversible.buffered', { what: 'held' });
      tx.propose({ ...COUNT, args: 'asked' });
    });
    if (ruling.ruling !== 'escalated') throw new Error('it was not');
    const doctor = { principal: 'doc', method: 'test', override: true };
    expect(await codeOf(trajectory.approve(ruling.pending, doctor))).toBe('commit_unknown');
    expect(sink.log).toEqual([]);
    mended();
    expect(await assize.recoverEffects()).toEqual([]);
    expect(sink.times('do', 'held')).toBe(did ? 1 : 0);
    if (!did) await trajectory.approve(ruling.pending, doctor);
    expect(sink.times('do', 'held')).toBe(1);
  });
});
