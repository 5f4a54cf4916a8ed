import { deepReplay } from '@assize/audit/internal/replay';
import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { writId } from '#authority';
import { defineDomain, escalate, pass } from '#kernel';
import { entryRow } from '#ledger';
import { verifyStore } from '#runtime';
import { insurerOf } from '../../../../../../tests/support/ledger/insurer.ts';
import {
  HandClock,
  intent,
  runtimeOver,
  START,
  writFor,
} from '../../../../../../tests/support/ledger/runtime.ts';
import type { Ruling } from '../../records/ruling.ts';
import type { Trajectory } from '../../trajectory.ts';

const writ = writFor('alice');
const manager = { principal: 'manager:ann', method: 'desk' };
const other = { principal: 'manager:bob', method: 'desk' };

async function opened(freeze: Parameters<typeof insurerOf>[0] = 'reserve', options = {}) {
  const domain = insurerOf(freeze, options);
  const store = new MemoryStore();
  const clock = new HandClock();
  const assize = runtimeOver(store, [domain], {
    ports: { clock },
    approvals: { timeoutMs: 60_000 },
  });
  return {
    assize,
    store,
    clock,
    domain,
    trajectory: await assize.create(domain, { trajectoryId: 't' }),
  };
}

const propose = (trajectory: Trajectory<any>, action: string, args: object): Promise<Ruling> =>
  trajectory.propose(intent(action, args, writ, { role: 'agent' }));
const claim = (
  trajectory: Trajectory<any>,
  id: string,
  cents: number,
  invoice?: string,
): Promise<Ruling> =>
  propose(trajectory, 'claim', { id, cents, ...(invoice === undefined ? {} : { invoice }) });

function pendingOf(ruling: Ruling): string {
  if (ruling.ruling !== 'escalated') throw new Error(JSON.stringify(ruling));
  return ruling.pending;
}

const claims = (trajectory: Trajectory<any>): string[] =>
  Object.keys((trajectory.state() as any).claims);

describe('while a claim waits', () => {
  test('claims within the rest of the budget go on, others do not', async () => {
    const { trajectory } = await opened();
    const by = pendingOf(await claim(trajectory, 'large', 30_000));
    expect(await claim(trajectory, 'a', 10_000)).toMatchObject({ ruling: 'committed' });
    expect(await claim(trajectory, 'b', 10_000)).toMatchObject({ ruling: 'committed' });
    // 30,000 wait and 20,000 are committed: the budget of 50,000 is used up.
    expect(await claim(trajectory, 'c', 1)).toMatchObject({ ruling: 'frozen', by });
    expect(await trajectory.approvals.approve(by, manager)).toMatchObject({ ruling: 'committed' });
    expect(claims(trajectory)).toEqual(['a', 'b', 'large']);
  });

  test('under a footprint freeze the same claims are all frozen', async () => {
    const { trajectory } = await opened('footprint');
    const by = pendingOf(await claim(trajectory, 'large', 30_000));
    expect(await claim(trajectory, 'a', 10_000)).toMatchObject({ ruling: 'frozen', by });
  });

  test('parallel requests for approval are all recorded', async () => {
    const { trajectory } = await opened();
    const rulings = await Promise.all(
      ['a', 'b', 'c', 'd'].map((id) => claim(trajectory, id, 12_500)),
    );
    expect(rulings.map(({ ruling }) => ruling)).toEqual([
      'escalated',
      'escalated',
      'escalated',
      'escalated',
    ]);
    expect(await claim(trajectory, 'e', 12_500)).toMatchObject({
      ruling: 'frozen',
      by: pendingOf(rulings[0] as Ruling),
    });
    for (const ruling of rulings.toReversed())
      expect(await trajectory.approvals.approve(pendingOf(ruling), manager)).toMatchObject({
        ruling: 'committed',
      });
    expect(claims(trajectory)).toEqual(['a', 'b', 'c', 'd']);
  });

  test('the rejection or the expiry of a claim releases its budget', async () => {
    for (const end of ['reject', 'expire']) {
      const { trajectory, clock } = await opened();
      const by = pendingOf(await claim(trajectory, 'large', 50_000));
      expect(await claim(trajectory, 'a', 10_000)).toMatchObject({ ruling: 'frozen', by });
      if (end === 'reject') await trajectory.approvals.reject(by, { ...manager, reason: 'no' });
      else clock.forward(60_000);
      expect(await claim(trajectory, 'a', 10_000)).toMatchObject({ ruling: 'committed' });
    }
  });

  test('a change of the same claim waits, also of another field', async () => {
    const { trajectory } = await opened();
    await claim(trajectory, 'x', 5_000);
    const by = pendingOf(await claim(trajectory, 'x', 20_000));
    expect(await propose(trajectory, 'note', { id: 'x', note: 'call back' })).toMatchObject({
      ruling: 'frozen',
      by,
    });
    expect(await claim(trajectory, 'x', 15_000)).toMatchObject({ ruling: 'frozen', by });
    await claim(trajectory, 'y', 5_000);
    expect(await propose(trajectory, 'note', { id: 'y', note: 'call back' })).toMatchObject({
      ruling: 'committed',
    });
  });

  test('an invoice that waits is taken', async () => {
    const { trajectory } = await opened();
    const by = pendingOf(await claim(trajectory, 'large', 20_000, 'i-1'));
    expect(await claim(trajectory, 'a', 100, 'i-1')).toMatchObject({ ruling: 'frozen', by });
    expect(await claim(trajectory, 'a', 100, 'i-2')).toMatchObject({ ruling: 'committed' });
  });

  test('of several claims that wait, the one that blocks is named', async () => {
    const { trajectory } = await opened();
    const waiting: string[] = [];
    for (const n of [1, 2, 3, 4])
      waiting.push(pendingOf(await claim(trajectory, `w${n}`, 11_000, `i-${n}`)));
    for (const [n, by] of waiting.entries())
      expect(await claim(trajectory, 'a', 100, `i-${n + 1}`)).toMatchObject({
        ruling: 'frozen',
        by,
      });
    // All four together use up the budget: the oldest is named.
    expect(await claim(trajectory, 'a', 7_000, 'i-5')).toMatchObject({
      ruling: 'frozen',
      by: waiting[0],
    });
    expect(await claim(trajectory, 'a', 6_000, 'i-5')).toMatchObject({ ruling: 'committed' });
  });

  test('a refund that waits gives no room, and spoils no other approval', async () => {
    const { trajectory } = await opened();
    await claim(trajectory, 'old', 10_000);
    await claim(trajectory, 'older', 10_000);
    const held = writFor('alice', { require_approval: ['claim'], nonce: 'held' });
    const lower = await trajectory.propose(
      intent('claim', { id: 'old', cents: 0 }, held, { role: 'agent' }),
    );
    const large = pendingOf(await claim(trajectory, 'large', 25_000));
    expect(pendingOf(lower)).not.toBe(large);
    // With the refund there is room for 15,000, and without it only for 5,000.
    expect(await claim(trajectory, 'b', 10_000)).toMatchObject({ ruling: 'frozen', by: large });
    expect(await claim(trajectory, 'b', 5_000)).toMatchObject({ ruling: 'committed' });
    expect(await trajectory.approvals.approve(large, manager)).toMatchObject({
      ruling: 'committed',
    });
  });

  test('a larger budget that waits gives no room', async () => {
    const { trajectory } = await opened();
    const held = writFor('alice', { require_approval: ['plan'], nonce: 'held' });
    const wider = await trajectory.propose(
      intent('plan', { budget: 100_000 }, held, { role: 'agent' }),
    );
    expect(pendingOf(wider)).toBeDefined();
    const large = pendingOf(await claim(trajectory, 'large', 45_000));
    expect(await claim(trajectory, 'a', 10_000)).toMatchObject({ ruling: 'frozen' });
    expect(await claim(trajectory, 'a', 5_000)).toMatchObject({ ruling: 'committed' });
    expect(await trajectory.approvals.approve(large, manager)).toMatchObject({
      ruling: 'committed',
    });
  });

  test('a smaller budget waits until the claims that need it are decided', async () => {
    const { trajectory } = await opened();
    const by = pendingOf(await claim(trajectory, 'large', 45_000));
    expect(await propose(trajectory, 'plan', { budget: 40_000 })).toMatchObject({
      ruling: 'frozen',
      by,
    });
    expect(await propose(trajectory, 'plan', { budget: 45_000 })).toMatchObject({
      ruling: 'committed',
    });
  });

  test('the answer says what waits, for whom, since when and until when', async () => {
    const { trajectory, clock } = await opened();
    const by = pendingOf(await claim(trajectory, 'large', 50_000));
    clock.forward(1_000);
    const answer = await claim(trajectory, 'a', 1);
    const until = '2026-03-23T09:01:00.000000Z';
    expect(answer).toMatchObject({
      by,
      waiting: { action: 'claim', channel: 'manager', since: START, until },
    });
    expect((answer as { detail: string }).detail).toBe(
      `BUDGET does not pass together with a pending proposal until an approval is resolved (${by}, by manager): claim waits since ${START}, until ${until}`,
    );
  });
});

describe('an approval under reservations', () => {
  test('that would do something else is rejected as a conflict', async () => {
    const { trajectory, store } = await opened();
    const by = pendingOf(await claim(trajectory, 'large', 20_000));
    expect(await propose(trajectory, 'plan', { rate: 2 })).toMatchObject({ ruling: 'committed' });
    const ruling = await trajectory.approvals.approve(by, manager);
    expect(ruling).toMatchObject({
      ruling: 'rejected',
      reason: 'conflict',
      detail:
        'the action would now make other changes; /claims/large: {"cents":20000} when submitted, {"cents":40000} now',
    });
    const [row] = await store.entries('t', { from: trajectory.length - 1 });
    expect(JSON.parse(row?.payload as string)).toMatchObject({
      kind: 'rejection',
      reason: 'conflict',
      resolves: by,
      counselor: { principal: 'manager:ann', as: 'manager', method: 'desk' },
    });
    expect(claims(trajectory)).toEqual([]);
    expect(trajectory.approvals.pending()).toEqual([]);
    expect(await trajectory.approvals.statusOf(by)).toMatchObject({
      status: 'resolved',
      ruling: { reason: 'conflict' },
    });
    await expect(trajectory.approvals.approve(by, manager)).rejects.toThrow(
      /it had a conflict when it was approved by manager:ann/,
    );
  });

  test('that is no longer needed is a conflict', async () => {
    const { trajectory } = await opened();
    await propose(trajectory, 'plan', { rate: 3 });
    const by = pendingOf(await claim(trajectory, 'large', 5_000));
    await propose(trajectory, 'plan', { rate: 1 });
    expect(await trajectory.approvals.approve(by, manager)).toMatchObject({ reason: 'conflict' });
  });

  test('of a principal that may not approve finds no conflict', async () => {
    const { trajectory } = await opened();
    const by = pendingOf(await claim(trajectory, 'large', 20_000));
    await propose(trajectory, 'plan', { rate: 2 });
    await expect(
      trajectory.approvals.approve(by, { ...manager, principal: 'alice' }),
    ).rejects.toMatchObject({
      code: 'unauthorised_counselor',
    });
    expect(trajectory.approvals.pending()).toHaveLength(1);
  });

  test('of several people: the first or the last finds the conflict', async () => {
    for (const before of [0, 1]) {
      const { trajectory } = await opened('reserve', { approvals: 2 });
      let by = pendingOf(await claim(trajectory, 'large', 20_000));
      const second = pendingOf(await claim(trajectory, 'second', 20_000));
      if (before === 1) by = pendingOf(await trajectory.approvals.approve(by, manager));
      // A partial approval reserves as before.
      expect(await claim(trajectory, 'a', 10_001)).toMatchObject({ ruling: 'frozen' });
      await propose(trajectory, 'plan', { rate: 2 });
      expect(await trajectory.approvals.approve(by, before === 1 ? other : manager)).toMatchObject({
        ruling: 'rejected',
        reason: 'conflict',
      });
      expect(trajectory.approvals.pending().map(({ id }) => id)).toEqual([second]);
    }
  });

  test('by several people commits, whatever was committed beside it', async () => {
    const { trajectory } = await opened('reserve', { approvals: 2 });
    const first = pendingOf(await claim(trajectory, 'one', 20_000));
    const second = pendingOf(await claim(trajectory, 'two', 20_000));
    const [one, two] = [
      pendingOf(await trajectory.approvals.approve(first, manager)),
      pendingOf(await trajectory.approvals.approve(second, other)),
    ];
    expect(await claim(trajectory, 'a', 10_000)).toMatchObject({ ruling: 'committed' });
    expect(await trajectory.approvals.approve(two, manager)).toMatchObject({ ruling: 'committed' });
    expect(await trajectory.approvals.approve(one, other)).toMatchObject({ ruling: 'committed' });
    expect(claims(trajectory)).toEqual(['a', 'one', 'two']);
  });

  test('with a replacement must leave room for the others', async () => {
    const { trajectory } = await opened();
    const one = pendingOf(await claim(trajectory, 'one', 20_000));
    const two = pendingOf(await claim(trajectory, 'two', 20_000));
    const instead = (cents: number) => ({
      ...manager,
      replacement: [
        { op: 'add' as const, path: '/claims/one', value: { cents, by: 'manager:ann' } },
      ],
    });
    await expect(trajectory.approvals.approve(one, instead(31_000))).rejects.toMatchObject({
      code: 'frozen',
      evidence: { by: two, invariant_id: 'BUDGET' },
    });
    // An override is of rules that the approved state breaks, and this state breaks none.
    await expect(
      trajectory.approvals.approve(one, { ...instead(31_000), override: true }),
    ).rejects.toMatchObject({
      code: 'frozen',
    });
    expect(claims(trajectory)).toEqual([]);
    expect(await trajectory.approvals.approve(one, instead(30_000))).toMatchObject({
      ruling: 'committed',
    });
    expect(await trajectory.approvals.approve(two, manager)).toMatchObject({ ruling: 'committed' });
  });

  test('with an override may break a rule for the others, and they say so', async () => {
    const { trajectory } = await opened();
    const one = pendingOf(await claim(trajectory, 'one', 20_000));
    const two = pendingOf(await claim(trajectory, 'two', 20_000));
    const replacement = [
      { op: 'add' as const, path: '/claims/one', value: { cents: 60_000, by: 'manager:ann' } },
    ];
    expect(
      await trajectory.approvals.approve(one, { ...manager, override: true, replacement }),
    ).toMatchObject({
      ruling: 'committed',
    });
    expect(await claim(trajectory, 'a', 1)).toMatchObject({
      ruling: 'rejected',
      invariantId: 'BUDGET',
    });
    expect(await trajectory.approvals.approve(two, manager)).toMatchObject({
      ruling: 'rejected',
      reason: 'conflict',
      detail: 'it is now rejected by BUDGET: 80000 of 50000',
    });
  });
});

describe('reservations', () => {
  const waitingAgain = async (trajectory: Trajectory<any>, by: string) => {
    expect(await claim(trajectory, 'a', 10_000)).toMatchObject({ ruling: 'committed' });
    expect(await claim(trajectory, 'c', 10_001)).toMatchObject({ ruling: 'frozen', by });
  };

  test('stay after the trajectory is read again', async () => {
    const { trajectory, store, domain, clock } = await opened();
    const by = pendingOf(await claim(trajectory, 'large', 30_000));
    const again = await runtimeOver(store, [domain], { ports: { clock } }).open('t');
    await waitingAgain(again as never, by);
    // This process learns of the commit, and keeps the reservation.
    expect(await claim(trajectory, 'd', 10_001)).toMatchObject({ ruling: 'frozen', by });
    expect(await trajectory.approvals.approve(by, manager)).toMatchObject({ ruling: 'committed' });
  });

  test('of a large change are read from its blobs', async () => {
    const { trajectory, store, domain, clock } = await opened();
    const long = { id: 'large', cents: 30_000, invoice: 'i'.repeat(200_000) };
    const by = pendingOf(await propose(trajectory, 'claim', long));
    expect(JSON.stringify(trajectory.approvals.pending()[0]?.payload).length).toBeLessThan(50_000);
    const again = await runtimeOver(store, [domain], { ports: { clock } }).open('t');
    await waitingAgain(again as never, by);
    expect(await again.approvals.approve(by, manager)).toMatchObject({ ruling: 'committed' });
  });

  test('are read when a change is near, and not to open or to reject', async () => {
    let applied = 0;
    const domain = defineDomain({
      name: 'notes',
      version: '1',
      state: z.object({
        notes: z.record(z.string(), z.object({ text: z.string(), by: z.string().optional() })),
      }),
      initial: { notes: {} },
      processes: { write: { writes: ['/notes/*'] } },
      roles: { agent: { processes: ['write'] } },
      actions: {
        write: {
          process: 'write',
          args: z.object({ id: z.string(), text: z.string() }),
          apply: (state, { id, text }) => {
            applied += 1;
            state.notes[id] = { text };
          },
        },
      },
      invariants: ({ each }) => [
        each(
          'LONG',
          '/notes/*',
          {
            channel: 'manager',
            onApprove: (state, { counselor, keys: [id] }) => {
              Object.assign(state.notes[id as string] as object, { by: counselor });
            },
          },
          ({ text, by }) => (text.length > 10 && by === undefined ? escalate('long') : pass),
        ),
      ],
      counselors: { manager: (principal) => principal.startsWith('manager:') },
    });
    const store = new MemoryStore();
    const writing = await runtimeOver(store, [domain as never]).create(domain as never, {
      trajectoryId: 't',
    });
    const write = (on: Trajectory<any>, id: string, text: string) =>
      propose(on, 'write', { id, text });
    const ids = [];
    // One is in the entry, and the other in blobs.
    for (const [id, length] of [['short', 100] as const, ['large', 100_000] as const])
      ids.push(pendingOf(await write(writing as never, id, 'n'.repeat(length))));
    const read: string[] = [];
    const counting = new Proxy(store, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        return (...given: unknown[]) => {
          if (name === 'blob') read.push(given[0] as string);
          return member.apply(target, given);
        };
      },
    });
    applied = 0;
    const opened = await runtimeOver(counting, [domain as never]).open('t');
    read.length = 0;
    expect(await write(opened as never, 'other', 'brief')).toMatchObject({ ruling: 'committed' });
    expect({ applied, read }).toEqual({ applied: 1, read: [] });
    for (const id of ids)
      expect(await opened.approvals.reject(id, { ...manager, reason: 'no' })).toMatchObject({
        ruling: 'rejected',
      });
    expect(applied).toBe(1);
  });

  test('are not those of a branch: it goes on without what waits', async () => {
    const { trajectory, assize } = await opened();
    await claim(trajectory, 'base', 0);
    const base = trajectory.head;
    const by = pendingOf(await claim(trajectory, 'large', 30_000));
    const branch = await assize.branch('t', base, { trajectoryId: 'b', note: 'what if' });
    expect(await claim(branch as never, 'a', 10_000)).toMatchObject({ ruling: 'committed' });
    expect(await claim(branch as never, 'b', 10_000)).toMatchObject({ ruling: 'committed' });
    expect(await claim(branch as never, 'c', 10_000)).toMatchObject({ ruling: 'committed' });
    const own = pendingOf(await claim(branch as never, 'd', 15_000));
    expect(await claim(branch as never, 'e', 6_000)).toMatchObject({ ruling: 'frozen', by: own });
    expect(claims(branch as never)).toEqual(['a', 'b', 'base', 'c']);
    // The source shares its state with the branch, and is as before.
    expect(claims(trajectory)).toEqual(['base']);
    expect(await trajectory.approvals.approve(by, manager)).toMatchObject({ ruling: 'committed' });
  });

  test('do not stop the revocation of their writ, and end with a rejection', async () => {
    const { trajectory } = await opened();
    const by = pendingOf(await claim(trajectory, 'large', 50_000));
    const officer = writFor('officer', { actions: ['assize.revoke'], scopes: ['writ:**'] });
    const revoked = await trajectory.writs.revoke({
      writ: writId(writ),
      reason: 'the agent leaves',
      by: officer,
    });
    expect(revoked.ruling.ruling).toBe('committed');
    // Authority is not submitted: the counselor gets the error, and nothing is recorded.
    await expect(trajectory.approvals.approve(by, manager)).rejects.toMatchObject({
      code: 'changed_since',
    });
    const others = writFor('bob', { nonce: 'bob' });
    const other = () =>
      trajectory.propose(intent('claim', { id: 'a', cents: 1 }, others, { role: 'agent' }));
    expect(await other()).toMatchObject({ ruling: 'frozen', by });
    await trajectory.approvals.reject(by, { ...manager, reason: 'the writ is revoked' });
    expect(await other()).toMatchObject({ ruling: 'committed' });
  });

  test('a deep replay finds the same rulings and the same conflict', async () => {
    const { trajectory, store, domain } = await opened();
    const first = pendingOf(await claim(trajectory, 'one', 20_000));
    const second = pendingOf(await claim(trajectory, 'two', 15_000));
    await claim(trajectory, 'a', 5_000);
    await trajectory.approvals.approve(second, manager);
    await propose(trajectory, 'plan', { rate: 2 });
    expect(await trajectory.approvals.approve(first, manager)).toMatchObject({
      reason: 'conflict',
    });
    const report = await deepReplay(store, 't', { domains: [domain] });
    expect(report).toMatchObject({ same: true, preserved: true, reworded: 0, differences: [] });
    expect(await verifyStore(store)).toMatchObject([{ valid: true }]);
  });

  test('a deep replay reports a conflict that there was not', async () => {
    const { trajectory, store, domain } = await opened();
    const by = pendingOf(await claim(trajectory, 'one', 20_000));
    await trajectory.approvals.reject(by, { ...manager, reason: 'no' });
    const rows = await store.entries('t');
    const payload = {
      ...JSON.parse(rows.at(-1)?.payload as string),
      reason: 'conflict',
      detail: 'it differs',
    };
    const forged = new MemoryStore();
    await forged.commit({ entries: [...rows.slice(0, -1), entryRow(payload)] as never, blobs: [] });
    const { differences } = await deepReplay(forged, 't', { domains: [domain] });
    expect(differences).toMatchObject([
      { seq: 2, what: 'ruling', recorded: { reason: 'conflict' }, now: 'committed' },
    ]);
  });
});
