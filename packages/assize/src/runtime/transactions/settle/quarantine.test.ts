import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { type BatchedCall, declareTool } from '#effects';
import {
  operatorWrit,
  runtimeOver,
  writFor,
} from '../../../../../../tests/support/ledger/runtime.ts';
import {
  type Fault,
  OutsideSink,
  Steps,
  storeOf,
  tally,
  toolFor,
} from '../../../../../../tests/support/tools/effect-sink.ts';
import { orders } from '../../../../../../tests/support/tools/orders.ts';

// An unresolved effect blocks its own scopes and no others.

const COUNT = { action: 'count', role: 'counter', args: 'order' } as const;
const FOUND = { by: 'ops', writ: operatorWrit(), evidence: 'as it was found' };
const ALL = { writ: writFor('alice'), writes: ['test:**'], reads: ['other:**'], retries: 0 };
const TOOLS = ['reversible.externalised', 'irreversible.buffered'] as const;

function stage(shared = false) {
  const store = new MemoryStore({ shared });
  const sink = new OutsideSink('blind');
  const faults = new Map<string, Fault>();
  const fault = (of: string, what: string) => faults.get(`${of} ${what}`) ?? 'none';
  const process = async () => {
    const outside = { sink, steps: new Steps(), fault };
    const tools = [
      toolFor(outside, 'reversible', 'externalised'),
      toolFor(outside, 'irreversible', 'buffered'),
    ];
    const assize = runtimeOver(store, [tally], { tools });
    onTestFinished(() => assize.close());
    const begun = (await store.head('t')) === undefined;
    const trajectory = begun
      ? await assize.create(tally, { trajectoryId: 't' })
      : await assize.open('t');
    /** Calls a tool at each of these places, by their names. */
    const at = async (
      places: readonly string[],
      tool: (typeof TOOLS)[number],
      ends = 'commits',
      options = {},
    ) =>
      trajectory
        .transaction({ ...ALL, ...options }, async (tx) => {
          for (const place of places) await tx.call(tool, { what: place, at: place });
          if (ends === 'throws') throw new Error('undo it');
          tx.propose(COUNT);
        })
        .catch((error: Error) => error.message);
    /** The places that are refused. */
    const refused = async (...places: string[]) => {
      const found: string[] = [];
      for (const place of places)
        await trajectory
          .transaction({ ...ALL, writes: [`test:${place}`] }, (tx) => tx.propose(COUNT))
          .catch((error: { code?: string }) => {
            expect(error.code).toBe('resource_in_doubt');
            found.push(place);
          });
      return found;
    };
    const left = async () =>
      (await assize.recoverEffects()).map(({ n, claims }) => [n, ...claims.map(textOf)]);
    const resolve = async (n: number, as: 'applied' | 'undone') => {
      const [{ epoch } = { epoch: 0 }] = await assize.recoverEffects();
      return assize.resolveEffect({ ...FOUND, epoch, n, as });
    };
    return { assize, at, refused, left, resolve };
  };
  return { store, sink, faults, process };
}

const textOf = ({ access, scope }: { access: string; scope: { text: string } }): string =>
  `${access} ${scope.text}`;

describe.each<[string, (typeof TOOLS)[number], string, string, Fault]>([
  ['that was committed', 'irreversible.buffered', 'commits', 'do', 'lose'],
  ['that is undone', 'reversible.externalised', 'throws', 'undo', 'fail'],
])('a transaction %s', (_, tool, ends, of, fault) => {
  test('blocks only the scopes of unresolved effects, each until it is decided', async () => {
    const { faults, process } = stage();
    for (const place of ['b', 'c']) faults.set(`${of} ${place}`, fault);
    const one = await process();
    await one.at(['a', 'b', 'c', 'd'], tool, ends);
    expect(await one.left()).toEqual([
      [1, 'write test:b'],
      [2, 'write test:c'],
    ]);
    expect(await one.refused('a', 'b', 'c', 'd', 'e')).toEqual(['b', 'c']);
    await one.resolve(1, 'undone');
    expect(await one.left()).toEqual([[2, 'write test:c']]);
    expect(await one.refused('a', 'b', 'c', 'd')).toEqual(['c']);
    await one.resolve(2, 'undone');
    expect(await one.refused('a', 'b', 'c', 'd')).toEqual([]);
  });

  test('blocks them after its process ended too, and all if its text was erased', async () => {
    const { store, faults, process } = stage();
    faults.set(`${of} b`, fault);
    const one = await process();
    await one.at(['a', 'b'], tool, ends);
    await one.assize.close();
    const two = await process();
    expect(await two.left()).toEqual([[1, 'write test:b']]);
    expect(await two.refused('a', 'b')).toEqual(['b']);
    await two.assize.close();
    const ids = (await store.entries('t')).map(({ id }) => id);
    const erasing = runtimeOver(store, [tally]);
    await (await erasing.open('t')).erase({ entries: ids, reason: 'asked for', writ: ALL.writ });
    const three = await process();
    expect(await three.left()).toEqual([[1, 'read other:**', 'write test:**']]);
    expect(await three.refused('a', 'b', 'e')).toEqual(['a', 'b', 'e']);
    // An operator's decision needs no text.
    await three.resolve(1, 'undone');
    expect(await three.refused('a', 'b', 'e')).toEqual([]);
  });

  test('blocks again if a decision needs an erased value, until decided without', async () => {
    const { store, sink, faults, process } = stage();
    faults.set(`${of} b`, fault);
    const one = await process();
    await one.at(['b'], tool, ends);
    await one.assize.close();
    const erasing = runtimeOver(store, [tally]);
    const ids = (await store.entries('t')).map(({ id }) => id);
    await (await erasing.open('t')).erase({ entries: ids, reason: 'asked for', writ: ALL.writ });
    faults.clear();
    const two = await process();
    const [{ epoch } = { epoch: 0 }] = await two.assize.recoverEffects();
    const calls = sink.log.length;
    const again = { ...FOUND, epoch, n: 0, as: 'retry', confirm: true } as const;
    expect(await two.assize.resolveEffect(again)).toMatchObject({
      phase: 'unresolved',
      unresolved: 1,
    });
    expect(await two.assize.recoverEffects()).toMatchObject([
      { n: 0, phase: 'unresolved', why: 'erased' },
    ]);
    expect(sink.log).toHaveLength(calls);
    expect(await two.refused('b')).toEqual(['b']);
    await two.resolve(0, 'undone');
    expect(await two.refused('b')).toEqual([]);
  });

  test('blocks them for every concurrent and later group member', async () => {
    const { faults, process } = stage(true);
    faults.set(`${of} b`, fault);
    const [one, other] = [await process(), await process()];
    expect(await other.refused('a', 'b')).toEqual([]);
    await one.at(['a', 'b'], tool, ends);
    for (const each of [one, other, await process()])
      expect(await each.refused('a', 'b')).toEqual(['b']);
    await one.assize.close();
    const last = await process();
    for (const each of [other, last]) expect(await each.refused('a', 'b')).toEqual(['b']);
    await last.resolve(1, 'undone');
    for (const each of [other, last]) expect(await each.refused('a', 'b')).toEqual([]);
  });

  test('keeps its name, even if its other scopes are free', async () => {
    const { sink, faults, process } = stage();
    faults.set(`${of} b`, fault);
    const one = await process();
    await one.at(['a', 'b'], tool, ends, { name: 'order-1' });
    const before = sink.log.length;
    // At another place.
    const again = await one.at(['e'], tool, ends, { name: 'order-1', writes: ['test:e'] });
    if (ends === 'throws') expect(again).toMatch(/needs a human decision/);
    else expect(again).toMatch(/The transaction name order-1 was used for other content/);
    expect(sink.log.length).toBe(before);
    expect(await one.refused('a', 'b')).toEqual(['b']);
  });
});

describe('under an action with onFailure', () => {
  const world = async (sink: OutsideSink, faults: Map<string, Fault>, shared = false) => {
    const store = new MemoryStore({ shared });
    const outside = {
      sink,
      steps: new Steps(),
      fault: (of: string, what: string) => faults.get(`${of} ${what}`) ?? 'none',
    };
    const tools = (['reversible', 'irreversible'] as const).map((kind) =>
      toolFor(outside, kind, 'buffered'),
    );
    const assize = runtimeOver(store, [orders], { tools });
    onTestFinished(() => assize.close());
    const trajectory = await assize.create(orders, { trajectoryId: 't' });
    const order = (
      name: string,
      calls: readonly (readonly [kind: 'reversible' | 'irreversible', place: string])[],
    ) =>
      trajectory.transaction(
        { ...ALL, reads: [], writes: calls.map(([, place]) => `test:${place}`) },
        async (tx) => {
          for (const [kind, place] of calls)
            await tx.call(`${kind}.buffered`, { what: `${name} ${place}`, at: place });
          tx.propose({ action: 'order', role: 'counter', args: name });
        },
      );
    const code = (made: Promise<{ effects: string }>) =>
      made.then(
        ({ effects }) => effects,
        ({ code }) => code,
      );
    return { assize, order: (...given: Parameters<typeof order>) => code(order(...given)) };
  };

  test('a mail in doubt blocks its scope, and not the bookings that stand', async () => {
    const sink = new OutsideSink('blind');
    const { assize, order } = await world(sink, new Map([['do one mail', 'lose']]));
    const booked = [
      ['reversible', 'flight'],
      ['reversible', 'hotel'],
      ['irreversible', 'mail'],
    ] as const;
    expect(await order('one', booked)).toBe('needs_human');
    expect(await order('two', booked.slice(0, 2))).toBe('settled');
    expect(await order('three', booked.slice(2))).toBe('resource_in_doubt');
    const [{ epoch, n } = { epoch: 0, n: 0 }] = await assize.recoverEffects();
    await assize.resolveEffect({ ...FOUND, epoch, n, as: 'undone' });
    expect(await order('three', booked.slice(2))).toBe('settled');
  });

  test('what others may have built on is not compensated after a retry', async () => {
    const sink = new OutsideSink('blind');
    const faults = new Map<string, Fault>([['do one seat', 'lose_before']]);
    const { assize, order } = await world(sink, faults);
    expect(
      await order('one', [
        ['reversible', 'flight'],
        ['reversible', 'seat'],
      ]),
    ).toBe('needs_human');
    expect(await order('two', [['reversible', 'flight']])).toBe('settled');
    faults.set('do one seat', 'fail_for_good');
    const [{ epoch, n } = { epoch: 0, n: 0 }] = await assize.recoverEffects();
    const retried = { ...FOUND, epoch, n, as: 'retry', confirm: true } as const;
    expect(await assize.resolveEffect(retried)).toMatchObject({
      phase: 'unresolved',
      transaction: 'committed',
    });
    expect(['one flight', 'two flight'].map((what) => sink.standing(what))).toEqual([1, 1]);
    await assize.resolveEffect({ ...FOUND, epoch, n, as: 'undone' });
    expect(await assize.effects()).toEqual([]);
  });
});

test('the scope of an effect without its tool stays blocked too', async () => {
  const { store, faults, process } = stage();
  faults.set('undo b', 'fail');
  const one = await process();
  await one.at(['a', 'b', 'c'], 'reversible.externalised', 'throws');
  await one.assize.close();
  const bare = runtimeOver(store, [tally], { tools: [] });
  onTestFinished(() => bare.close());
  await bare.recoverEffects();
  // The effect exists, but this process cannot compensate it.
  await bare.resolveEffect({ ...FOUND, epoch: 1, n: 1, as: 'applied' });
  const trajectory = await bare.open('t');
  const count = (place: string) =>
    trajectory.transaction({ ...ALL, writes: [`test:${place}`] }, (tx) => tx.propose(COUNT));
  await count('a');
  await expect(count('b')).rejects.toMatchObject({ code: 'resource_in_doubt' });
});

test('an effect erased after a crash before it ran needs a human decision', async () => {
  const seen = new Set<string>();
  for (let endAt = 1; ; endAt++) {
    const store = new MemoryStore();
    const sink = new OutsideSink('keyed');
    const process = (steps: Steps) => {
      const tools = TOOLS.map((name) =>
        toolFor({ sink, steps }, ...(name.split('.') as ['reversible', 'buffered'])),
      );
      return runtimeOver(storeOf(store, steps), [tally], { tools });
    };
    const erasing = runtimeOver(store, [tally]);
    await erasing.create(tally, { trajectoryId: 't' });
    const steps = new Steps(endAt);
    const ordered = process(steps)
      .open('t')
      .then((trajectory) =>
        trajectory.transaction(ALL, async (tx) => {
          for (const tool of TOOLS) await tx.call(tool, { what: tool, at: 'b' });
          tx.propose(COUNT);
        }),
      );
    await Promise.race([ordered, steps.ended]);
    if (!steps.isDead) break;
    const ids = (await store.entries('t')).map(({ id }) => id);
    await (await runtimeOver(store, [tally]).open('t'))
      .erase({ entries: ids, reason: 'asked for', writ: ALL.writ })
      .catch(({ code }) => expect(code).toBe('nothing_to_erase'));
    const next = process(new Steps());
    for (const { epoch, n, phase, why } of await next.recoverEffects()) {
      seen.add(`${phase}, ${why}`);
      await next.resolveEffect({ ...FOUND, epoch, n, as: 'undone' });
    }
    expect(await next.effects()).toEqual([]);
    await next.close();
  }
  expect([...seen]).toEqual(['unresolved, erased', 'in_doubt, erased']);
});

test.each([0, 1])(
  'an effect erased alone, possibly called in a batch, is in doubt: %i',
  async (n) => {
    const done: string[] = [];
    for (let endAt = 1; ; endAt++) {
      const at = {};
      const process = (store: MemoryStore, steps: Steps) => {
        const execute = async (calls: readonly BatchedCall[]) => {
          await steps.step();
          done.push(...calls.map(({ part }) => part));
          await steps.step();
          return calls.map(() => null);
        };
        const tools = ['a', 'b'].map((name) =>
          declareTool({
            name,
            input: z.strictObject({}),
            class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
            writes: [`test:${name}`],
            batch: {
              at,
              part: name,
              execute,
              compensate: async (calls) => calls.map(() => ({ undone: 'all' })),
            },
            execute: () => null,
            compensate: () => ({ undone: 'all' }),
          }),
        );
        return runtimeOver(storeOf(store, steps), [tally], { tools });
      };
      const store = new MemoryStore();
      await runtimeOver(store, [tally]).create(tally, { trajectoryId: 't' });
      const steps = new Steps(endAt);
      const ordered = process(store, steps)
        .open('t')
        .then((trajectory) =>
          trajectory.transaction(ALL, async (tx) => {
            for (const name of ['a', 'b']) await tx.call(name, {});
            tx.propose(COUNT);
          }),
        );
      await Promise.race([ordered, steps.ended]);
      if (!steps.isDead) break;
      const [open] = await store.openEffects();
      const payloads = [
        ...JSON.stringify(open?.records ?? []).matchAll(/blob[^0-9a-f]*([0-9a-f]{64})/g),
      ];
      if (payloads.length === 0) continue;
      // Like an erasure of many values that stopped between two of its entries. The ledger is read
      // first, and verifies.
      const read = store.blob.bind(store);
      let reads = 0;
      store.blob = async (hash) =>
        hash === payloads[n]![1] && reads++ > 0 ? undefined : read(hash);
      const next = process(store, new Steps());
      const calls = done.length;
      expect(await next.recoverEffects()).toMatchObject([{ n, phase: 'in_doubt', why: 'erased' }]);
      expect(done).toHaveLength(calls);
      await next.close();
    }
    expect(done).not.toEqual([]);
  },
);
