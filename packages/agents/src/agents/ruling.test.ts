import { MemoryStore } from '@assize/testing/internal/memory';
import { createOracle, seededRandom } from 'assize/internal/oracle';
import { expect, test } from 'vitest';
import {
  HandClock,
  operator,
  runtimeOver,
  writFor,
} from '../../../../tests/support/ledger/runtime.ts';
import { Bank, LIMIT, payments } from '../../../../tests/support/tools/bank.ts';
import { type Agent, type LastRuling, replayRun, runAgents } from './index.ts';
import { toldRuling } from './turn-ruling.ts';

/** A clerk that pays the amounts in order, and notes what it learns. */
function clerkOf(amounts: readonly unknown[], seen: (LastRuling | null)[]): Agent {
  let next = 0;
  return {
    name: 'clerk',
    role: { name: 'clerk', params: {} },
    writ: writFor('clerk'),
    async decide(_, oracle) {
      seen.push(await oracle.ruling());
      const cents = amounts[next++];
      return cents === undefined ? 'done' : { action: 'pay', args: { to: 'bob', cents } };
    },
  };
}

async function desk() {
  const [bank, store, clock] = [new Bank(), new MemoryStore(), new HandClock()];
  const domain = payments(bank);
  const assize = runtimeOver(store, [domain], {
    tools: [bank.pay, bank.wire],
    oracle: store,
    ports: { clock },
  });
  const trajectory = await assize.create(domain, { trajectoryId: 'desk' });
  const oracle = createOracle({ store, clock, mode: 'record' });
  const run = (agents: readonly Agent[], maxTurns = 10) =>
    runAgents(trajectory, agents, { oracle, clock, random: seededRandom('run'), maxTurns });
  return { store, domain, trajectory, run };
}

const AMOUNTS = [300, LIMIT + 1, 'ten'];

test('an agent reads the ruling on its last proposal, and a replay repeats it', async () => {
  const { store, domain, trajectory, run } = await desk();
  const seen: (LastRuling | null)[] = [];
  await run([clerkOf(AMOUNTS, seen)]);
  expect(seen).toEqual([
    null,
    { ruling: 'committed', action: 'pay', args: { to: 'bob', cents: 300 } },
    expect.objectContaining({
      ruling: 'rejected',
      reason: 'invariant_rejected',
      rule: 'WITHIN_LIMIT',
    }),
    expect.objectContaining({
      reason: 'type_mismatch',
      findings: [expect.objectContaining({ pointer: '/cents' })],
    }),
  ]);
  const again: (LastRuling | null)[] = [];
  const source = { store, oracleStore: store, trajectoryId: 'desk' };
  const clerk = clerkOf(AMOUNTS, again);
  const replay = await replayRun(source, domain as never, [clerk], {
    anchors: [operator.publicKey],
  });
  expect(replay).toMatchObject({ same: true, headId: trajectory.head });
  expect(again).toEqual(seen);
});

test('the ruling is an observation of the next proposal', async () => {
  const { store, run } = await desk();
  await run([clerkOf([1, 2], [])]);
  const entries = await store.entries('desk', { limit: 100 });
  const names = entries.map(({ payload }) =>
    JSON.parse(payload).observations?.map((o: { name: string }) => o.name),
  );
  expect(names.filter((observed) => observed?.includes('ruling'))).toEqual([
    ['ruling', 'turn 0'],
    ['ruling', 'turn 1'],
  ]);
});

test('a resumed run tells each agent its own last ruling', async () => {
  const { run } = await desk();
  const [seen, again]: (LastRuling | null)[][] = [[], []];
  await run([clerkOf(['x', 5], seen!)], 1);
  await run([clerkOf(['x', 5], again!)], 1);
  expect(seen).toEqual([null]);
  // The last turn is decided again, as after a crash.
  expect(again).toEqual([
    null,
    expect.objectContaining({ ruling: 'rejected', reason: 'type_mismatch' }),
  ]);
});

test('a proposal without an entry was frozen', () => {
  expect(toldRuling(undefined)).toMatchObject({ ruling: 'frozen' });
});
