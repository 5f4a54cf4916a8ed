import { fsck } from '@assize/audit/internal/checkpoints';
import { exportLines, importLines } from '@assize/audit/internal/export';
import { deepReplay } from '@assize/audit/internal/replay';
import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test } from 'vitest';
import { attenuate, issueWrit, type Policy, type Writ, writId } from '#authority';
import { addMicros, contentHash, hashText } from '#canon';
import { Chain, entryRow, integrateLog, Replayer } from '#ledger';
import {
  apart,
  begun,
  codeOf,
  DOCTOR,
  desk,
  expectSound,
  granted,
  helper,
  lead,
  nameOf,
  openOf,
  pay,
  pendingOf,
  refusal,
  reopened,
  task,
  third,
  worker,
} from '../../../../../tests/support/ledger/delegations.ts';
import {
  allEntries,
  type FaultyStore,
  payloads,
} from '../../../../../tests/support/ledger/desk.ts';
import { revocationCases } from '../../../../../tests/support/ledger/revocation-cases.ts';
import { keysOf } from '../../../../../tests/support/ledger/rows.ts';
import { intent, runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import { listWrits } from '../inspect/list-writs.ts';
import { verifyStore } from '../inspect/verify.ts';
import type { Trajectory } from '../trajectory.ts';
import { foldTrajectory } from '../writer/load/fold.ts';
import { snapshotOf } from '../writer/snapshots/snapshot.ts';
import type { TrajectoryWrits } from './revoke.ts';

const below = attenuate(
  granted,
  { subject: helper.publicKey, nonce: 'a', budget: { usd: 60 } },
  lead.privateKey,
);
const lowest = attenuate(
  below,
  { subject: third.publicKey, nonce: 'b', budget: { usd: 20 } },
  helper.privateKey,
);
const beside = attenuate(
  granted,
  { subject: 'beside', nonce: 'c', budget: { usd: 50 } },
  lead.privateKey,
);
/** A writ to revoke, and for nothing else. */
const officer = writFor('officer', { actions: ['assize.revoke'], scopes: ['writ:**'] });
const asBelow = { writ: below, chain: [granted] };
const asLowest = { writ: lowest, chain: [below, granted] };
const asBeside = { writ: beside, chain: [granted] };
const reason = 'the key is lost';

const payAs = (trajectory: Trajectory, writ: Parameters<typeof pay>[1], usd = 1): Promise<string> =>
  trajectory.propose(pay(usd, writ)).then(nameOf);

/** Verifies in every way. */
async function expectWhole(store: FaultyStore): Promise<void> {
  await expectSound(store);
  for (const { trajectory_id } of await store.trajectories())
    expect(await deepReplay(store, trajectory_id, { domains: [desk, apart] })).toMatchObject({
      same: true,
    });
  const memory = store.below as MemoryStore;
  await integrateLog(memory);
  const copy = new MemoryStore();
  await importLines(copy, linesOf(memory));
  await expectSound(copy);
  expect((await fsck(copy)).faults).toEqual([]);
}

async function* linesOf(store: MemoryStore): AsyncGenerator<string> {
  for await (const line of exportLines(store)) yield line.slice(0, -1);
}

describe('a revocation', () => {
  test('by an ancestor holder blocks the writ and its descendants, nothing else', async () => {
    const { store, trajectory } = await begun();
    for (const writ of [granted, asBelow, asLowest, asBeside])
      expect(await payAs(trajectory, writ)).toBe('committed');
    const { ruling, propagated } = await trajectory.writs.revoke({
      writ: writId(below),
      reason,
      by: granted,
    });
    expect([ruling.ruling, propagated]).toEqual(['committed', []]);
    expect(trajectory.writs.revoked()).toEqual([writId(below)]);
    for (const open of [trajectory, await reopened(store)]) {
      for (const writ of [asBelow, asLowest, writId(lowest)])
        expect(await open.propose(pay(1, writ))).toMatchObject({
          reason: 'invalid_authority',
          detail: `Writ ${writId(below)} was revoked.`,
        });
      for (const writ of [granted, asBeside]) expect(await payAs(open, writ)).toBe('committed');
    }
    expect((await payloads(store, 't'))[5]).toMatchObject({
      kind: 'commit',
      action: {
        name: 'assize.revoke',
        role: { name: 'assize', params: {} },
        args: { writ: writId(below), reason },
      },
      delta: { state: [], effects: [], beliefs: [] },
      budget_cost: {},
      writ_id: writId(granted),
    });
    await expectWhole(store);
  });

  test('by the issuer of the root, with a writ for just that', async () => {
    const { store, trajectory } = await begun();
    const just = writFor('operator', {
      actions: ['assize.revoke'],
      scopes: [`writ:${writId(granted)}`],
      nonce: 'just',
    });
    const other = await trajectory.writs.revoke({ writ: worker, reason, by: just });
    expect(other.ruling).toMatchObject({ ruling: 'rejected', reason: 'invalid_authority' });
    expect((await trajectory.writs.revoke({ writ: granted, reason, by: just })).ruling.ruling).toBe(
      'committed',
    );
    expect(await payAs(trajectory, asLowest)).toBe('invalid_authority');
    expect(await payAs(trajectory, worker, 0)).toBe('committed');
    await expectWhole(store);
  });

  test('by a peer is refused for any root grant; an officer may revoke the peer', async () => {
    const { store, trajectory } = await begun();
    const peer = writFor('peer');
    const input = { reason, by: peer };
    for (const writ of [granted, worker, officer, asBelow])
      expect((await trajectory.writs.revoke({ ...input, writ })).ruling).toMatchObject({
        ruling: 'rejected',
        reason: 'invalid_authority',
        detail: expect.stringContaining('is not an ancestor of'),
      });
    expect((await trajectory.writs.revoke({ writ: peer, reason, by: officer })).ruling.ruling).toBe(
      'committed',
    );
    await expectWhole(store);
  });

  test('of a writ that the ledger never saw records the writ', async () => {
    const { store, trajectory } = await begun();
    expect(
      await refusal(store, () =>
        trajectory.writs.revoke({ writ: writId(lowest), reason, by: granted }),
      ),
    ).toBe('unknown_writ');
    expect(
      (await trajectory.writs.revoke({ writ: asLowest, reason, by: granted })).ruling.ruling,
    ).toBe('committed');
    expect(JSON.parse((await store.blob(writId(lowest))) as string)).toEqual(lowest);
    expect(await payAs(await reopened(store), asLowest)).toBe('invalid_authority');
    expect(await payAs(await reopened(store), asBelow)).toBe('committed');
    await expectWhole(store);
  });

  test('of a writ that is known only as one above another', async () => {
    const { store, trajectory } = await begun();
    await payAs(trajectory, asLowest);
    expect(
      (await trajectory.writs.revoke({ writ: writId(below), reason, by: granted })).ruling.ruling,
    ).toBe('committed');
    expect(await payAs(trajectory, asLowest)).toBe('invalid_authority');
    await expectWhole(store);
  });

  test('repeated returns the earlier entry, for any caller', async () => {
    const { store, trajectory } = await begun();
    const first = await trajectory.writs.revoke({ writ: asBelow, reason, by: granted });
    const again = { writ: writId(below), reason: 'once more', by: officer };
    const open = [trajectory, await reopened(store)];
    for (const each of open) expect((await each.writs.revoke(again)).ruling).toEqual(first.ruling);
    const both = await Promise.all(
      open.map((each) => each.writs.revoke({ writ: asBeside, reason, by: officer })),
    );
    expect(both[0]).toEqual(both[1]);
    expect(await allEntries(store, 't')).toHaveLength(3);
    await expectWhole(store);
  });

  test('by several concurrently is one entry, here and in each child', async () => {
    const { store, trajectory } = await begun();
    await trajectory.delegations.delegate(task());
    const input = { writ: granted, reason, by: officer };
    const all = await Promise.all([1, 2, 3].map(() => trajectory.writs.revoke(input)));
    for (const each of all) expect(each).toEqual(all[0]);
    expect(await allEntries(store, 't')).toHaveLength(3);
    expect(await allEntries(store, 'c')).toHaveLength(2);
    await expectWhole(store);
  });

  test('uses its input as of the call', async () => {
    const { store, trajectory } = await begun();
    const input = { writ: asBelow, reason, by: granted };
    const answer = trajectory.writs.revoke(input);
    Object.assign(input, { writ: asBeside, reason: 'another' });
    await answer;
    expect((await payloads(store, 't'))[1]).toMatchObject({
      action: { args: { writ: writId(below), reason } },
    });
  });

  test.each<[string, Parameters<TrajectoryWrits['revoke']>[0]]>([
    ['what one holds oneself', { writ: granted, reason, by: granted }],
    ['what stands above', { writ: granted, reason, by: asBelow }],
    ['what stands beside', { writ: asBeside, reason, by: asBelow }],
    [
      'under a writ that does not grant it',
      { writ: asBelow, reason, by: writFor('a', { actions: ['pay'], nonce: 'n' }) },
    ],
    [
      'under a writ for other writs',
      { writ: asBelow, reason, by: writFor('a', { scopes: ['writ:a'], nonce: 'n' }) },
    ],
    ['as somebody else', { writ: asBelow, reason, by: granted, principal: 'mallory' }],
    [
      'under a child of a root of the same issuer',
      {
        writ: worker,
        reason,
        by: {
          writ: attenuate(granted, { subject: 'x', nonce: 'x', budget: {} }, lead.privateKey),
          chain: [granted],
        },
      },
    ],
    [
      'under an expired writ',
      {
        writ: asBelow,
        reason,
        by: writFor('a', { expires: '2026-02-01T00:00:00.000000Z', nonce: 'n' }),
      },
    ],
    [
      'where a person would have to agree',
      { writ: asBelow, reason, by: writFor('a', { require_approval: ['**'], nonce: 'n' }) },
    ],
  ])('is refused, and that is an entry: %s', async (_what, input) => {
    const { store, trajectory } = await begun();
    const { ruling, propagated } = await trajectory.writs.revoke(input);
    expect({ ruling, carried: propagated }).toMatchObject({
      ruling: { ruling: 'rejected', reason: 'invalid_authority' },
      carried: [],
    });
    expect((await allEntries(store, 't')).map(({ kind }) => kind)).toEqual(['root', 'rejection']);
    expect(trajectory.writs.revoked()).toEqual([]);
    expect(await payAs(trajectory, asBelow)).toBe('committed');
    await expectWhole(store);
  });

  test('under a revoked writ revokes nothing', async () => {
    const { store, trajectory } = await begun();
    await trajectory.writs.revoke({ writ: granted, reason, by: officer });
    expect(
      (await trajectory.writs.revoke({ writ: asBelow, reason, by: granted })).ruling,
    ).toMatchObject({
      reason: 'invalid_authority',
    });
    await expectWhole(store);
  });

  test('is evaluated by the policy, and a demand for approval is a denial', async () => {
    const policyOf = (decision: 'deny' | 'needs_approval'): Policy => ({
      id: decision,
      digest: hashText(decision),
      evaluate: ({ action, scopes }) => ({
        decision:
          action === 'assize.revoke' && scopes[0] === `writ:${writId(below)}` ? decision : 'allow',
        reasons: [],
        errors: [],
      }),
    });
    for (const decision of ['deny', 'needs_approval'] as const) {
      const { store, trajectory } = await begun({ policy: policyOf(decision) });
      const { ruling } = await trajectory.writs.revoke({ writ: asBelow, reason, by: granted });
      expect(ruling).toMatchObject({ ruling: 'rejected', reason: 'policy_denied' });
      expect((await payloads(store, 't'))[1]).toMatchObject({ policy: { decision } });
      await expectSound(store);
    }
  });

  test('of another anchor’s writ, or of one that holds nowhere, is an error', async () => {
    const { store, trajectory } = await begun();
    const stranger = keysOf(77);
    const { v: _v, parent: _p, signature: _s, ...grant } = granted;
    const foreign = issueWrit({ ...grant, issuer: stranger.publicKey }, stranger.privateKey);
    for (const input of [
      { writ: foreign, reason, by: officer },
      { writ: granted, reason, by: foreign },
    ])
      expect(await refusal(store, () => trajectory.writs.revoke(input))).toBe('bad_writ');
  });

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['no reason', { writ: granted, by: officer }],
    ['an empty reason', { writ: granted, by: officer, reason: ' ' }],
    ['a long reason', { writ: granted, by: officer, reason: 'x'.repeat(4_097) }],
    ['half a character', { writ: granted, by: officer, reason: '\ud800' }],
    ['no writ', { by: officer, reason }],
    ['no writ to do it by', { writ: granted, reason }],
    ['a principal that is not a string', { writ: granted, by: officer, reason, principal: 7 }],
  ])('%s is not a revocation', async (_what, input) => {
    const { store, trajectory } = await begun();
    expect(await refusal(store, () => trajectory.writs.revoke(input as never))).toBe('bad_intent');
  });

  test('is nothing that an agent can propose', async () => {
    const { store, trajectory } = await begun();
    const ruling = await trajectory.propose(
      intent('assize.revoke', { writ: writId(granted), reason }, worker),
    );
    expect(ruling).toMatchObject({ ruling: 'rejected', reason: 'unknown_tool' });
    expect(trajectory.writs.revoked()).toEqual([]);
    await expectWhole(store);
  });

  test('also ends a trajectory that breaks its rules', async () => {
    const { store, trajectory } = await begun({
      create: { initial: { ...desk.initial, n: 11 }, override: true },
    });
    expect(nameOf(await trajectory.propose(intent('keep', { value: 1 }, worker)))).toBe(
      'invariant_rejected',
    );
    expect(
      (await trajectory.writs.revoke({ writ: worker, reason, by: officer })).ruling.ruling,
    ).toBe('committed');
    await expectWhole(store);
  });
});

describe('while something waits', () => {
  test('a frozen world lets revocations through, and refusals of them', async () => {
    const { store, trajectory } = await begun();
    const pending = pendingOf(await trajectory.propose(intent('ask', { amount: 5 }, worker)));
    expect(nameOf(await trajectory.propose(pay(1, granted)))).toBe('frozen');
    expect(
      (await trajectory.writs.revoke({ writ: granted, reason, by: asBelow })).ruling.ruling,
    ).toBe('rejected');
    expect(
      (await trajectory.writs.revoke({ writ: asBelow, reason, by: granted })).ruling.ruling,
    ).toBe('committed');
    expect((await reopened(store)).approvals.pending().map(({ id }) => id)).toEqual([pending]);
    // A proposal pending under another writ is resolved as before.
    expect(nameOf(await trajectory.approvals.approve(pending, DOCTOR))).toBe('committed');
    await expectWhole(store);
  });

  test('a pending proposal under the revoked writ can be rejected, not approved', async () => {
    const { store, trajectory } = await begun();
    const pending = pendingOf(await trajectory.propose(intent('ask', { amount: 5 }, worker)));
    await trajectory.writs.revoke({ writ: worker, reason, by: officer });
    for (const open of [trajectory, await reopened(store)]) {
      expect(await refusal(store, () => open.approvals.approve(pending, DOCTOR))).toBe(
        'changed_since',
      );
      expect(
        await refusal(store, () => open.approvals.approve(pending, { ...DOCTOR, override: true })),
      ).toBe('changed_since');
    }
    expect(
      nameOf(await trajectory.approvals.reject(pending, { ...DOCTOR, reason: 'revoked' })),
    ).toBe('counselor_rejected');
    await expectWhole(store);
  });
});

describe('delegations', () => {
  /** `t` delegates to `c`, and `c` to `d`. */
  async function three(options: Parameters<typeof begun>[0] = {}) {
    const first = await begun(options);
    const child = await first.trajectory.delegations.delegate(
      task({ subject: helper.publicKey, actions: ['**'], scopes: ['**'] } as never),
    );
    const own = child.delegations.origin?.writ as Writ;
    const grandchild = await child.delegations.delegate(
      task({
        writ: own,
        childTrajectoryId: 'd',
        budget: { usd: 10 },
        subject: 'last',
        privateKey: helper.privateKey,
      }),
    );
    return { ...first, child, own, grandchild, last: grandchild.delegations.origin?.writ as Writ };
  }

  test('under a revoked writ record their refusals and can still be concluded', async () => {
    const { store, trajectory, child, own, grandchild, last } = await three();
    expect([await payAs(child, own), await payAs(grandchild, last)]).toEqual([
      'committed',
      'committed',
    ]);
    const { ruling, propagated } = await trajectory.writs.revoke({
      writ: writId(own),
      reason,
      by: granted,
    });
    expect([ruling.ruling, propagated]).toEqual(['committed', [{ trajectoryId: 'c' }]]);
    expect([await payAs(child, own), await payAs(grandchild, last)]).toEqual([
      'invalid_authority',
      'invalid_authority',
    ]);
    const again = runtimeOver(store, [desk, apart]);
    expect(await payAs(await again.open('d'), last)).toBe('invalid_authority');
    expect(await payAs(await again.open('c'), own)).toBe('invalid_authority');
    const [, , there] = await allEntries(store, 't');
    expect((await payloads(store, 'c'))[3]).toMatchObject({
      writ_id: writId(own),
      action: {
        args: { writ: writId(own), reason, from: { trajectory_id: 't', entry_id: there?.id } },
      },
    });
    await child.delegations.conclude(openOf(child));
    await trajectory.delegations.conclude(openOf(trajectory));
    // The unspent budget is refunded to the lead: of a hundred, two were spent.
    expect([await payAs(trajectory, granted, 99), await payAs(trajectory, granted, 98)]).toEqual([
      'budget_exhausted',
      'committed',
    ]);
    await expectWhole(store);
  });

  test('under other writs go on; nothing is delegated under a revoked one', async () => {
    const { store, trajectory, child, own } = await three();
    await trajectory.writs.revoke({ writ: asBelow, reason, by: granted });
    expect(await payAs(child, own)).toBe('committed');
    const again = task({
      writ: asBelow,
      childTrajectoryId: 'e',
      privateKey: helper.privateKey,
      budget: {},
      subject: 'x',
    });
    expect(await refusal(store, () => trajectory.delegations.delegate(again))).toBe('bad_writ');
    await expectWhole(store);
  });

  test('a frozen child is reached, and an answered child need not be', async () => {
    const { store, trajectory, child, own } = await three();
    const pending = pendingOf(await child.propose(intent('ask', { amount: 5 }, own)));
    expect(
      (await trajectory.writs.revoke({ writ: granted, reason, by: officer })).propagated,
    ).toEqual([{ trajectoryId: 'c' }]);
    expect(await refusal(store, () => child.approvals.approve(pending, DOCTOR))).toBe(
      'changed_since',
    );
    const more = await begun();
    const answered = await more.trajectory.delegations.delegate(task());
    await answered.delegations.answer();
    const { propagated } = await more.trajectory.writs.revoke({
      writ: granted,
      reason,
      by: officer,
    });
    expect(propagated).toEqual([{ trajectoryId: 'c' }]);
    expect(answered.writs.revoked()).toEqual([]);
    await expectWhole(store);
    await expectWhole(more.store);
  });

  test.each(['t', 'c'])(
    'a propagation interrupted after %s is completed by the next open',
    async (last) => {
      const { store, trajectory, own, last: lowestWrit } = await three();
      // The entry there is written, and the process ends before the next.
      store.before = ({ entries }) => {
        if (entries[0]?.trajectory_id === (last === 't' ? 'c' : 'd'))
          throw new Error('the process is gone');
      };
      await expect(trajectory.writs.revoke({ writ: granted, reason, by: officer })).rejects.toThrow(
        'the process is gone',
      );
      store.before = () => {};
      // The ledger has no fault; the warning concerns the trajectory that continues.
      const untold = last === 't' ? 'c' : 'd';
      const said = await verifyStore(store);
      expect(said.flatMap(({ fault }) => fault ?? [])).toEqual([]);
      expect(said.filter(({ warnings }) => warnings !== undefined)).toMatchObject([
        {
          trajectory_id: untold,
          valid: true,
          warnings: [expect.stringContaining(`${writId(granted)} was revoked in ${last}`)],
        },
      ]);
      const again = runtimeOver(store, [desk, apart]);
      await again.open(last);
      expect((await verifyStore(store)).filter(({ warnings }) => warnings !== undefined)).toEqual(
        [],
      );
      expect((await again.open('d')).writs.revoked()).toEqual([writId(granted)]);
      expect(await payAs(await again.open('d'), lowestWrit)).toBe('invalid_authority');
      if (last === 't') expect(await payAs(await again.open('c'), own)).toBe('invalid_authority');
      await expectWhole(store);
    },
  );

  test('a child that can’t be opened is named, and revoking again reaches it', async () => {
    const { store, trajectory } = await three();
    const without = runtimeOver(store, [desk, apart]);
    const before = await without.open('t');
    store.plan = new Map(
      Array.from({ length: 40 }, (_, n) => [store.commits + 2 + n, 'conflict' as const]),
    );
    const { ruling, propagated } = await before.writs.revoke({
      writ: granted,
      reason,
      by: officer,
    });
    expect(ruling.ruling).toBe('committed');
    expect(propagated).toMatchObject([{ trajectoryId: 'c', error: { code: 'conflict' } }]);
    store.plan = new Map();
    expect(
      (await trajectory.writs.revoke({ writ: granted, reason, by: officer })).propagated,
    ).toEqual([{ trajectoryId: 'c' }]);
    await expectWhole(store);
  });

  test('a trajectory adopts only revocations of writs above its own', async () => {
    const { store, trajectory, child } = await three();
    await trajectory.writs.revoke({ writ: asBelow, reason, by: granted });
    await trajectory.writs.revoke({ writ: worker, reason, by: officer });
    for (const { id } of await allEntries(store, 't'))
      expect(await refusal(store, () => child.writs.adopt(id))).toBe('not_found');
    expect(await refusal(store, () => child.writs.adopt('0'.repeat(64)))).toBe('not_found');
  });

  test('by the runtime, where the writs say', async () => {
    const { store, assize, child, own } = await three();
    expect((await assize.revoke({ writ: own, reason, by: granted })).propagated).toEqual([
      { trajectoryId: 'c' },
    ]);
    expect(child.writs.revoked()).toEqual([writId(own)]);
    const other = { writ: worker, reason, by: officer };
    expect(await codeOf(assize.revoke(other))).toBe('bad_intent');
    expect((await assize.revoke({ ...other, trajectoryId: 'd' })).ruling.ruling).toBe('committed');
    await expectWhole(store);
  });
});

describe('branches', () => {
  const free = writFor(lead.publicKey, { nonce: 'free' });
  const kid = attenuate(free, { subject: 'kid', nonce: 'kid' }, lead.privateKey);
  const asKid = { writ: kid, chain: [free] };

  test('inherit the revocations before their branching point, and no others', async () => {
    const { store, assize, trajectory } = await begun();
    await payAs(trajectory, asKid, 0);
    const [root] = await allEntries(store, 't');
    const { ruling } = await trajectory.writs.revoke({ writ: asKid, reason, by: free });
    const at = ruling.ruling === 'committed' ? ruling.entry.id : '';
    const early = await assize.branch('t', root?.id as string, {
      trajectoryId: 'early',
      writs: [free],
      note: 'x',
    });
    const late = await assize.branch('t', at, {
      trajectoryId: 'late',
      writs: [free, kid],
      note: 'x',
    });
    const again = await assize.branch('late', late.head, {
      trajectoryId: 'again',
      writs: [free],
      note: 'x',
    });
    expect(early.writs.revoked()).toEqual([]);
    expect(await payAs(early, asKid, 0)).toBe('committed');
    for (const branch of [
      late,
      await reopened(store, 'late'),
      again,
      await reopened(store, 'again'),
    ]) {
      expect(branch.writs.revoked()).toEqual([writId(kid)]);
      expect(await payAs(branch, asKid, 0)).toBe('invalid_authority');
      expect(await payAs(branch, free, 0)).toBe('committed');
    }
    // A later revocation in the source, or in the branch, applies only where it was made.
    await trajectory.writs.revoke({ writ: free, reason, by: officer });
    await early.writs.revoke({ writ: asKid, reason, by: free });
    expect([await payAs(trajectory, free, 0), await payAs(early, asKid, 0)]).toEqual([
      'invalid_authority',
      'invalid_authority',
    ]);
    expect(await payAs(late, free, 0)).toBe('committed');
    expect(
      await payAs(late, attenuate(free, { subject: 'kid', nonce: 'new' }, lead.privateKey), 0),
    ).toBe('committed');
    await expectWhole(store);
  });

  test('delegate nothing under it; with a snapshot of either just so', async () => {
    const { store, assize, trajectory } = await begun();
    const { ruling } = await trajectory.writs.revoke({ writ: free, reason, by: officer });
    const at = ruling.ruling === 'committed' ? ruling.entry.id : '';
    await assize.branch('t', at, { trajectoryId: 'b', writs: [free], note: 'x' });
    const memory = store.below as MemoryStore;
    for (const id of ['t', 'b'])
      await memory.putSnapshot(
        snapshotOf(await foldTrajectory(id, new Replayer(store), store)) as never,
        0 as never,
      );
    const later = runtimeOver(memory, [desk, apart], { snapshots: memory });
    const fromSnapshot = await later.branch('t', at, {
      trajectoryId: 'c',
      writs: [free],
      note: 'x',
    });
    for (const branch of [await later.open('b'), await reopened(store, 'b'), fromSnapshot]) {
      const below = task({ writ: free, childTrajectoryId: 'd', budget: {} });
      expect(await refusal(store, () => branch.delegations.delegate(below))).toBe('bad_writ');
      expect(await payAs(branch, asKid, 0)).toBe('invalid_authority');
    }
    expect((await listWrits(memory, 'b')).find(({ id }) => id === writId(free))).toMatchObject({
      revoked: { writ: writId(free), by: (await allEntries(store, 'b'))[0]?.id },
    });
    await expectWhole(store);
  });
});

describe('a ledger that was written by hand', () => {
  test.each(revocationCases)('$name', async ({ make, faults }) => {
    const found = (await verifyStore(await make())).flatMap((report) => report.fault ?? []);
    expect(found.map(({ trajectory_id, seq, code }) => `${trajectory_id} ${seq} ${code}`)).toEqual(
      faults,
    );
  });

  test('the rules do not allow a pending revocation', async () => {
    const { store, trajectory } = await begun();
    pendingOf(await trajectory.propose(intent('ask', { amount: 5 }, worker)));
    const rows = await allEntries(store, 't');
    const payload = JSON.parse(rows[1]?.payload as string);
    payload.proposal.action.name = 'assize.revoke';
    payload.digest = contentHash(payload.proposal);
    const chain = new Chain('t');
    chain.accept({ ...rows[0]!, payload: JSON.parse(rows[0]!.payload) } as never);
    expect(() => chain.accept({ ...entryRow(payload, undefined), payload } as never)).toThrow(
      'a commit of assize.revoke cannot be pending',
    );
  });
});

test('a snapshot includes revocations and their entries', async () => {
  const { store, trajectory } = await begun();
  const first = await trajectory.writs.revoke({ writ: asBelow, reason, by: granted });
  const folded = await foldTrajectory('t', new Replayer(store), store);
  const memory = store.below as MemoryStore;
  await memory.putSnapshot(snapshotOf(folded) as never, 0 as never);
  const later = await runtimeOver(memory, [desk, apart], { snapshots: memory }).open('t');
  expect(await payAs(later, asLowest)).toBe('invalid_authority');
  expect((await later.writs.revoke({ writ: below, reason, by: granted })).ruling).toEqual(
    first.ruling,
  );
  expect(await verifyStore(memory)).toMatchObject([{ valid: true }]);
});

test('each use checks time, budget and revocation, despite earlier uses', async () => {
  const { store, clock, trajectory } = await begun();
  const brief = attenuate(
    granted,
    { subject: 'brief', nonce: 'n', budget: { usd: 10 }, expires: addMicros(clock.at, 60_000_000) },
    lead.privateKey,
  );
  const held = { writ: brief, chain: [granted] };
  for (let n = 0; n < 3; n++) expect(await payAs(trajectory, held, 3)).toBe('committed');
  expect(await payAs(trajectory, held, 2)).toBe('budget_exhausted');
  clock.forward(60_000);
  expect(await payAs(trajectory, held, 1)).toBe('invalid_authority');
  expect(await payAs(trajectory, granted, 1)).toBe('committed');
  await trajectory.writs.revoke({ writ: granted, reason, by: officer });
  expect(await payAs(trajectory, granted, 1)).toBe('invalid_authority');
  await expectWhole(store);
});

test('of two processes the unnotified one learns of a revocation on append', async () => {
  const { store, trajectory } = await begun();
  const other = await reopened(store);
  await other.writs.revoke({ writ: asBelow, reason, by: granted });
  expect(await payAs(trajectory, asBelow)).toBe('invalid_authority');
  expect(trajectory.writs.revoked()).toEqual([writId(below)]);
});

test('of two processes one reloads before it reports the other’s writ unknown', async () => {
  const { store, trajectory } = await begun();
  const child = await (await reopened(store)).delegations.delegate(task());
  const id = writId(child.delegations.origin?.writ as Writ);
  const { ruling, propagated } = await trajectory.writs.revoke({ writ: id, reason, by: granted });
  expect([ruling.ruling, propagated]).toEqual(['committed', [{ trajectoryId: 'c' }]]);
  expect(await payAs(child, id)).toBe('invalid_authority');
  await expectWhole(store);
});
