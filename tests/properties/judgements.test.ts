import type { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { isAssizeError } from '#base';
import { type CommitPayload, type PendingPayload, readRow } from '#ledger';
import type { Judgement, Ruling, Trajectory } from '#runtime';
import { cases, hasUsualCases } from '../support/cases.ts';
import { after, careful, free, payment, proposal } from './payments.ts';

// A judgement says what the same call then does, and nothing in the store or in memory moves for
// it: no entry, no row of the effect log, no budget and no call.

const WRITES = [
  'commit',
  'logEffects',
  'leaseEffects',
  'joinEffects',
  'sidePut',
  'oraclePut',
  'putSnapshot',
] as const;

/** The places that a judgement might move. */
function watch(store: MemoryStore, trajectory: Trajectory, paid: readonly string[]) {
  const spies = WRITES.filter((name) => typeof store[name] === 'function').map((name) =>
    vi.spyOn(store, name as 'commit'),
  );
  return () => ({
    writes: spies.map(({ mock }) => mock.calls.length),
    head: trajectory.head,
    state: trajectory.state(),
    pending: trajectory.approvals.pending().map(({ id }) => id),
    paid: [...paid],
  });
}

/** The part of a ruling that a judgement foresees. */
function foreseeable(ruling: Ruling): object {
  if (ruling.ruling === 'frozen') return { ruling: 'frozen', by: ruling.by, detail: ruling.detail };
  const { payload } = { payload: readRow(ruling.entry).payload };
  if (ruling.ruling === 'rejected') {
    const { reason, detail, invariantId } = ruling;
    return {
      ruling: 'rejected',
      reason,
      detail,
      ...(invariantId !== undefined && { invariantId }),
    };
  }
  const { budget_cost, delta } =
    payload.kind === 'pending_approval'
      ? (payload as PendingPayload).proposal
      : (payload as CommitPayload);
  const change = { changes: delta.state, calls: delta.effects.length, cost: budget_cost };
  if (ruling.ruling === 'escalated')
    return { ruling: 'escalated', channel: ruling.channel, ...change };
  const overridden = (payload as CommitPayload).counselor?.overridden;
  return { ruling: 'committed', ...change, ...(overridden !== undefined && { overridden }) };
}

function foreseen(judgement: Judgement): object {
  switch (judgement.ruling) {
    case 'frozen':
      return { ruling: 'frozen', by: judgement.by, detail: judgement.detail };
    case 'rejected': {
      const { findings: _, ...rest } = judgement;
      return rest;
    }
    case 'refused':
      return { refused: judgement.code };
    case 'escalated': {
      const { channel, changes, calls, cost } = judgement;
      return { ruling: 'escalated', channel, changes, calls: calls.length, cost };
    }
    case 'committed': {
      const { changes, calls, cost, overridden } = judgement;
      return {
        ruling: 'committed',
        changes,
        calls: calls.length,
        cost,
        ...(overridden !== undefined && { overridden }),
      };
    }
  }
}

async function made(ruling: Promise<Ruling>): Promise<object> {
  try {
    return foreseeable(await ruling);
  } catch (error) {
    if (!isAssizeError(error)) throw error;
    return { refused: error.code };
  }
}

test('a judgement of a decision is what the decision does, and moves nothing', async () => {
  const met = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      fc.array(payment, { maxLength: 3 }),
      payment,
      fc.option(payment, { nil: undefined }),
      fc.array(payment, { maxLength: 2 }),
      fc.constantFrom('manager', 'director', 'clerk'),
      fc.boolean(),
      async (history, first, amended, between, principal, override) => {
        const { trajectory, store, paid, close } = await after(history);
        const waits = await trajectory.propose(proposal(first));
        if (waits.ruling !== 'escalated') return close();
        for (const one of between) await trajectory.propose(proposal(one, free));
        const given = amended && { role: proposal(amended).role, args: proposal(amended).args };
        const decision = { principal, method: 'desk', override, ...given };

        const look = watch(store, trajectory, paid);
        const before = look();
        const said = foreseen(await trajectory.approvals.judge(waits.pending, decision));
        expect(look()).toEqual(before);
        expect(foreseen(await trajectory.approvals.judge(waits.pending, decision))).toEqual(said);

        const done = await made(trajectory.approvals.approve(waits.pending, decision));
        expect(said).toEqual(done);
        met.add(`${amended === undefined ? 'exact' : 'amended'} ${Object.values(said)[0]}`);
        vi.restoreAllMocks();
        await close();
      },
    ),
    { numRuns: cases(1_000) },
  );
  if (!hasUsualCases()) return;
  for (const one of [
    'exact committed',
    'exact unauthorised_counselor',
    'amended committed',
    'amended invalid_amendment',
  ])
    expect(met).toContain(one);
});

test('a judgement of a proposal says that too many wait', async () => {
  const { trajectory, close } = await after([], 1);
  expect(await trajectory.propose(proposal({ who: 'ann', cents: 2 }))).toMatchObject({
    ruling: 'escalated',
  });
  const asked = proposal({ who: 'bob', cents: 2 });
  expect(foreseen(await trajectory.judge(asked))).toEqual({ refused: 'too_many_pending' });
  await expect(trajectory.propose(asked)).rejects.toMatchObject({ code: 'too_many_pending' });
  await close();
});

test('a judgement of a proposal is what proposing does, also later', async () => {
  const met = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(payment, fc.boolean()), { minLength: 1, maxLength: 6 }),
      async (steps) => {
        const { trajectory, store, paid, close } = await after([]);
        const judged: {
          readonly at: string;
          readonly asked: ReturnType<typeof proposal>;
          readonly said: object;
        }[] = [];
        for (const [one, isFree] of steps) {
          const asked = proposal(one, isFree ? free : careful);
          const look = watch(store, trajectory, paid);
          const before = look();
          const said = foreseen(await trajectory.judge(asked));
          expect(look()).toEqual(before);
          judged.push({ at: trajectory.head, asked, said });
          expect(said).toEqual(await made(trajectory.propose(asked)));
          met.add(String(Object.values(said)[0]));
          vi.restoreAllMocks();
        }
        const look = watch(store, trajectory, paid);
        const before = look();
        // Twice, because the second one reads the entries no more.
        for (const { at, asked, said } of [...judged, ...judged])
          expect(foreseen(await trajectory.judge(asked, at))).toEqual(said);
        expect(look()).toEqual(before);
        vi.restoreAllMocks();
        await close();
      },
    ),
    { numRuns: cases(500) },
  );
  if (!hasUsualCases()) return;
  for (const one of ['committed', 'rejected', 'escalated', 'frozen']) expect(met).toContain(one);
});
