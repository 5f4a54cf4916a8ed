import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import { seededRandom } from '#oracle';
import { openStore, type Store } from '#stores';
import { runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import { withPostgres } from '../../../../../tests/support/postgres/with-postgres.ts';
import { OutsideSink, Steps, toolFor } from '../../../../../tests/support/tools/effect-sink.ts';
import { asking } from '../../../../../tests/support/tools/ledger-with-effects.ts';

// Two processes approve a pending proposal with an effect. One commits it, and the other gets that
// ruling, in any order of the store's checks.

const HELD = 'irreversible.buffered';
const doctor = { principal: 'doc', method: 'test' };
/** Neither member's lease ends, even on a busy machine. */
const LEASE_MS = 600_000;

async function approvedByTwo(stores: readonly [Store, Store]): Promise<void> {
  const sink = new OutsideSink('keyed');
  const tools = [toolFor({ sink, steps: new Steps() }, 'irreversible', 'buffered')];
  const runtimes = stores.map((store, i) =>
    runtimeOver(store, [asking], {
      tools,
      effects: { leaseMs: LEASE_MS },
      ports: { random: seededRandom(`process ${i}`) },
    }),
  );
  const trajectory = await runtimes[0]!.create(asking, { trajectoryId: 't' });
  const { ruling } = await trajectory.transaction(
    { writ: writFor('alice'), writes: ['test:**'] },
    async (tx) => {
      await tx.call(HELD, { what: 'letter' });
      tx.propose({ action: 'count', role: 'counter', args: 'asked' });
    },
  );
  if (ruling.ruling !== 'escalated') throw new Error(`it was ${ruling.ruling}`);
  const processes = await Promise.all(runtimes.map((each) => each.open('t')));
  const approved = await Promise.allSettled(
    processes.map((each) => each.approvals.approve(ruling.pending, { ...doctor, override: true })),
  );
  expect(approved.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  const refused = approved.find((each) => each.status === 'rejected');
  expect(refused?.reason).toMatchObject({ code: 'not_pending' });
  for (const each of runtimes) await each.close();
  expect([sink.times('do', 'letter'), sink.standing('letter')]).toEqual([1, 1]);
}

test('memory', async () => {
  const store = new MemoryStore({ shared: true });
  await approvedByTwo([store, store]);
});

withPostgres('PostgreSQL', (postgres) => {
  test('in two connections', async () => {
    const url = postgres.url();
    const stores = [await openStore(url), await openStore(url)] as const;
    await approvedByTwo([...stores]);
    for (const store of stores) await store.close();
  });
});
