import { setImmediate as turn } from 'node:timers/promises';
import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import type { Batch } from '#ledger';
import { runtimeOver } from '../../../../../tests/support/ledger/runtime.ts';
import { tally } from '../../../../../tests/support/tools/effect-sink.ts';
import { COUNT, writ } from '../../../../../tests/support/tools/transaction-stage.ts';

test('a transaction with a new name does not wait for a commit in flight', async () => {
  const memory = new MemoryStore();
  const disk = Promise.withResolvers<void>();
  const sent = Promise.withResolvers<void>();
  let isSlow = false;
  const store = new Proxy(memory, {
    get(target, name) {
      const member = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      if (name !== 'commit') return member.bind(target);
      return async (batch: Batch) => {
        if (isSlow) {
          sent.resolve();
          await disk.promise;
        }
        return target.commit(batch);
      };
    },
  });
  const assize = runtimeOver(store, [tally], { tools: [] });
  const trajectory = await assize.create(tally, { trajectoryId: 't' });
  isSlow = true;
  const begun: string[] = [];
  const run = (name: string) =>
    trajectory.transaction({ writ, writes: [`test:${name}`], retries: 0, name }, async (tx) => {
      begun.push(name);
      tx.propose({ ...COUNT, args: name });
    });
  const first = run('first');
  await sent.promise;
  const second = run('second');
  // Enough turns for all its steps with a store in memory.
  for (let turns = 0; turns < 100; turns++) await turn();
  expect(begun).toEqual(['first', 'second']);
  disk.resolve();
  for (const made of [first, second])
    expect(await made).toMatchObject({ ruling: { ruling: 'committed' } });
  await assize.close();
});
