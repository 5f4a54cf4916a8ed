import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Hash } from '#ledger';
import type { Ruling, Trajectory } from '#runtime';
import { HandClock, runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import { Bank, LIMIT, payments } from '../../../../../tests/support/tools/bank.ts';

// A caller that repeats a request on a branch gets the ruling of the source, and pays nothing
// twice.

const writ = writFor('agent:a');
const other = writFor('agent:a', { nonce: 'of the branch' });

async function stage() {
  const bank = new Bank();
  const store = new MemoryStore();
  const domain = payments(bank);
  const ports = { clock: new HandClock() };
  const assize = runtimeOver(store, [domain], { tools: [bank.pay, bank.wire], ports });
  const source = await assize.create(domain, { trajectoryId: 'source', writs: [writ] });
  const branchOf = async (from: string, at: Hash, trajectoryId: string) => {
    await assize.branch(from, at, { trajectoryId, writs: [writ, other], note: 'what if' });
    return assize.open(trajectoryId);
  };
  return { bank, store, domain, assize, source, branchOf };
}

const pay = (cents: number, idempotencyKey: string | undefined, by = writ) => ({
  action: 'pay' as const,
  role: 'clerk' as const,
  args: { to: 'bob', cents },
  writ: by,
  ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
});

function entryOf(ruling: Ruling): Hash {
  if (!('entry' in ruling)) throw new Error(JSON.stringify(ruling));
  return ruling.entry.id;
}

test('a key of the source gets the ruling and the outcomes of the source', async () => {
  const { bank, store, source, branchOf } = await stage();
  const first = await source.propose(pay(100, 'invoice 7'));
  const branch = await branchOf('source', entryOf(first), 'b');
  const again = await branch.propose(pay(100, 'invoice 7', other));
  expect(again).toMatchObject({
    ruling: 'committed',
    effects: 'settled',
    calls: [{ tool: 'bank.pay', phase: 'applied', answer: { receipt: 1 } }],
  });
  expect(entryOf(again)).toBe(entryOf(first));
  expect(bank.paid).toEqual([100]);
  expect(await store.entries('b', { from: 0, limit: 10 })).toHaveLength(1);
});

test('a key of the source with another intent is refused on the branch', async () => {
  const { bank, source, branchOf } = await stage();
  const branch = await branchOf(
    'source',
    entryOf(await source.propose(pay(100, 'invoice 7'))),
    'b',
  );
  await expect(branch.propose(pay(200, 'invoice 7'))).rejects.toMatchObject({
    code: 'idempotency_conflict',
  });
  expect(bank.paid).toEqual([100]);
});

test('a rejection of the source stands on the branch', async () => {
  const { source, branchOf } = await stage();
  const rejected = await source.propose(pay(LIMIT + 1, 'invoice 8'));
  const branch = await branchOf('source', entryOf(await source.propose(pay(1, undefined))), 'b');
  expect(entryOf(await branch.propose(pay(LIMIT + 1, 'invoice 8')))).toBe(entryOf(rejected));
});

test('a key after the branch point is new on the branch', async () => {
  const { bank, source, branchOf } = await stage();
  const point = entryOf(await source.propose(pay(1, undefined)));
  const branch = await branchOf('source', point, 'b');
  const later = await source.propose(pay(100, 'invoice 7'));
  const own = await branch.propose(pay(100, 'invoice 7'));
  expect(entryOf(own)).not.toBe(entryOf(later));
  expect(bank.paid).toEqual([1, 100, 100]);
});

test('a proposal that waits in the source gets a new ruling on the branch', async () => {
  const { source, branchOf } = await stage();
  const point = entryOf(await source.propose(pay(1, undefined)));
  const waiting = await source.propose(pay(600, 'invoice 9'));
  expect(waiting.ruling).toBe('escalated');
  const early = await branchOf('source', point, 'b');
  expect(entryOf(await early.propose(pay(600, 'invoice 9')))).not.toBe(entryOf(waiting));
  // The same where the branch begins after the pending entry.
  const by = { principal: 'manager:m', method: 'test' };
  const approved = await source.approvals.approve((waiting as { pending: Hash }).pending, by);
  const late = await branchOf('source', entryOf(approved as Ruling), 'c');
  expect(entryOf(await late.propose(pay(600, 'invoice 9')))).toBe(entryOf(approved as Ruling));
});

test('a transaction name of the source commits nothing more on the branch', async () => {
  const { bank, source, branchOf } = await stage();
  let bodies = 0;
  const run = (trajectory: Trajectory, name: string) =>
    trajectory.transaction({ writ, name, writes: ['bank:*'] }, async (tx) => {
      bodies++;
      await tx.propose({ action: 'pay', role: 'clerk', args: { to: 'bob', cents: 50 } });
    });
  const first = await run(source, 'payroll');
  const branch = await branchOf('source', entryOf(first.ruling), 'b');
  const again = await run(branch, 'payroll');
  expect([entryOf(again.ruling), again.effects, bodies]).toEqual([
    entryOf(first.ruling),
    first.effects,
    2,
  ]);
  await run(branch, 'bonus');
  expect([bodies, bank.paid]).toEqual([3, [50, 50]]);
});

test('keys on a tree of branches follow a naive walk', async () => {
  const step = fc.record({
    at: fc.nat(5),
    branches: fc.boolean(),
    key: fc.constantFrom('k1', 'k2', 'k3', undefined),
    by: fc.constantFrom(writ, other),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), async (steps) => {
      const { bank, source, branchOf, assize } = await stage();
      const roots = [
        {
          id: 'source',
          trajectory: source,
          known: new Map<string, Hash>(),
          last: undefined as Hash | undefined,
        },
      ];
      let payments = 0;
      for (const { at, branches, key, by } of steps) {
        const here = roots[at % roots.length]!;
        if (branches && here.last !== undefined) {
          const id = `b${roots.length}`;
          const trajectory = await branchOf(here.id, here.last, id);
          roots.push({ id, trajectory, known: new Map(here.known), last: undefined });
          continue;
        }
        const known = key === undefined ? undefined : here.known.get(key);
        const usesOther = by === other && here.id === 'source';
        const ruling = await here.trajectory
          .propose(pay(1, key, usesOther ? writ : by))
          .catch((error) => error);
        // Another writ under a key of the same trajectory is another intent.
        if (ruling instanceof Error) {
          expect(ruling).toMatchObject({ code: 'idempotency_conflict' });
          expect(known).toBeDefined();
          continue;
        }
        if (known !== undefined) expect(entryOf(ruling)).toBe(known);
        else {
          payments++;
          here.last = entryOf(ruling);
          if (key !== undefined) here.known.set(key, here.last);
        }
      }
      expect(bank.paid).toHaveLength(payments);
      await assize.close();
    }),
    { numRuns: 60 },
  );
});
