import { batchOf, chainOf } from '@assize/testing/internal/store-rows.ts';
import { MemoryStore } from '@assize/testing/memory';
import { expect, test, vi } from 'vitest';
import { integrateLog } from './integrate.ts';

const QUESTIONS = ['logSize', 'unlogged', 'logNodes', 'integrate'] as const;

/** A store in which another writer acts just before the call with that number. */
function interrupted(at: number, other: (store: MemoryStore) => Promise<unknown>) {
  const store = new MemoryStore();
  const asked = { count: 0 };
  for (const name of QUESTIONS) {
    const ask: (...args: never[]) => Promise<unknown> = store[name].bind(store);
    vi.spyOn(store, name).mockImplementation(async (...args: unknown[]): Promise<any> => {
      if (asked.count++ === at) await other(store);
      return ask(...(args as never[]));
    });
  }
  return { store, asked };
}

test.each([0, 2])(
  'for any concurrent logger the returned size is the final one (%i more)',
  async (more) => {
    for (let at = 0; ; at++) {
      const chain = chainOf('t', 3 + more);
      const { store, asked } = interrupted(at, async (store) => {
        if (more > 0) await store.commit(batchOf(chain.slice(3)));
        await integrateLog(store);
      });
      await store.commit(batchOf(chain.slice(0, 3)));
      const size = await integrateLog(store);
      const wasInterrupted = asked.count > at;
      expect([at, size]).toEqual([at, wasInterrupted ? chain.length : 3]);
      expect(await store.logged(0, 10)).toEqual(chain.slice(0, size));
      if (!wasInterrupted) break;
    }
  },
);
