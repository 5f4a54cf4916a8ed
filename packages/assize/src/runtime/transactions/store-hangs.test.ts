import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import type { Membership } from '#ledger';
import type { Transaction } from '#runtime';
import { runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import { tally } from '../../../../../tests/support/tools/effect-sink.ts';

/** In shared mode, on a store that answers no member while it does not respond. */
async function stage() {
  const store = new MemoryStore({ shared: true });
  let whenOn = Promise.withResolvers<void>();
  whenOn.resolve();
  const own = new Proxy(store, {
    get(target, name) {
      const member = Reflect.get(target, name) as unknown;
      if (name !== 'joinEffects')
        return typeof member === 'function' ? member.bind(target) : member;
      return async (options: { readonly leaseMs: number }): Promise<Membership> => {
        const membership = await target.joinEffects!(options);
        return {
          ...membership,
          exchange: async (...given) => {
            await whenOn.promise;
            return membership.exchange(...given);
          },
        };
      };
    },
  });
  const assize = runtimeOver(own, [tally], { tools: [], effects: { leaseMs: 600_000 } });
  const trajectory = await assize.create(tally, { trajectoryId: 't' });
  const count = (
    deadlineMs: number,
    more: object = {},
    first: (tx: Transaction) => unknown = () => undefined,
  ) =>
    trajectory
      .transaction(
        { writ: writFor('alice'), writes: ['r:/a'], retries: 0, deadlineMs, ...more },
        async (tx) => {
          await first(tx);
          tx.propose({ action: 'count', role: 'counter', args: 'x' });
        },
      )
      .then(
        ({ effects }) => effects,
        ({ code }: { readonly code?: string }) => code,
      );
  await count(60_000);
  return {
    assize,
    count,
    hang: () => {
      whenOn = Promise.withResolvers();
    },
    goOn: () => whenOn.resolve(),
  };
}

test.each([
  ['begins', {}],
  ['begins late', { epoch: 'late' }],
])('a transaction that %s in a store hang meets its deadline, blocking none', async (_, more) => {
  const { assize, count, hang, goOn } = await stage();
  hang();
  expect(await count(50, more)).toBe('deadline');
  const next = count(60_000);
  goOn();
  expect(await next).toBe('settled');
  expect(await count(60_000, more)).toBe('settled');
  await assize.close();
});

test('a claim expansion in a store hang meets its deadline, blocking none', async () => {
  const { assize, count, hang, goOn } = await stage();
  const more = { writes: ['r:/b'] };
  const hangs = (tx: Transaction) => {
    hang();
    return tx.expand(more);
  };
  expect(await count(50, {}, hangs)).toBe('deadline');
  goOn();
  expect(await count(60_000, { writes: ['r:/a', 'r:/b'] })).toBe('settled');
  await assize.close();
});
