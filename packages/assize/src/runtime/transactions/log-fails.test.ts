import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test, vi } from 'vitest';
import type { Batch } from '#ledger';
import { StoreError } from '#stores';
import { runtimeOver } from '../../../../../tests/support/ledger/runtime.ts';
import {
  OutsideSink,
  Steps,
  tally,
  toolFor,
} from '../../../../../tests/support/tools/effect-sink.ts';
import { COUNT, codeOf, writ } from '../../../../../tests/support/tools/transaction-stage.ts';

/**
 * For two calls before the commit: the intent of the first; its outcome, with the second intent;
 * and the second outcome, with the commit.
 */
const WRITES = 3;

/** A store that refuses one of its writes of effects, once. */
function refusing(memory: MemoryStore, at: number): MemoryStore {
  let writes = 0;
  return new Proxy(memory, {
    get(target, name) {
      const member = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      if (name !== 'logEffects' && name !== 'commit') return member.bind(target);
      return async (...given: unknown[]) => {
        const writesEffects = name === 'logEffects' || (given[0] as Batch).effects !== undefined;
        if (writesEffects && ++writes === at)
          throw new StoreError('store_locked', 'Someone held a lock.', { retryable: true });
        return Reflect.apply(member, target, given);
      };
    },
  });
}

async function stage(shared: boolean, at: number) {
  const memory = new MemoryStore({ shared });
  await runtimeOver(memory, [tally]).create(tally, { trajectoryId: 't' });
  const sink = new OutsideSink('keyed');
  const tools = [toolFor({ sink, steps: new Steps() }, 'reversible', 'externalised')];
  const assize = runtimeOver(refusing(memory, at), [tally], { tools });
  const trajectory = await assize.open('t');
  /** `careless`: the body continues after any result of its calls. */
  const made = (careless = false) =>
    trajectory.transaction({ writ, writes: ['test:**'], retries: 0, name: 'order' }, async (tx) => {
      for (const what of ['a', 'b']) {
        const called = tx.call('reversible.externalised', { what });
        await (careless ? called.catch(() => undefined) : called);
      }
      tx.propose(COUNT);
    });
  return { memory, sink, assize, made };
}

describe.each([
  ['has the store to itself', false],
  ['works beside others', true],
])('where a runtime %s', (_, shared) => {
  test.each([
    ['throws', false],
    ['goes on', true],
  ])(
    'a failed log write is reported, not the gap after it; a body that %s',
    async (_, careless) => {
      const codes = await Promise.all(
        Array.from({ length: WRITES }, async (_, n) => {
          const { memory, sink, assize, made } = await stage(shared, n + 1);
          const code = await codeOf(made(careless));
          // Recovered from the log, and free afterwards.
          const again = await vi.waitFor(() => made(), { timeout: 60_000 });
          expect(again.ruling.ruling).toBe('committed');
          expect(['a', 'b'].map((what) => sink.standing(what))).toEqual([1, 1]);
          await assize.close();
          expect(await memory.openEffects()).toEqual([]);
          return code;
        }),
      );
      expect(codes).toEqual(Array(WRITES).fill('store_locked'));
    },
  );
});
