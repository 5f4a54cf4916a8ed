import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { declareTool, type Resolvers } from '#effects';
import type { Lease } from '#ledger';
import { cases } from '../../../../../../tests/support/cases.ts';
import { runtimeOver, writFor } from '../../../../../../tests/support/ledger/runtime.ts';
import { OutsideSink, tally } from '../../../../../../tests/support/tools/effect-sink.ts';
import { asking } from '../../../../../../tests/support/tools/ledger-with-effects.ts';

const COUNT = { action: 'count', role: 'counter', args: 'order' } as const;

/** A name that is not in the table has no alias. */
const table =
  (names: Readonly<Record<string, string | readonly string[]>>) =>
  (scope: string): string | readonly string[] =>
    names[scope] ?? scope;

/** A tool for each delivery that acts on the scope in its input. */
function toolsOf(sink: OutsideSink) {
  const input = z.strictObject({ at: z.string(), what: z.string() });
  const shared = {
    input,
    writes: ({ at }: { at: string }) => [at],
    execute: ({ what }: { what: string }, { key }: { key: string }) => sink.do(key, what),
    compensate: ({ what }: { what: string }, _: unknown, { key }: { key: string }) => {
      sink.undo(key, what);
      return { undone: 'all' as const };
    },
  };
  const sort = { reversibility: 'reversible', sink: 'keyed' } as const;
  return [
    declareTool({ ...shared, name: 'act', class: { ...sort, delivery: 'externalised' } }),
    declareTool({ ...shared, name: 'hold', class: { ...sort, delivery: 'buffered' } }),
    declareTool({
      name: 'look',
      input: z.strictObject({ at: z.string() }),
      class: 'read',
      reads: ({ at }) => [at],
      execute: ({ at }) => at,
    }),
  ];
}

async function stage(
  resolvers?: Resolvers,
  options: { writ?: ReturnType<typeof writFor>; callTimeoutMs?: number } = {},
) {
  const sink = new OutsideSink('keyed');
  const store = new MemoryStore();
  const { own, end } = mortal(store);
  const given = resolvers === undefined ? {} : { resolvers };
  const assize = runtimeOver(own, [tally], {
    tools: toolsOf(sink),
    effects: { callTimeoutMs: options.callTimeoutMs ?? 1_000, ...given },
  });
  const trajectory = await assize.create(tally, { trajectoryId: 't' });
  return { sink, store, end, assize, trajectory, writ: options.writ ?? writFor('alice') };
}

type Stage = Awaited<ReturnType<typeof stage>>;

/** A transaction that claims a scope and acts there, by any names. */
function acting({ trajectory, writ }: Stage, claim: string, at: string, what: string) {
  return trajectory.transaction({ writ, writes: [claim], retries: 0 }, async (tx) => {
    await tx.call('act', { at, what });
    tx.propose(COUNT);
  });
}

const errorOf = (made: Promise<unknown>): Promise<any> =>
  made.then(
    () => undefined,
    (error) => error,
  );

/** Whether a later transaction waits for an earlier one that has claimed this and has not ended. */
async function isOrdered(made: Stage, first: string, second: string): Promise<boolean> {
  const { trajectory, writ, sink } = made;
  const begun = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const older = trajectory.transaction({ writ, writes: [first], retries: 0 }, async (tx) => {
    begun.resolve();
    await goOn.promise;
    await tx.call('act', { at: first, what: 'older' });
    tx.propose(COUNT);
  });
  await begun.promise;
  const younger = acting(made, second, second, 'younger');
  // A transaction that need not wait has ended by then. One that waits has not, even with more
  // time.
  const ended = await Promise.race([younger.then(() => true), settled().then(() => false)]);
  goOn.resolve();
  await Promise.all([older, younger]);
  const order = sink.log
    .map(({ what }) => what)
    .filter((what) => what === 'older' || what === 'younger');
  expect(order).toEqual(ended ? ['younger', 'older'] : ['older', 'younger']);
  sink.log.length = 0;
  return !ended;
}

/** More turns of the event loop than a transaction in memory takes. */
async function settled(): Promise<void> {
  for (let turns = 0; turns < 50; turns++) await new Promise(setImmediate);
}

describe('transactions that name one thing in two ways', () => {
  const resolvers = {
    crm: table({ 'crm:mail:ada': 'crm:customer:7', 'crm:phone:1': 'crm:customer:7' }),
  };

  test.each([
    ['crm:mail:ada', 'crm:customer:7', true],
    ['crm:mail:ada', 'crm:phone:1', true],
    ['crm:customer:*', 'crm:phone:1', true],
    ['crm:mail:ada', 'crm:mail:bob', false],
    ['crm:mail:ada', 'crm:customer:8', false],
  ])('%s and %s act in order: %s', async (first, second, expected) => {
    if (!first.includes('*'))
      expect(await isOrdered(await stage(resolvers), first, second)).toBe(expected);
    const made = await stage(resolvers);
    const wide = await acting(made, 'crm:customer:*', second, 'x').then(
      () => true,
      (error) => error.reason,
    );
    expect(wide).toBe(second === 'crm:mail:bob' ? 'scope_exceeded' : true);
  });

  test('are not seen to without a resolver', async () => {
    expect(await isOrdered(await stage(), 'crm:mail:ada', 'crm:customer:7')).toBe(false);
  });

  test('are ordered if they share a canonical scope, under any aliases', async () => {
    const canonical = fc.constantFrom('a:1', 'a:2', 'b:1', 'b:2');
    const alias = fc.constantFrom('a:x', 'a:y', 'a:z', 'b:x');
    const names = fc.dictionary(alias, fc.uniqueArray(canonical, { minLength: 1, maxLength: 2 }), {
      noNullPrototype: true,
    });
    await fc.assert(
      fc.asyncProperty(
        names,
        fc.oneof(alias, canonical),
        fc.oneof(alias, canonical),
        async (given, one, other) => {
          const resolver = async (scope: string) => given[scope] ?? scope;
          const made = await stage({ a: resolver, b: resolver });
          const [left, right] = [given[one] ?? [one], given[other] ?? [other]];
          expect(await isOrdered(made, one, other)).toBe(left.some((name) => right.includes(name)));
          await made.assize.close();
        },
      ),
      { numRuns: cases(200) },
    );
  });
});

describe('the canonical names of a transaction', () => {
  const resolvers = {
    crm: table({ 'crm:mail:ada': 'crm:customer:7' }),
    shop: table({ 'shop:order:1': ['shop:order:1', 'stock:lamp'] }),
  };
  const granting = (...scopes: string[]) => ({
    writ: writFor('alice', { actions: ['act', 'count'], scopes: ['role:**', ...scopes] }),
  });

  test('the writ is asked about these', async () => {
    const byId = await stage(resolvers, granting('crm:customer:*'));
    expect((await acting(byId, 'crm:mail:ada', 'crm:mail:ada', 'x')).ruling.ruling).toBe(
      'committed',
    );
    const byMail = await stage(resolvers, granting('crm:mail:*'));
    expect(await errorOf(acting(byMail, 'crm:mail:ada', 'crm:mail:ada', 'x'))).toMatchObject({
      reason: 'not_authorised',
    });
    expect(byMail.sink.log).toEqual([]);
  });

  test('the writ must also cover additional canonical scopes', async () => {
    const order = await stage(resolvers, granting('shop:**'));
    expect(await errorOf(acting(order, 'shop:order:1', 'shop:order:1', 'x'))).toMatchObject({
      reason: 'not_authorised',
    });
    const both = await stage(resolvers, granting('shop:**', 'stock:**'));
    expect((await acting(both, 'shop:order:1', 'shop:order:1', 'x')).ruling.ruling).toBe(
      'committed',
    );
    expect(await isOrdered(await stage(resolvers), 'shop:order:1', 'stock:lamp')).toBe(true);
  });

  test('the log has canonical names, and recovery calls no resolver', async () => {
    const { store, sink, end, trajectory, writ } = await stage(resolvers);
    const acted = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const dying = trajectory.transaction(
      { writ, writes: ['crm:mail:ada', 'shop:order:1'], retries: 0 },
      async (tx) => {
        await tx.call('act', { at: 'crm:mail:ada', what: 'left' });
        acted.resolve();
        await goOn.promise;
        tx.propose(COUNT);
      },
    );
    await acted.promise;
    const [left] = await store.openEffects();
    const claims = JSON.parse(left!.body).claims.map(({ scope }: { scope: string }) => scope);
    expect(claims).toEqual(['crm:customer:7', 'shop:order:1', 'stock:lamp']);
    const asked: string[] = [];
    await end();
    const next = runtimeOver(store, [tally], {
      tools: toolsOf(sink),
      effects: {
        resolvers: {
          crm: (scope) => {
            asked.push(scope);
            throw new Error('nobody is there');
          },
        },
      },
    });
    expect(await next.recoverEffects()).toEqual([]);
    expect([sink.standing('left'), asked]).toEqual([0, []]);
    // If the process has not ended after all, the call is too late and its caller gets an error.
    goOn.resolve();
    await expect(dying).rejects.toMatchObject({ code: 'lease_lost' });
    expect(sink.standing('left')).toBe(0);
  });
});

describe('a resolver', () => {
  const names = [0];

  test.each<[string, () => any]>([
    ['that throws', () => Promise.reject(new Error('the directory is down'))],
    ['that gives nothing', () => []],
    ['that gives a value that is not a scope', () => 'x:../y'],
    ['whose names have others', () => `x:${names.push(0)}`],
    ['that does not answer', () => new Promise(() => undefined)],
  ])('%s keeps a transaction from everything', async (_, broken) => {
    const made = await stage({ x: broken }, { callTimeoutMs: 20 });
    const { trajectory, writ, sink, store } = made;
    expect(await errorOf(acting(made, 'x:1', 'x:1', 'never'))).toMatchObject({
      reason: 'bad_resolver',
    });
    const said: string[] = [];
    const within = trajectory.transaction({ writ, writes: ['**'], retries: 0 }, async (tx) => {
      said.push((await errorOf(tx.expand({ writes: ['x:2'] })))?.reason);
      for (const tool of ['act', 'hold'])
        said.push((await errorOf(tx.call(tool, { at: 'x:1', what: 'never' })))?.reason);
      said.push((await errorOf(tx.call('look', { at: 'x:1' })))?.reason);
      await tx.call('hold', { at: 'y:1', what: 'well' });
      tx.propose(COUNT);
    });
    expect((await within).ruling.ruling).toBe('committed');
    expect(said).toEqual(['bad_resolver', 'bad_resolver', 'bad_resolver', 'bad_resolver']);
    expect(sink.log.map(({ what }) => what)).toEqual(['well']);
    await made.assize.close();
    expect(await store.openEffects()).toEqual([]);
  });

  test('that is slow changes neither the order nor the keys of buffered effects', async () => {
    const keysWith = async (resolver: (scope: string) => Promise<string>): Promise<string[]> => {
      const { trajectory, writ, sink } = await stage({ x: resolver });
      await trajectory.transaction(
        { writ, writes: ['x:**'], name: 'n', retries: 0 },
        async (tx) => {
          await Promise.all(
            ['1', '2', '3'].map((what) => tx.call('hold', { at: `x:${what}`, what })),
          );
          tx.propose(COUNT);
        },
      );
      expect(sink.log.map(({ what }) => what)).toEqual(['1', '2', '3']);
      return sink.log.map(({ key }) => key);
    };
    const slowFirst = async (scope: string): Promise<string> => {
      if (scope === 'x:1') await settled();
      return scope;
    };
    expect(await keysWith(slowFirst)).toEqual(await keysWith(async (scope) => scope));
  });

  test('a refused call keeps its index, so keys do not depend on permissions', async () => {
    const keyWith = async (scopes: string[]): Promise<string | undefined> => {
      const writ = writFor('alice', { scopes: ['role:**', 'y:**', ...scopes] });
      const { trajectory, sink } = await stage({}, { writ });
      await trajectory.transaction({ writ, writes: ['**'], name: 'n', retries: 0 }, async (tx) => {
        await errorOf(tx.call('hold', { at: 'x:1', what: 'perhaps' }));
        await tx.call('hold', { at: 'y:1', what: 'surely' });
        tx.propose(COUNT);
      });
      return sink.log.find(({ what }) => what === 'surely')?.key;
    };
    expect(await keyWith([])).toBe(await keyWith(['x:**']));
  });
});

describe('a resolver that lies', () => {
  test('with alternating answers leads out of the claimed scope', async () => {
    let asked = 0;
    const made = await stage({
      x: (scope) => (scope === 'x:it' ? `x:${asked++ === 0 ? 'mine' : 'yours'}` : scope),
    });
    expect(await errorOf(acting(made, 'x:it', 'x:it', 'never'))).toMatchObject({
      reason: 'scope_exceeded',
      evidence: { scope: 'x:yours' },
    });
    expect(made.sink.log).toEqual([]);
  });

  test.each(['**', 'y:**', '*:it'])(
    'and gives %s for one thing, needs a writ for that',
    async (wide) => {
      const made = await stage(
        { x: (scope) => (scope === 'x:it' ? wide : scope), y: (scope) => scope },
        { writ: writFor('alice', { scopes: ['role:**', 'x:**'] }) },
      );
      expect(await errorOf(acting(made, 'x:it', 'x:it', 'never'))).toMatchObject({
        reason: 'not_authorised',
      });
      const claimed = await stage({ x: (scope) => (scope === 'x:it' ? wide : scope) });
      expect(await errorOf(acting(claimed, 'x:other', 'x:it', 'never'))).toMatchObject({
        reason: 'scope_exceeded',
      });
      expect([...made.sink.log, ...claimed.sink.log]).toEqual([]);
    },
  );

  test('cannot make a transaction act on a quarantined scope by an alias', async () => {
    const sink = new OutsideSink('blind');
    const lost = declareTool({
      name: 'lose',
      input: z.strictObject({ at: z.string() }),
      class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'blind' },
      writes: ({ at }) => [at],
      execute: () => {
        throw new Error('the line is dead');
      },
    });
    const assize = runtimeOver(new MemoryStore(), [tally], {
      tools: [lost, ...toolsOf(sink)],
      effects: { resolvers: { crm: table({ 'crm:mail:ada': 'crm:customer:7' }) } },
    });
    const trajectory = await assize.create(tally, { trajectoryId: 't' });
    const options = { writ: writFor('alice'), retries: 0 };
    await trajectory.transaction({ ...options, writes: ['crm:mail:ada'] }, async (tx) => {
      await tx.call('lose', { at: 'crm:mail:ada' });
      tx.propose(COUNT);
    });
    for (const name of ['crm:mail:ada', 'crm:customer:7', 'crm:customer:*'])
      expect(
        await errorOf(trajectory.transaction({ ...options, writes: [name] }, () => undefined)),
      ).toMatchObject({
        code: 'resource_in_doubt',
      });
  });
});

describe('a name that leads elsewhere later', () => {
  test('is not accessed by a transaction that claimed its former target', async () => {
    const links: Record<string, string> = { 'fs:/link': 'fs:/mine' };
    const made = await stage({ fs: (scope) => links[scope] ?? scope });
    const { trajectory, writ, sink } = made;
    const done = trajectory.transaction({ writ, writes: ['fs:/link'], retries: 0 }, async (tx) => {
      await tx.call('act', { at: 'fs:/link', what: 'mine' });
      links['fs:/link'] = 'fs:/yours';
      await tx.call('act', { at: 'fs:/link', what: 'yours' });
    });
    expect(await errorOf(done)).toMatchObject({
      reason: 'scope_exceeded',
      evidence: { scope: 'fs:/yours' },
    });
    expect([sink.standing('mine'), sink.times('do', 'yours')]).toEqual([0, 0]);
  });

  test.each(['act', 'hold', 'look'])(
    'is awaited and resolved again if an older transaction changes it: %s',
    async (tool) => {
      const links: Record<string, string> = { 'fs:/link': 'fs:/mine' };
      const made = await stage({ fs: async (scope) => links[scope] ?? scope });
      const { trajectory, writ, sink, assize } = made;
      const begun = Promise.withResolvers<void>();
      const goOn = Promise.withResolvers<void>();
      const older = trajectory.transaction(
        { writ, writes: ['fs:/mine'], retries: 0 },
        async (tx) => {
          begun.resolve();
          await goOn.promise;
          links['fs:/link'] = 'fs:/yours';
          await tx.call('act', { at: 'fs:/mine', what: 'renamed' });
          tx.propose(COUNT);
        },
      );
      await begun.promise;
      const epochs: number[] = [];
      const younger = trajectory.transaction(
        { writ, writes: ['fs:/link'], retries: 1 },
        async (tx) => {
          epochs.push(tx.epoch);
          await tx.call(
            tool,
            tool === 'look' ? { at: 'fs:/link' } : { at: 'fs:/link', what: 'it' },
          );
          tx.propose(COUNT);
        },
      );
      await settled();
      goOn.resolve();
      await older;
      const { epoch = 0, ruling } = await younger;
      expect([ruling.ruling, epochs]).toEqual(['committed', [2, 3]]);
      if (tool === 'look') return;
      expect(sink.log.map(({ what }) => what)).toEqual(['renamed', 'it']);
      const [logged] = await assize.effects({ epoch });
      expect(logged?.claims.map(({ scope }) => scope.text)).toEqual(['fs:/yours']);
    },
  );

  test.each([0, 1])(
    'is not accessed by an effect buffered for the old target, %i retries',
    async (retries) => {
      const links: Record<string, string> = { 'fs:/link': 'fs:/mine' };
      const made = await stage({ fs: (scope) => links[scope] ?? scope });
      const { trajectory, writ, sink } = made;
      const done = trajectory.transaction({ writ, writes: ['fs:/**'], retries }, async (tx) => {
        await tx.speculate(
          [(branch) => branch.call('hold', { at: 'fs:/link', what: 'held' })],
          () => 0,
        );
        // The scope is claimed, but its write was never authorised.
        links['fs:/link'] = 'fs:/yours';
        tx.propose(COUNT);
      });
      if (retries === 0)
        expect(await errorOf(done)).toMatchObject({
          code: 'stale',
          evidence: { scope: 'fs:/yours' },
        });
      else expect((await done).ruling.ruling).toBe('committed');
      expect(sink.times('do', 'held')).toBe(retries);
    },
  );

  test('is not accessed by an approval for its former target', async () => {
    const links: Record<string, string> = { 'fs:/link': 'fs:/mine' };
    const sink = new OutsideSink('keyed');
    const assize = runtimeOver(new MemoryStore(), [asking], {
      tools: toolsOf(sink),
      effects: { resolvers: { fs: (scope) => links[scope] ?? scope } },
    });
    const trajectory = await assize.create(asking, { trajectoryId: 't' });
    const ask = () =>
      trajectory.transaction(
        { writ: writFor('alice'), writes: ['fs:/link'], retries: 0 },
        async (tx) => {
          await tx.call('hold', { at: 'fs:/link', what: 'held' });
          tx.propose({ ...COUNT, args: 'asked' });
        },
      );
    const { ruling } = await ask();
    const { pending } = ruling as Extract<typeof ruling, { ruling: 'escalated' }>;
    links['fs:/link'] = 'fs:/yours';
    const approval = { principal: 'doc', method: 'test', override: true };
    expect(await errorOf(trajectory.approvals.approve(pending, approval))).toMatchObject({
      code: 'stale',
    });
    expect(sink.log).toEqual([]);
    links['fs:/link'] = 'fs:/mine';
    expect((await trajectory.approvals.approve(pending, approval)).ruling).toBe('committed');
    expect(sink.standing('held')).toBe(1);
  });
});

/** A store with a process that can end, together with its lease. */
function mortal(store: MemoryStore): {
  readonly own: MemoryStore;
  readonly end: () => Promise<void>;
} {
  const held: Lease[] = [];
  const own = new Proxy(store, {
    get: (target, name) => {
      const member = Reflect.get(target, name) as unknown;
      if (name === 'leaseEffects')
        return async (signal?: AbortSignal) => {
          held.push(await target.leaseEffects(signal));
          return held.at(-1);
        };
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  return { own, end: async () => held.at(-1)!.release() };
}
