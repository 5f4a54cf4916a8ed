import { deepReplay } from '@assize/audit/internal/replay';
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
import { type Agent, type CallResult, replayRun, runAgents } from './index.ts';

async function run(amounts: readonly number[], resumed = false) {
  const [bank, store, clock] = [new Bank(), new MemoryStore(), new HandClock()];
  const domain = payments(bank);
  const oracle = createOracle({ store, clock, mode: 'record' });
  const assize = runtimeOver(store, [domain], {
    tools: [bank.pay, bank.wire],
    oracle: store,
    ports: { clock },
  });
  const writ = writFor('clerk');
  const trajectory = await assize.create(domain, { trajectoryId: 'desk', writs: [writ] });
  const seen: (readonly CallResult[])[] = [];
  let next = 0;
  const clerk: Agent = {
    name: 'clerk',
    role: { name: 'clerk', params: {} },
    writ,
    async decide({ spent }, ask) {
      seen.push(await ask.calls());
      // A resumed run repeats its last decision, so the slice must decide.
      const cents = resumed
        ? amounts[spent.bob === undefined ? 0 : amounts.indexOf(spent.bob) + 1]
        : amounts[next++];
      return cents === undefined ? 'done' : { action: 'pay', args: { to: 'bob', cents } };
    },
  };
  const options = { oracle, clock, random: seededRandom('run') };
  const counsel = () => ({ do: 'approve' as const, principal: 'manager:m', method: 'desk' });
  if (resumed) await runAgents(trajectory, [clerk], { ...options, counsel, maxTurns: 1 });
  const report = await runAgents(trajectory, [clerk], { ...options, counsel });
  return { bank, store, domain, trajectory, clerk, seen, report };
}

test('an agent pays by its action, and reads the outcome of the call', async () => {
  const { bank, seen, report } = await run([300, LIMIT + 1, 700]);
  expect(report.ended).toBe('done');
  expect(bank.paid).toEqual([300, 700]);
  expect(seen).toEqual([
    [],
    [{ tool: 'bank.pay', phase: 'applied', answer: { receipt: 1 } }],
    // The second proposal was rejected.
    [],
    [{ tool: 'bank.pay', phase: 'applied', answer: { receipt: 2 } }],
  ]);
});

test('the outcome is an observation of the next proposal', async () => {
  const { store } = await run([1, 2]);
  const entries = await store.entries('desk', { limit: 100 });
  const names = entries.map(({ payload }) =>
    JSON.parse(payload).observations?.map((o: { name: string }) => o.name),
  );
  expect(names.filter((observed) => observed?.includes('calls'))).toEqual([
    ['calls', 'turn 0'],
    ['calls', 'turn 1'],
  ]);
});

test('a replay makes no call, and ends at the same head', async () => {
  const { bank, store, domain, trajectory, clerk } = await run([300, LIMIT + 1, 700]);
  const paid = [...bank.paid];
  const scripted: Agent = {
    ...clerk,
    decide: ((amounts) => {
      let n = 0;
      return async (_: unknown, ask: Parameters<Agent['decide']>[1]) => {
        await ask.calls();
        const cents = amounts[n++];
        return cents === undefined
          ? ('done' as const)
          : { action: 'pay', args: { to: 'bob', cents } };
      };
    })([300, LIMIT + 1, 700]),
  };
  const source = { store, oracleStore: store, trajectoryId: 'desk' };
  const replay = await replayRun(source, domain as never, [scripted], {
    anchors: [operator.publicKey],
  });
  expect(replay.firstDifference).toBeUndefined();
  expect(replay).toMatchObject({ same: true, headId: trajectory.head });
  expect(bank.paid).toEqual(paid);
  const deep = await deepReplay(store, 'desk', { domains: [domain as never], oracle: store });
  expect(deep.differences).toEqual([]);
});

test('a replay with another amount differs at that turn', async () => {
  const { store, domain, clerk } = await run([300]);
  const other: Agent = {
    ...clerk,
    async decide(_, ask) {
      await ask.calls();
      return { action: 'pay', args: { to: 'bob', cents: 301 } };
    },
  };
  const source = { store, oracleStore: store, trajectoryId: 'desk' };
  const replay = await replayRun(source, domain as never, [other], {
    anchors: [operator.publicKey],
  });
  expect(replay).toMatchObject({ same: false, firstDifference: { turn: 0, kind: 'decision' } });
});

test('a resumed run reads the outcome of the turn before', async () => {
  const { bank, seen } = await run([10], true);
  expect(bank.paid).toEqual([10]);
  expect(seen.at(-1)).toEqual([{ tool: 'bank.pay', phase: 'applied', answer: { receipt: 1 } }]);
});
