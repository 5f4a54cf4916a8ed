import { exportLines, importLines } from '@assize/audit/internal/export';
import { backtest, deepReplay } from '@assize/audit/internal/replay';
import { MemoryStore } from '@assize/testing/memory';
import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { attenuate, type Writ, writId } from '#authority';
import { generateKeys } from '#canon';
import { DidNothing, declareTool } from '#effects';
import { defineDomain } from '#kernel';
import {
  integrateLog,
  isAbandonment,
  isSettlement,
  readRow,
  settlementArgs,
  undoingCostsOf,
} from '#ledger';
import { type Assize, listWrits, type Trajectory, type Transaction } from '#runtime';
import { allEntries } from '../../../../../tests/support/ledger/desk.ts';
import { operatorWrit, runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import { expectEffectLogMatches } from '../../../../../tests/support/tools/check-effect-log.ts';
import { Steps, storeOf, tally } from '../../../../../tests/support/tools/effect-sink.ts';

/** A bank that charges for its payments and, separately, for its refunds. */
class Bank {
  readonly log: string[] = [];
  /** The error of a compensation. */
  trouble: (() => unknown) | undefined;
  isSlow: Promise<void> = Promise.resolve();

  readonly charge = declareTool({
    name: 'bank.charge',
    input: z.strictObject({ what: z.string(), undoing: z.number().default(3) }),
    class: { reversibility: 'with_cost', delivery: 'externalised', sink: 'keyed' },
    writes: ['bank:{what}'],
    cost: () => ({ usd: 2 }),
    undoCost: ({ undoing }) => ({ usd: undoing }),
    parallel: true,
    execute: ({ what }) => void this.log.push(`do ${what}`),
    compensate: async ({ what }) => {
      await this.isSlow;
      if (this.trouble !== undefined) throw this.trouble();
      this.log.push(`undo ${what}`);
      return { undone: 'all' };
    },
  });

  /** Has no cost itself. */
  readonly note = declareTool({
    name: 'bank.note',
    input: z.strictObject({ what: z.string() }),
    class: { reversibility: 'reversible', delivery: 'externalised', sink: 'keyed' },
    writes: ['bank:{what}'],
    execute: () => null,
    compensate: () => ({ undone: 'all' }),
  });
}

/** A tally with an action that has a cost too. */
const costly = defineDomain<any, any>({
  ...(tally.declared as any),
  name: 'costly',
  actions: {
    count: {
      ...(tally.declared as any).actions.count,
      cost: (args: string) => ({ usd: args.length }),
    },
  },
});

const budgeted = (usd: number, subject = 'alice'): Writ =>
  writFor(subject, { trajectory: 't', budget: { usd } });

interface World {
  readonly bank: Bank;
  readonly store: MemoryStore;
  readonly assize: Assize;
  readonly trajectory: Trajectory;
  readonly writ: Writ;
  left(): Promise<number>;
}

async function world(usd: number): Promise<World> {
  const [bank, store, writ] = [new Bank(), new MemoryStore(), budgeted(usd)];
  const assize = runtimeOver(store, [costly], { tools: [bank.charge, bank.note] });
  const trajectory = await assize.create(costly, { trajectoryId: 't', writs: [writ] });
  const left = async (): Promise<number> => {
    await assize.recoverEffects();
    return leftOf(store, writ);
  };
  return { bank, store, assize, trajectory, writ, left };
}

async function leftOf(store: MemoryStore, writ: Writ): Promise<number> {
  const listed = await listWrits(store, 't');
  return listed.find(({ id }) => id === writId(writ))!.left['usd'] as number;
}

const CLAIMED = ['bank:a', 'bank:b', 'bank:c', 'bank:d'];

function act(
  { trajectory, writ }: Pick<World, 'trajectory' | 'writ'>,
  body: (tx: Transaction) => Promise<unknown>,
  args: string | undefined = '',
) {
  return trajectory.transaction({ writ, writes: CLAIMED, retries: 0 }, async (tx) => {
    await body(tx);
    tx.propose({ action: 'count', role: 'counter', args });
  });
}

const refused = expect.objectContaining({
  reason: 'not_authorised',
  evidence: { tool: 'bank.charge', reason: 'budget_exhausted' },
});
const THROWN = new Error('it is not to be');
const thrown = (): never => {
  throw THROWN;
};

test('a call is refused, unexecuted, if the budget lacks its compensation cost', async () => {
  const made = await world(9);
  const { bank, store } = made;
  await act(made, async (tx) => {
    await tx.call('bank.charge', { what: 'a' });
    // 2 + 2 are spent with the commit, 3 are reserved, and another 3 would be.
    await expect(tx.call('bank.charge', { what: 'b' })).rejects.toThrow(refused);
    await expect(tx.call('bank.charge', { what: 'b', undoing: 2 })).resolves.toBeNull();
  });
  expect(bank.log).toEqual(['do a', 'do b']);
  // A refused call costs nothing, and the reservation is released with the commit.
  expect(await made.left()).toBe(5);
  await expectEffectLogMatches(store, 't', []);
});

test('a transaction’s own reservation is available to its commit', async () => {
  const made = await world(9);
  const { ruling } = await act(
    made,
    (tx) => tx.call('bank.charge', { what: 'a', undoing: 7 }),
    '7 signs',
  );
  expect(ruling.ruling).toBe('committed');
  expect(await made.left()).toBe(0);
});

test.each([
  ['less than nothing', () => ({ usd: -1 })],
  ['a part of one', () => ({ usd: 0.5 })],
  ['a value that is not a number', () => ({ usd: Number.NaN })],
  ['a text', () => ({ usd: '2' })],
  ['nothing of a unit', () => ({ usd: null })],
  ['a promise', async () => ({ usd: 2 })],
  ['one that fails', () => Promise.reject(new Error('later'))],
])(
  'an invalid cost is refused at the call with the tool’s name: %s',
  async (_, cost: () => unknown) => {
    const store = new MemoryStore();
    const writ = budgeted(20);
    const spec = { input: z.strictObject({}), execute: () => null, cost: cost as never } as const;
    const sort = { ...new Bank().charge.class!, delivery: 'buffered' } as const;
    const tools = [
      declareTool({ ...spec, name: 'looks', class: 'read', reads: ['bank:a'] }),
      declareTool({
        ...spec,
        name: 'acts',
        class: sort,
        writes: ['bank:a'],
        uncompensated: 'it is nothing',
      }),
    ];
    const assize = runtimeOver(store, [costly], { tools });
    const trajectory = await assize.create(costly, { trajectoryId: 't', writs: [writ] });
    const { ruling } = await trajectory.transaction({ writ, writes: ['bank:a'] }, async (tx) => {
      for (const { name } of tools) {
        const refused = tx.call(name, {});
        await expect(refused).rejects.toMatchObject({
          code: 'bad_argument',
          message: expect.stringContaining(name),
        });
      }
      tx.propose({ action: 'count', role: 'counter', args: 'a' });
    });
    if (ruling.ruling !== 'committed') throw new Error(`it was ${ruling.ruling}`);
    expect(JSON.parse(ruling.entry.payload)).toMatchObject({
      budget_cost: { usd: 1 },
      delta: { effects: [] },
    });
  },
);

test('an undeclared compensation cost is taken to be the cost of the call', async () => {
  const [bank, store, writ] = [new Bank(), new MemoryStore(), budgeted(3)];
  const { undoCost: _, ...spec } = bank.charge.spec;
  const assize = runtimeOver(store, [costly], { tools: [declareTool(spec)] });
  const trajectory = await assize.create(costly, { trajectoryId: 't', writs: [writ] });
  await act({ trajectory, writ }, async (tx) => {
    await tx.call('bank.charge', { what: 'a' });
    await expect(tx.call('bank.charge', { what: 'b' })).rejects.toThrow(refused);
  });
  expect(bank.log).toEqual(['do a']);
});

test('a reservation is unavailable to others, both tools and proposals', async () => {
  const made = await world(9);
  const { trajectory, writ } = made;
  await act(made, async (tx) => {
    await tx.call('bank.charge', { what: 'a' });
    // 3 of 9 are reserved, and 6 are left for others.
    const other = trajectory.transaction({ writ, writes: ['bank:z'] }, (second) =>
      second.call('bank.charge', { what: 'z', undoing: 5 }),
    );
    await expect(other).rejects.toThrow(refused);
    const plain = (args: string) =>
      trajectory.propose({ action: 'count', role: 'counter', args, writ } as never);
    expect(await plain('7 signs')).toMatchObject({
      ruling: 'rejected',
      reason: 'budget_exhausted',
    });
    expect(await plain('four')).toMatchObject({ ruling: 'committed' });
  });
  // 4 for that and 2 for the call; the action of its transaction is free here.
  expect(await made.left()).toBe(3);
});

test('nor is it delegated', async () => {
  const keys = generateKeys(new Uint8Array(32).fill(5));
  const made = {
    ...(await world(9)),
    writ: writFor(keys.publicKey, { trajectory: 't', budget: { usd: 9 } }),
  };
  const { trajectory, writ } = made;
  const delegate = (usd: number) =>
    trajectory.delegations.delegate({
      task: 'help',
      writ,
      subject: 'helper',
      budget: { usd },
      childTrajectoryId: `c${usd}`,
      privateKey: keys.privateKey,
    } as never);
  await act(made, async (tx) => {
    await tx.call('bank.charge', { what: 'a' });
    await expect(delegate(7)).rejects.toMatchObject({ code: 'budget_exhausted' });
    expect((await delegate(4)).id).toBe('c4');
  });
});

test('K branches reserve K times, and compensations of losers are spent', async () => {
  const made = await world(20);
  const { bank, store } = made;
  const branch = (what: string) => async (tx: Transaction) =>
    tx.call('bank.charge', { what, undoing: 5 });
  const tried: unknown[] = [];
  await act(made, (tx) =>
    tx.speculate([branch('a'), branch('b'), branch('c'), branch('d')], (all) => {
      tried.push(...all.map(({ failed }) => failed));
      return 1;
    }),
  );
  // Each costs 2, and one is spent in the end; three reservations of 5 and a fourth exceed 20.
  expect(tried).toEqual([false, false, false, true]);
  expect(bank.log).toEqual(['do a', 'do b', 'do c', 'undo c', 'undo a']);
  expect(await made.left()).toBe(20 - 2 - 5 - 5);
  const settled = (await entries(store))
    .filter(isSettlement)
    .map((payload) => settlementArgs(payload)!);
  expect(settled.flatMap(({ discarded = [] }) => discarded.map(({ cost }) => cost))).toEqual([
    { usd: 5 },
    { usd: 5 },
  ]);
  await expectEffectLogMatches(store, 't', []);
});

test('a compensation’s cost is unavailable to others before its ledger entry', async () => {
  const made = await world(8);
  const { assize, store, trajectory, writ } = made;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  await act(made, async (tx) => {
    const undone = tx.nested(async (inner) => {
      await inner.call('bank.charge', { what: 'a', undoing: 5 });
      thrown();
    });
    await expect(undone).rejects.toBe(THROWN);
  });
  const spend = (letters: string) =>
    trajectory.propose({ action: 'count', role: 'counter', args: letters, writ });
  expect((await entries(store)).filter(isSettlement)).toEqual([]);
  expect(await spend('four')).toMatchObject({ ruling: 'rejected', reason: 'budget_exhausted' });
  expect(await spend('one')).toMatchObject({ ruling: 'committed' });
  await assize.close();
  expect(await leftOf(store, writ)).toBe(0);
});

test('compensation costs of many transactions are booked in an entry per writ', async () => {
  const made = await world(1_000);
  const { assize, trajectory, store } = made;
  const other = writFor('bob', { trajectory: 't', budget: { usd: 1_000 } });
  const writs = [made.writ, other];
  const spent = [0, 0];
  await Promise.all(
    Array.from({ length: 24 }, (_, n) =>
      trajectory.transaction({ writ: writs[n % 2]!, writes: [`bank:${n}`] }, async (tx) => {
        await tx.call('bank.note', { what: `${n}` });
        const isDear = n % 3 !== 0;
        if (isDear) spent[n % 2]! += n;
        const undone = tx.nested(async (inner) => {
          await inner.call(isDear ? 'bank.charge' : 'bank.note', {
            what: `${n}`,
            ...(isDear && { undoing: n }),
          });
          thrown();
        });
        await expect(undone).rejects.toBe(THROWN);
        tx.propose({ action: 'count', role: 'counter', args: '' });
      }),
    ),
  );
  await assize.recoverEffects();
  expect(await Promise.all(writs.map((writ) => leftOf(store, writ)))).toEqual(
    spent.map((usd) => 1_000 - usd),
  );
  const settled = (await entries(store)).filter(isSettlement);
  const bookings = settled.flatMap((payload) => undoingCostsOf(payload) ?? []);
  expect(bookings).toHaveLength(2);
  for (const [which, writ] of writs.entries()) {
    const costs = Array.from({ length: 24 }, (_, n) => n).filter(
      (n) => n % 2 === which && n % 3 !== 0,
    );
    const booked = bookings
      .find(({ writId: id }) => id === writId(writ))
      ?.costs.map(({ usd }) => usd);
    expect(booked?.toSorted((one, next) => one! - next!)).toEqual(costs);
  }
  // All others are settled separately, because a settlement with a cost belongs to the writ that
  // pays.
  expect(settled).toHaveLength(3);
  await assize.close();
  await expectEffectLogMatches(store, 't', []);
  expect((await deepReplay(store, 't', { domains: [costly] })).differences).toEqual([]);
});

async function entries(store: MemoryStore) {
  return (await allEntries(store, 't')).map((row) => readRow(row).payload);
}

test.each([
  ['that throws', thrown, '', 'body_failed'],
  ['that is rejected', () => undefined, 'forbidden', 'rejected'],
])(
  'compensating a transaction %s is booked once, for every reader',
  async (_, end, args, cause) => {
    const made = await world(20);
    const { bank, store, assize, writ } = made;
    await act(
      made,
      async (tx) => {
        await tx.call('bank.charge', { what: 'a' });
        await tx.call('bank.note', { what: 'b' });
        end();
      },
      args,
    ).catch((error) => expect(error).toBe(THROWN));
    expect(bank.log).toEqual(['do a', 'undo a']);
    expect(await made.left()).toBe(17);
    const abandoned = (await entries(store)).filter(isAbandonment);
    expect(abandoned).toMatchObject([{ detail: cause, writ_id: writId(writ) }]);
    expect(abandoned.map(undoingCostsOf)).toEqual([{ writId: writId(writ), costs: [{ usd: 3 }] }]);
    // This process, a process that opens the store, and an export.
    await expect(
      act(made, (tx) => tx.call('bank.charge', { what: 'c', undoing: 16 })),
    ).rejects.toThrow(refused);
    await act(made, (tx) => tx.call('bank.charge', { what: 'c', undoing: 15 }));
    await assize.close();
    const again = runtimeOver(store, [costly], { tools: [bank.charge] });
    const opened = { trajectory: await again.open('t'), writ };
    await expect(
      act(opened, (tx) => tx.call('bank.charge', { what: 'd', undoing: 14 })),
    ).rejects.toThrow(refused);
    await act(opened, (tx) => tx.call('bank.charge', { what: 'd', undoing: 13 }));
    await again.close();
    await expectEffectLogMatches(store, 't', []);
    const copy = new MemoryStore();
    await integrateLog(store);
    await importLines(copy, linesOf(store));
    const [there, here] = [await listWrits(copy, 't'), await listWrits(store, 't')];
    expect(there).toEqual(here);
    expect(here[0]?.left).toEqual({ usd: 13 });
    // The commits have the recorded costs, and a backtest uses the same budget.
    expect((await deepReplay(store, 't', { domains: [costly] })).differences).toEqual([]);
    expect(await backtest(store, 't', { domains: [costly] })).toMatchObject({ differences: [] });
  },
);

async function* linesOf(store: MemoryStore): AsyncGenerator<string> {
  for await (const line of exportLines(store)) yield line.slice(0, -1);
}

test('a cost stays reserved until compensation, and is not spent without one', async () => {
  const made = await world(10);
  const { bank, trajectory, writ, assize } = made;
  const another = () =>
    trajectory.transaction({ writ, writes: ['bank:z'] }, async (tx) => {
      await tx.call('bank.charge', { what: 'z', undoing: 6 });
      tx.propose({ action: 'count', role: 'counter', args: '' });
    });
  bank.trouble = () => new DidNothing('not now', { final: true });
  await expect(act(made, (tx) => tx.call('bank.charge', { what: 'a' }).then(thrown))).rejects.toBe(
    THROWN,
  );
  const [left] = await assize.recoverEffects();
  expect(left).toMatchObject({ phase: 'unresolved' });
  expect((await assize.effects())[0]?.effects).toMatchObject([{ undoCost: { usd: 3 } }]);
  await expect(another()).rejects.toThrow(refused);
  await assize.resolveEffect({
    epoch: left!.epoch,
    n: 0,
    as: 'residue',
    by: 'ops',
    writ: operatorWrit(),
    evidence: 'it may stay',
  });
  expect(await made.left()).toBe(10);
  expect((await another()).ruling.ruling).toBe('committed');
});

test.each([
  ['whose answer was lost is booked', () => new Error('the line went dead'), 'in_doubt', 7],
  [
    'which was refused, and done by hand, is not',
    () => new DidNothing('no', { final: true }),
    'unresolved',
    10,
  ],
] as const)(
  'undoing %s, when a person says that it is not there',
  async (_, trouble, phase, rest) => {
    const made = await world(10);
    const { assize, bank, store } = made;
    bank.trouble = trouble;
    await expect(
      act(made, (tx) => tx.call('bank.charge', { what: 'a' }).then(thrown)),
    ).rejects.toBe(THROWN);
    const [left] = await assize.recoverEffects();
    expect(left).toMatchObject({ phase });
    await assize.resolveEffect({
      epoch: left!.epoch,
      n: 0,
      as: 'undone',
      by: 'ops',
      writ: operatorWrit(),
      evidence: 'it is gone',
    });
    expect(await made.left()).toBe(rest);
    await expectEffectLogMatches(store, 't', []);
  },
);

test('an adopting process knows the reservation and books it', async () => {
  const { bank, store, assize, writ } = await world(10);
  await assize.close();
  // The transaction ends when its compensation is durable.
  const steps = new Steps(4);
  const first = runtimeOver(storeOf(store, steps), [costly], { tools: [bank.charge] });
  const dying = first
    .open('t')
    .then((trajectory) =>
      act({ trajectory, writ }, (tx) => tx.call('bank.charge', { what: 'a' }).then(thrown)),
    );
  await Promise.race([dying.catch(() => undefined), steps.ended]);
  expect([steps.isDead, bank.log]).toEqual([true, ['do a']]);

  const { promise, resolve } = Promise.withResolvers<void>();
  bank.isSlow = promise;
  const second = runtimeOver(store, [costly], { tools: [bank.charge] });
  const trajectory = await second.open('t');
  const another = (undoing: number) =>
    trajectory.transaction({ writ, writes: ['bank:z'] }, async (tx) => {
      await tx.call('bank.charge', { what: 'z', undoing });
      tx.propose({ action: 'count', role: 'counter', args: '' });
    });
  await expect(another(6)).rejects.toThrow(refused);
  expect((await another(5)).ruling.ruling).toBe('committed');
  resolve();
  await second.recoverEffects();
  await second.close();
  expect(bank.log).toEqual(['do a', 'do z', 'undo a']);
  expect(await leftOf(store, writ)).toBe(10 - 2 - 3);
  await expectEffectLogMatches(store, 't', []);
});

test('a cost is booked under a writ without other use that was revoked earlier', async () => {
  const { bank, store, assize, trajectory } = await world(10);
  const keys = generateKeys(new Uint8Array(32).fill(3));
  const above = writFor(keys.publicKey, { trajectory: 't', budget: { usd: 8 }, nonce: 'above' });
  const writ = attenuate(
    above,
    { subject: 'bob', nonce: 'below', budget: { usd: 6 } },
    keys.privateKey,
  );
  const by = writFor('admin', { actions: ['assize.revoke'], scopes: ['writ:**'] });
  const options = { writ: { writ, chain: [above] }, writes: ['bank:**'] };
  const undone = trajectory.transaction(options, async (tx) => {
    await tx.call('bank.charge', { what: 'a' });
    await trajectory.writs.revoke({
      writ: { writ, chain: [above] },
      reason: 'enough',
      by,
    } as never);
    await expect(tx.call('bank.charge', { what: 'b' })).rejects.toMatchObject({
      reason: 'not_authorised',
    });
    throw THROWN;
  });
  await expect(undone).rejects.toBe(THROWN);
  expect(bank.log).toEqual(['do a', 'undo a']);
  await assize.close();
  await expectEffectLogMatches(store, 't', []);
  const listed = await listWrits(store, 't');
  expect(listed.find(({ id }) => id === writId(writ))).toMatchObject({
    spent: { usd: 3 },
    left: { usd: 3 },
  });
  await integrateLog(store);
  const copy = new MemoryStore();
  await importLines(copy, linesOf(store));
  expect(await listWrits(copy, 't')).toEqual(listed);
});

test('after foreign spending a cost is booked once, up to the budget', async () => {
  const made = await world(10);
  const { store, writ } = made;
  const acted = act(made, async (tx) => {
    await tx.call('bank.charge', { what: 'a', undoing: 8 });
    const elsewhere = await runtimeOver(store, [costly]).open('t');
    const spent = await elsewhere.propose({
      action: 'count',
      role: 'counter',
      args: 'seven s',
      writ,
    } as never);
    expect(spent.ruling).toBe('committed');
    throw THROWN;
  });
  await expect(acted).rejects.toBe(THROWN);
  expect(await made.left()).toBe(0);
  // The cost is recorded nevertheless.
  expect((await entries(store)).map(undoingCostsOf).filter(Boolean)).toMatchObject([
    { costs: [{ usd: 8 }] },
  ]);
  await expectEffectLogMatches(store, 't', []);
});

test.each<[string, object]>([
  [
    'only reads',
    {
      class: 'read',
      writes: undefined,
      compensate: undefined,
      undoCost: undefined,
      reads: ['bank:a'],
    },
  ],
  ['acts immediately', {}],
  ['is held', { class: { reversibility: 'with_cost', delivery: 'buffered', sink: 'keyed' } }],
])('a tool that %s is asked for each cost once, so charge and record agree', async (_, change) => {
  const asked = { cost: 0, undoCost: 0 };
  const { spec } = new Bank().charge;
  // Charges more on each request.
  const cost = () => ({ usd: ++asked.cost });
  const undoCost = () => ({ usd: ++asked.undoCost });
  const [store, writ] = [new MemoryStore(), budgeted(10)];
  const tools = [declareTool({ ...spec, cost, undoCost, ...change } as never)];
  const assize = runtimeOver(store, [costly], { tools });
  const trajectory = await assize.create(costly, { trajectoryId: 't', writs: [writ] });
  await act({ trajectory, writ }, (tx) => tx.call('bank.charge', { what: 'a' }));
  await assize.close();
  expect(asked).toEqual({ cost: 1, undoCost: 'undoCost' in change ? 0 : 1 });
  expect(await leftOf(store, writ)).toBe(9);
  await expectEffectLogMatches(store, 't', []);
});

test('a declaration states the compensation cost if it has one, in valid units', async () => {
  const { spec } = new Bank().charge;
  const declared = (change: object) => () => declareTool({ ...spec, ...change } as never);
  const invalid = (what: string) =>
    expect.objectContaining({ reason: 'invalid_tool', message: expect.stringContaining(what) });
  expect(declared({ undoCost: { usd: 3 } })).toThrow(invalid('its undoCost must be a function'));
  expect(declared({ cost: 3 })).toThrow(invalid('its cost must be a function'));
  expect(declared({ class: { ...(spec.class as object), reversibility: 'reversible' } })).toThrow(
    invalid('with_cost'),
  );
  expect(declared({ compensate: undefined, uncompensated: 'so' })).toThrow(
    invalid('needs a compensate'),
  );
  expect(declared({ class: 'read', compensate: undefined, writes: undefined })).toThrow(
    invalid('cannot have undoCost'),
  );
  const made = await world(10);
  const wrong = made.bank.charge.spec.undoCost!({ what: 'a', undoing: 0.5 });
  expect(wrong).toEqual({ usd: 0.5 });
  await expect(
    act(made, (tx) => tx.call('bank.charge', { what: 'a', undoing: 0.5 })),
  ).rejects.toMatchObject({
    code: 'bad_argument',
    message: expect.stringContaining('The undoCost of bank.charge is not valid: The amount of usd'),
  });
  expect(made.bank.log).toEqual([]);
});

/** Like `costly`, with an order that declares `onFailure`, and human approvers. */
const ordering = defineDomain<any, any>({
  ...(costly.declared as any),
  name: 'ordering',
  actions: {
    ...(costly.declared as any).actions,
    order: {
      ...(tally.declared as any).actions.count,
      onFailure: (name: string) => ({ action: 'order', args: `no ${name}` }),
    },
  },
  counselors: { boss: (principal: string) => principal === 'boss' },
});

const DEAR = { undoCost: () => ({ usd: 8 }), cost: () => ({ usd: 0 }) };

/** A bank, and a pigeon that is refused permanently when it is released. */
async function ordered(delivery: 'buffered' | 'externalised') {
  const [bank, store, writ] = [new Bank(), new MemoryStore(), budgeted(10)];
  const { promise: isLetGo, resolve: letGo } = Promise.withResolvers<void>();
  const pigeon = declareTool({
    name: 'pigeon',
    input: z.strictObject({}),
    class: { reversibility: 'with_cost', delivery: 'buffered', sink: 'keyed' },
    writes: ['bank:z'],
    execute: async () => {
      await isLetGo;
      throw new DidNothing('it is gone', { final: true });
    },
    compensate: () => ({ undone: 'all' }),
  });
  const { spec } = bank.charge;
  const charge = declareTool({
    ...spec,
    ...DEAR,
    class: { ...(spec.class as object), delivery },
  } as never);
  const assize = runtimeOver(store, [ordering], { tools: [charge, pigeon] });
  const trajectory = await assize.create(ordering, { trajectoryId: 't', writs: [writ] });
  const order = (what: string, more: object = {}) =>
    trajectory.transaction({ writ, writes: ['bank:**'], retries: 0, ...more }, async (tx) => {
      await tx.call('bank.charge', { what });
      await tx.call('pigeon', {});
      tx.propose({ action: 'order', role: 'counter', args: what });
    });
  const spend = (args: string) =>
    trajectory.propose({ action: 'count', role: 'counter', args, writ } as never);
  return { bank, store, assize, trajectory, writ, order, spend, letGo };
}

test.each(['buffered', 'externalised'] as const)(
  'a committed call that may be compensated, %s, keeps and books that cost',
  async (delivery) => {
    const { bank, store, assize, trajectory, writ, order, spend, letGo } = await ordered(delivery);
    const made = order('a');
    // Immediately after the commit.
    while ((trajectory.state() as any).done.a === undefined) await new Promise(setImmediate);
    expect(await spend('333')).toMatchObject({ ruling: 'rejected', reason: 'budget_exhausted' });
    expect(await spend('22')).toMatchObject({ ruling: 'committed' });
    letGo();
    expect(await made).toMatchObject({ effects: 'failed', failure: { ruling: 'committed' } });
    expect(bank.log).toEqual(['do a', 'undo a']);
    await assize.close();
    const [listed] = await listWrits(store, 't');
    expect(listed).toMatchObject({ id: writId(writ), left: { usd: 0 } });
    await expectEffectLogMatches(store, 't', []);
    expect((await deepReplay(store, 't', { domains: [ordering] })).differences).toEqual([]);
  },
);

test('where nothing fails, it is free as soon as all is settled', async () => {
  const { assize, trajectory, writ, spend } = await ordered('externalised');
  const made = await trajectory.transaction({ writ, writes: ['bank:**'] }, async (tx) => {
    await tx.call('bank.charge', { what: 'a' });
    tx.propose({ action: 'order', role: 'counter', args: 'a' });
  });
  expect(made).toMatchObject({ effects: 'settled' });
  expect(await spend('9 letters')).toMatchObject({ ruling: 'committed' });
  await assize.close();
});

test('a proposal with an uncovered compensation after commit is not committed', async () => {
  const { bank, assize, order, spend, letGo } = await ordered('buffered');
  letGo();
  await spend('333');
  expect(await order('a')).toMatchObject({
    ruling: { ruling: 'rejected', reason: 'budget_exhausted' },
  });
  expect(bank.log).toEqual([]);
  // An aborted transaction keeps no reservation.
  expect(await spend('7 signs')).toMatchObject({ ruling: 'committed' });
  await assize.close();
});

test('an approval fails without changes if its tools exceed the budget by then', async () => {
  const [bank, store, writ] = [new Bank(), new MemoryStore(), budgeted(10)];
  const letter = declareTool({
    name: 'letter',
    input: z.strictObject({}),
    class: { reversibility: 'irreversible', delivery: 'externalised', sink: 'keyed' },
    writes: ['bank:z'],
    cost: () => ({ usd: 6 }),
    execute: () => void bank.log.push('letter'),
  });
  const assize = runtimeOver(store, [ordering], { tools: [bank.charge, letter] });
  const trajectory = await assize.create(ordering, { trajectoryId: 't', writs: [writ] });
  const { ruling } = await trajectory.transaction({ writ, writes: ['bank:z'] }, async (tx) => {
    await tx.call('letter', {});
    tx.propose({ action: 'order', role: 'counter', args: 'a' });
  });
  const waiting = (ruling as { pending: string }).pending;
  const undoing = (undone: number) =>
    act({ trajectory, writ }, (tx) =>
      tx.call('bank.charge', { what: 'a', undoing: undone }).then(thrown),
    );
  await expect(undoing(5)).rejects.toBe(THROWN);
  const approving = trajectory.approvals.approve(waiting, { principal: 'boss', method: 'test' });
  await expect(approving).rejects.toMatchObject({
    code: 'changed_since',
    message: expect.stringContaining('budget'),
  });
  expect([trajectory.state(), bank.log]).toEqual([{ done: {} }, ['do a', 'undo a']]);
  await trajectory.approvals.reject(waiting, {
    principal: 'boss',
    method: 'test',
    reason: 'too dear',
  });
  await assize.close();
  await expectEffectLogMatches(store, 't', []);
});
