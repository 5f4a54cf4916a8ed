import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { attenuate, type Writ, writId } from '#authority';
import type { CommitPayload } from '#ledger';
import { cases } from '../../../../../tests/support/cases.ts';
import {
  deskOf,
  FaultyStore,
  payloads,
  soundState,
} from '../../../../../tests/support/ledger/desk.ts';
import { keysOf } from '../../../../../tests/support/ledger/rows.ts';
import { runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import type { ProposalInput } from '../records/intent.ts';
import type { Ruling } from '../records/ruling.ts';
import type { Trajectory } from '../trajectory.ts';
import type { WritChain } from './writs.ts';

const desk = deskOf();
const lead = keysOf(11);
const middle = keysOf(12);
const granted = writFor(lead.publicKey, { trajectory: 't', budget: { usd: 100 } });

/** A child of the lead's writ for one agent. */
function child(subject: string, usd: number, rest = {}): WritChain {
  return {
    writ: attenuate(
      granted,
      { subject, nonce: subject, budget: { usd }, ...rest },
      lead.privateKey,
    ),
    chain: [granted],
  };
}

const pay = (usd: number, writ: Writ | WritChain | string): ProposalInput => ({
  action: 'pay',
  role: 'worker',
  args: { usd },
  writ,
});

async function begun(
  writs: readonly Writ[] = [granted],
): Promise<{ store: FaultyStore; trajectory: Trajectory }> {
  const store = new FaultyStore();
  const trajectory = await runtimeOver(store, [desk]).create(desk, { trajectoryId: 't', writs });
  return { store, trajectory };
}

const reopened = (store: FaultyStore): Promise<Trajectory> => runtimeOver(store, [desk]).open('t');
const nameOf = (ruling: Ruling): string =>
  ruling.ruling === 'rejected' ? ruling.reason : ruling.ruling;

describe('a budget', () => {
  test('is spent to the last unit and no further, also after opening again', async () => {
    const { store, trajectory } = await begun();
    expect(nameOf(await trajectory.propose(pay(60, granted)))).toBe('committed');
    expect(await trajectory.propose(pay(41, granted))).toMatchObject({
      ruling: 'rejected',
      reason: 'budget_exhausted',
      detail: expect.stringContaining('has 40 usd left, and 41 are needed'),
    });
    expect(nameOf(await trajectory.propose(pay(40, granted)))).toBe('committed');
    for (const open of [trajectory, await reopened(store)]) {
      expect(nameOf(await open.propose(pay(1, granted)))).toBe('budget_exhausted');
      expect(nameOf(await open.propose(pay(0, granted)))).toBe('committed');
    }
    const costs = (await payloads(store, 't'))
      .filter((entry) => entry.kind === 'commit')
      .map(({ budget_cost }) => budget_cost);
    expect(costs).toEqual([{ usd: 60 }, { usd: 40 }, { usd: 0 }, { usd: 0 }]);
  });

  test('of an ungranted unit is zero, and built-in property names are not units', async () => {
    const bare = writFor('bare');
    const { trajectory } = await begun([granted, bare]);
    expect(nameOf(await trajectory.propose(pay(1, bare)))).toBe('budget_exhausted');
    expect(nameOf(await trajectory.propose(pay(0, bare)))).toBe('committed');
  });

  test('is not spent by rejected or pending proposals', async () => {
    const held = writFor('held', {
      trajectory: 't',
      budget: { usd: 10 },
      require_approval: ['pay'],
    });
    const { store, trajectory } = await begun([granted, held]);
    expect(nameOf(await trajectory.propose(pay(5_000, granted)))).toBe('budget_exhausted');
    const waits = await trajectory.propose(pay(10, held));
    const pending = waits.ruling === 'escalated' ? waits.pending : '';
    const again = await reopened(store);
    expect(
      nameOf(await again.approvals.approve(pending, { principal: 'dr-who', method: 'test' })),
    ).toBe('committed');
    for (const open of [trajectory, again, await reopened(store)]) {
      expect(nameOf(await open.propose(pay(1, held)))).toBe('budget_exhausted');
    }
  });

  test('that does not suffice any more when it is approved refuses the approval', async () => {
    const held = writFor(lead.publicKey, {
      nonce: 'h',
      trajectory: 't',
      budget: { usd: 10 },
      require_approval: ['pay'],
    });
    const apart = deskOf('footprint');
    const store = new FaultyStore();
    const trajectory = await runtimeOver(store, [apart]).create(apart, {
      trajectoryId: 't',
      writs: [held],
    });
    const first = await trajectory.propose(pay(6, held));
    const second = await trajectory.propose(pay(6, held));
    const [one, two] = [first, second].map((ruling) =>
      ruling.ruling === 'escalated' ? ruling.pending : '',
    ) as [string, string];
    const counselor = { principal: 'dr-who', method: 'test' };
    expect(nameOf(await trajectory.approvals.approve(one, counselor))).toBe('committed');
    await expect(trajectory.approvals.approve(two, counselor)).rejects.toMatchObject({
      code: 'changed_since',
    });
    expect(
      nameOf(await trajectory.approvals.reject(two, { ...counselor, reason: 'no money' })),
    ).toBe('counselor_rejected');
    await soundState(store, 't');
  });
});

describe('children of one writ', () => {
  test('share its budget, independent of their own grants', async () => {
    const [a, b, c] = ['a', 'b', 'c'].map((name) => child(name, 60)) as [
      WritChain,
      WritChain,
      WritChain,
    ];
    const { store, trajectory } = await begun();
    expect(nameOf(await trajectory.propose(pay(60, a)))).toBe('committed');
    expect(nameOf(await trajectory.propose(pay(41, b)))).toBe('budget_exhausted');
    expect(nameOf(await trajectory.propose(pay(30, b)))).toBe('committed');
    const again = await reopened(store);
    expect(nameOf(await again.propose(pay(11, c)))).toBe('budget_exhausted');
    expect(nameOf(await again.propose(pay(10, c)))).toBe('committed');
    expect(nameOf(await again.propose(pay(1, granted)))).toBe('budget_exhausted');
  });

  test('are ledger blobs from first use on, and known by id after reopening', async () => {
    const grandchild = attenuate(
      child(middle.publicKey, 50).writ,
      { subject: 'deep', nonce: 'deep', budget: { usd: 20 } },
      middle.privateKey,
    );
    const chain: WritChain = {
      writ: grandchild,
      chain: [child(middle.publicKey, 50).writ, granted],
    };
    const { store, trajectory } = await begun();
    const id = writId(grandchild);
    expect(await store.blob(id)).toBeUndefined();
    expect(nameOf(await trajectory.propose(pay(15, chain)))).toBe('committed');
    expect(JSON.parse((await store.blob(id)) as string)).toEqual(grandchild);
    const again = await reopened(store);
    expect(nameOf(await again.propose(pay(6, id)))).toBe('budget_exhausted');
    expect(nameOf(await again.propose(pay(5, id)))).toBe('committed');
    // Its parent has spent the same amount.
    expect(nameOf(await again.propose(pay(31, child(middle.publicKey, 50))))).toBe(
      'budget_exhausted',
    );
  });

  test('with a missing or changed blob make the ledger fail to open', async () => {
    const { store, trajectory } = await begun();
    const used = child('a', 60);
    await trajectory.propose(pay(1, used));
    const honest = store.blob.bind(store);
    const texts: [string | undefined][] = [
      [undefined],
      ['{}'],
      [JSON.stringify({ ...used.writ, budget: { usd: 99 } })],
    ];
    for (const [text] of texts) {
      store.blob = async (hash) => (hash === writId(used.writ) ? text : honest(hash));
      await expect(reopened(store)).rejects.toMatchObject({ code: 'invalid_ledger' });
    }
    store.blob = honest;
    expect((await reopened(store)).length).toBe(2);
  });

  test('and their blobs survive a commit that was lost', async () => {
    for (const fault of ['conflict', 'thrown, lost', 'unknown, lost'] as const) {
      const { store, trajectory } = await begun();
      const used = child('a', 60);
      store.plan = new Map([[store.commits + 1, fault]]);
      await trajectory.propose(pay(10, used)).catch(() => undefined);
      expect(nameOf(await trajectory.propose(pay(20, used)))).toBe('committed');
      const again = await reopened(store);
      const spent = fault === 'conflict' ? 30 : 20;
      expect(nameOf(await again.propose(pay(61 - spent, writId(used.writ))))).toBe(
        'budget_exhausted',
      );
      expect(nameOf(await again.propose(pay(60 - spent, writId(used.writ))))).toBe('committed');
    }
  });

  test('never overspend the grant, in any order of two runtimes (property)', async () => {
    const kids = [child('a', 60), child('b', 60), child('c', 100)];
    const spend = fc.record({
      who: fc.nat(3),
      where: fc.nat(1),
      usd: fc.integer({ min: 1, max: 60 }),
      wait: fc.boolean(),
    });
    const run = fc.asyncProperty(
      fc.array(spend, { minLength: 2, maxLength: 16 }),
      async (spends) => {
        const { store, trajectory } = await begun();
        const places = [trajectory, await reopened(store)];
        const answers: Promise<Ruling>[] = [];
        for (const { who, where, usd, wait } of spends) {
          answers.push((places[where] as Trajectory).propose(pay(usd, kids[who] ?? granted)));
          if (wait) await answers.at(-1);
        }
        await Promise.all(answers);
        await soundState(store, 't');
        const entries = await payloads(store, 't');
        expect(entries).toHaveLength(spends.length + 1);
        const commits = entries.filter((entry): entry is CommitPayload => entry.kind === 'commit');
        const spentBy = (ids: readonly string[]): number =>
          commits
            .filter(({ writ_id }) => ids.includes(writ_id))
            .reduce((sum, { budget_cost }) => sum + (budget_cost['usd'] ?? 0), 0);
        const ids = [...kids.map(({ writ }) => writId(writ)), writId(granted)];
        expect(spentBy(ids)).toBeLessThanOrEqual(100);
        for (const { writ } of kids)
          expect(spentBy([writId(writ)])).toBeLessThanOrEqual(writ.budget?.['usd'] as number);
        // A proposal refused for lack of budget would have exceeded a limit. A third runtime
        // finds the same remainder.
        const left = 100 - spentBy(ids);
        const third = await reopened(store);
        expect(nameOf(await third.propose(pay(left + 1, granted)))).toBe('budget_exhausted');
        expect(nameOf(await third.propose(pay(left, granted)))).toBe('committed');
      },
    );
    await fc.assert(run, { numRuns: cases(120) });
  });
});
