import { exportLines, importLines } from '@assize/audit/internal/export';
import { deepReplay } from '@assize/audit/internal/replay';
import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test } from 'vitest';
import { attenuate, type Writ, writId } from '#authority';
import { addMicros, instantFromMillis } from '#canon';
import { Chain, type CommitPayload, type Payload, Replayer } from '#ledger';
import { StoreError } from '#stores';
import { openWard } from '../../../../../tests/support/clinic/ward-with-erasures.ts';
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
  openOf,
  pay,
  pendingOf,
  reopened,
  task,
  worker,
} from '../../../../../tests/support/ledger/delegations.ts';
import { type FaultyStore, payloads } from '../../../../../tests/support/ledger/desk.ts';
import { haltCases } from '../../../../../tests/support/ledger/halt-cases.ts';
import { keysOf } from '../../../../../tests/support/ledger/rows.ts';
import { intent, runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import { verifyStore } from '../inspect/verify.ts';
import type { Trajectory } from '../trajectory.ts';
import { foldTrajectory } from '../writer/load/fold.ts';
import { snapshotOf } from '../writer/snapshots/snapshot.ts';

const office = writFor('security', {
  actions: ['assize.halt'],
  scopes: ['halt:**'],
  nonce: 'office',
});
const reviser = writFor('reviser', {
  actions: ['assize.revoke'],
  scopes: ['writ:**'],
  nonce: 'reviser',
});
const reason = 'the agents pay twice';
const halting = { writ: office, reason };
const resuming = { writ: office, reason: 'the cause is found' };
const add = (writ: Writ = worker) => intent('add', { by: 1 }, writ);

async function expectWhole(store: FaultyStore): Promise<void> {
  await expectSound(store);
  for (const { trajectory_id } of await store.trajectories())
    expect(await deepReplay(store, trajectory_id, { domains: [desk, apart] })).toMatchObject({
      same: true,
    });
  const copy = new MemoryStore();
  await importLines(
    copy,
    (async function* () {
      for await (const line of exportLines(store.below as MemoryStore)) yield line.slice(0, -1);
    })(),
  );
  await expectSound(copy);
}

async function length(store: FaultyStore, id = 't'): Promise<number> {
  return (
    (await store.trajectories()).find(({ trajectory_id }) => trajectory_id === id)?.entries ?? 0
  );
}

describe('a halt', () => {
  test('is an entry with its principal and reason, and can be repeated', async () => {
    const { store, clock, trajectory } = await begun();
    const { ruling, propagated } = await trajectory.halt(halting);
    expect([ruling.ruling, propagated]).toEqual(['committed', []]);
    expect((await payloads(store, 't')).at(-1)).toMatchObject({
      kind: 'commit',
      action: { name: 'assize.halt', args: { does: 'halt', principal: 'security', reason } },
      delta: { state: [], effects: [], beliefs: [] },
    });
    expect(trajectory.halted).toMatchObject({ principal: 'security', reason, at: clock.at });
    for (const open of [trajectory, await reopened(store)])
      expect((await open.halt(halting)).ruling).toEqual(ruling);
    expect(await length(store)).toBe(2);
    await expectWhole(store);
  });

  test('refuses all work without an entry, and names principal, time and reason', async () => {
    const { store, assize, trajectory } = await begun();
    await trajectory.delegations.delegate(task());
    const asked = pendingOf(await trajectory.propose(intent('ask', { amount: 1 }, worker)));
    const free = await assize.create(apart, { trajectoryId: 'free', writs: [office, worker] });
    await trajectory.halt(halting);
    await free.halt(halting);
    const child = await assize.open('c');
    const before = await store.trajectories();
    const work: Readonly<Record<string, (open: Trajectory) => Promise<unknown>>> = {
      propose: (open) => open.propose(add()),
      'propose what is rejected': (open) => open.propose(intent('nothing', {}, worker)),
      'propose with a key': (open) => open.propose({ ...add(), idempotencyKey: 'k' }),
      approve: (open) => open.approvals.approve(asked, DOCTOR),
      delegate: (open) =>
        open.delegations.delegate(task({ childTrajectoryId: 'd', budget: { usd: 1 } })),
      conclude: (open) => open.delegations.conclude(openOf(open)),
      'answer in the child': () => child.delegations.answer(),
      'propose in the child': () =>
        child.propose(intent('add', { by: 1 }, child.delegations.origin?.writ as Writ)),
      branch: (open) => assize.branch('t', open.head, { note: 'b' }),
    };
    for (const open of [trajectory, await reopened(store)])
      for (const [name, step] of Object.entries(work))
        expect([name, await codeOf(step(open))]).toEqual([name, 'halted']);
    expect(await store.trajectories()).toEqual(before);
    await expect(trajectory.propose(add())).rejects.toThrow(
      't is halted by security since 2026-03-23T09:00:00.000000Z: the agents pay twice. A principal with the right to halt must resume it.',
    );
    await expectWhole(store);
  });

  test('refuses erasures without an entry', async () => {
    const { store, trajectory, act } = await openWard();
    await act('admit', 'p1', { name: 'David' });
    const erasing = { at: ['/patients/p1'], reason: 'he asked', writ: worker };
    await trajectory.halt(halting);
    const before = await store.trajectories();
    expect(await codeOf(trajectory.erase(erasing))).toBe('halted');
    expect(await store.trajectories()).toEqual(before);
    await trajectory.resume(resuming);
    expect(await trajectory.erase(erasing)).toMatchObject({ ruling: 'committed' });
  });

  test('takes revocations and rejections by counselors', async () => {
    const { store, trajectory } = await begun();
    const asked = pendingOf(await trajectory.propose(intent('ask', { amount: 1 }, worker)));
    await trajectory.halt(halting);
    const { ruling } = await trajectory.writs.revoke({ writ: worker, by: reviser, reason });
    expect(ruling.ruling).toBe('committed');
    expect(await trajectory.approvals.reject(asked, { ...DOCTOR, reason: 'no' })).toMatchObject({
      ruling: 'rejected',
    });
    expect(await codeOf(trajectory.propose(add()))).toBe('halted');
    await trajectory.resume(resuming);
    expect(await trajectory.propose(add())).toMatchObject({
      ruling: 'rejected',
      reason: 'invalid_authority',
    });
    await expectWhole(store);
  });

  test('is not delayed by a freeze, and records no expiry of what waits', async () => {
    const { store, clock, trajectory } = await begun({ approvals: { timeoutMs: 60_000 } });
    const asked = pendingOf(await trajectory.propose(intent('ask', { amount: 1 }, worker)));
    expect((await trajectory.halt(halting)).ruling.ruling).toBe('committed');
    clock.forward(120_000);
    expect(await codeOf(trajectory.propose(add()))).toBe('halted');
    expect(await codeOf(trajectory.approvals.approve(asked, DOCTOR))).toBe('halted');
    expect(await length(store)).toBe(3);
    expect((await trajectory.resume(resuming)).ruling.ruling).toBe('committed');
    expect(await trajectory.propose(add())).toMatchObject({ ruling: 'committed' });
    expect((await payloads(store, 't')).map(({ kind }) => kind).slice(-2)).toEqual([
      'rejection',
      'commit',
    ]);
    await expectWhole(store);
  });

  test('is not delayed by the clock of its host', async () => {
    const { store } = await begun();
    const clock = {
      now: () => addMicros(instantFromMillis(Date.now()), 30 * 24 * 60 * 60 * 1_000_000),
    };
    const wild = runtimeOver(store, [desk], { ports: { clock }, maxClockAheadMs: 0 });
    const never = writFor('s', {
      ...office,
      subject: 's',
      not_before: '2020-01-01T00:00:00.000000Z',
      expires: '2999-01-01T00:00:00.000000Z',
    });
    const open = await wild.open('t');
    expect((await open.halt({ writ: never, reason })).ruling.ruling).toBe('committed');
    expect((await payloads(store, 't')).at(-1)?.at).not.toBe(clock.now());
    expect((await open.resume({ writ: never, reason })).ruling.ruling).toBe('committed');
  });

  test('wins against proposals adjudicated before it in another process', async () => {
    const { store, trajectory } = await begun();
    const other = await reopened(store);
    const results = await Promise.all([
      other.halt(halting),
      ...Array.from({ length: 20 }, () =>
        trajectory.propose(add()).catch((error: { code: string }) => error.code),
      ),
    ]);
    const rows = await payloads(store, 't');
    const at = rows.findIndex(
      (payload) => payload.kind === 'commit' && payload.action.name === 'assize.halt',
    );
    expect(rows.length).toBe(at + 1);
    expect(results.filter((result) => result === 'halted')).toHaveLength(20 - (at - 1));
    await expectWhole(store);
  });
});

describe('a resume', () => {
  test('lets work go on, and needs a halt', async () => {
    const { store, trajectory } = await begun();
    expect(await codeOf(trajectory.resume(resuming))).toBe('already_done');
    await trajectory.halt(halting);
    expect((await trajectory.resume(resuming)).ruling.ruling).toBe('committed');
    expect(trajectory.halted).toBeUndefined();
    for (const open of [trajectory, await reopened(store)]) {
      expect(await open.propose(add())).toMatchObject({ ruling: 'committed' });
      expect(await codeOf(open.resume(resuming))).toBe('already_done');
    }
    expect((await trajectory.halt({ ...halting, reason: 'again' })).ruling.ruling).toBe(
      'committed',
    );
    await expectWhole(store);
  });

  test('concludes a delegation that was answered before the halt', async () => {
    const { store, trajectory } = await begun();
    const child = await trajectory.delegations.delegate(task());
    await child.delegations.answer({ finalAnswer: 7 });
    expect((await trajectory.halt(halting)).propagated).toEqual([{ trajectoryId: 'c' }]);
    expect(trajectory.delegations.open()).toHaveLength(1);
    await trajectory.resume(resuming);
    expect(trajectory.delegations.open()).toEqual([]);
    await expectWhole(store);
  });
});

describe('the right to halt', () => {
  const named = { actions: ['assize.halt'], scopes: ['halt:t'] };
  const cases: Readonly<Record<string, [Writ | { writ: Writ; chain: Writ[] }, boolean]>> = {
    'a writ for this trajectory': [writFor('s', named), true],
    'a writ for every trajectory': [office, true],
    'a writ with other rights too': [
      writFor('s', { actions: ['add', 'assize.halt'], scopes: ['**', 'halt:*'] }),
      true,
    ],
    'a writ for another trajectory': [writFor('s', { ...named, scopes: ['halt:u'] }), false],
    'a writ for everything': [worker, false],
    'a writ that names the action only': [writFor('s', { ...named, scopes: ['**'] }), false],
    'a writ that names the scope only': [writFor('s', { ...named, actions: ['**'] }), false],
    'an expired writ': [writFor('s', { ...named, expires: '2026-02-01T00:00:00.000000Z' }), false],
  };
  for (const [name, [writ, isRight]] of Object.entries(cases))
    test(`${isRight ? 'is given by' : 'is not given by'} ${name}`, async () => {
      const { store, trajectory } = await begun();
      const { ruling } = await trajectory.halt({ writ, reason });
      expect(ruling).toMatchObject(
        isRight ? { ruling: 'committed' } : { reason: 'invalid_authority' },
      );
      await trajectory.halt(halting);
      const resumed = await trajectory.resume({ writ, reason });
      expect(resumed.ruling).toMatchObject(
        isRight ? { ruling: 'committed' } : { reason: 'invalid_authority' },
      );
      expect(trajectory.halted === undefined).toBe(isRight);
      await expectWhole(store);
    });

  test('can be attenuated, but not made from a writ for everything', async () => {
    const { store, trajectory } = await begun();
    const root = writFor(lead.publicKey, { ...named, nonce: 'root' });
    const narrow = { subject: 'on-call', nonce: 'on-call', ...named };
    const below = { writ: attenuate(root, narrow, lead.privateKey), chain: [root] };
    const made = { writ: attenuate(granted, narrow, lead.privateKey), chain: [granted] };
    expect((await trajectory.halt({ writ: made, reason })).ruling).toMatchObject({
      reason: 'invalid_authority',
    });
    expect((await trajectory.halt({ writ: below, reason })).ruling.ruling).toBe('committed');
    expect((await trajectory.resume({ writ: made, reason })).ruling).toMatchObject({
      reason: 'invalid_authority',
    });
    expect((await trajectory.resume({ writ: below, reason })).ruling.ruling).toBe('committed');
    await expectWhole(store);
  });

  test('is refused if a policy asks for approval: nothing could give it', async () => {
    const decision = { decision: 'needs_approval', policies: ['p'] } as const;
    const policy = { digest: 'a'.repeat(64), evaluate: () => decision };
    const { trajectory } = await begun({ policy: policy as never });
    expect((await trajectory.halt(halting)).ruling).toMatchObject({
      ruling: 'rejected',
      reason: 'policy_denied',
    });
  });

  for (const [name, input] of Object.entries({
    nothing: undefined,
    'no reason': { writ: office },
    'an empty reason': { writ: office, reason: ' ' },
    'no writ': { reason },
    'a principal that is not a string': { ...halting, principal: 1 },
  }))
    test(`is not asked with ${name}`, async () => {
      const { trajectory } = await begun();
      expect(await codeOf(trajectory.halt(input as never))).toBe('bad_intent');
      expect(await codeOf(trajectory.resume(input as never))).toBe('bad_intent');
    });
});

describe('delegated trajectories', () => {
  async function family() {
    const family = await begun();
    const { trajectory } = family;
    const child = await trajectory.delegations.delegate(
      task({ subject: helper.publicKey, max_depth: 3 }),
    );
    const writ = child.delegations.origin?.writ as Writ;
    const grandchild = await child.delegations.delegate({
      ...task({ writ, childTrajectoryId: 'g', budget: { usd: 10 } }),
      privateKey: helper.privateKey,
    } as never);
    return { ...family, child, grandchild };
  }
  const does = (payload: Payload): unknown =>
    payload.kind === 'commit' && payload.action.name === 'assize.halt'
      ? payload.action.args
      : undefined;
  const halts = async (store: FaultyStore, id: string) =>
    (await payloads(store, id)).map(does).filter(Boolean);

  test('adopt a halt and a resume, down to grandchildren', async () => {
    const { store, trajectory, child, grandchild } = await family();
    expect((await trajectory.halt(halting)).propagated).toEqual([{ trajectoryId: 'c' }]);
    for (const each of [child, grandchild])
      expect(each.halted).toMatchObject({ principal: 'security', reason });
    for (const each of [child, grandchild])
      expect(await codeOf(each.resume(resuming))).toBe('halted');
    await expectWhole(store);
    expect((await trajectory.resume(resuming)).propagated).toEqual([{ trajectoryId: 'c' }]);
    for (const each of [trajectory, child, grandchild]) expect(each.halted).toBeUndefined();
    for (const id of ['t', 'c', 'g']) expect(await halts(store, id)).toHaveLength(2);
    await expectWhole(store);
  });

  test('keep their own halt when the delegator resumes', async () => {
    const { store, trajectory, child, grandchild } = await family();
    await child.halt({ ...halting, reason: 'own' });
    await trajectory.halt(halting);
    await trajectory.resume(resuming);
    expect(child.halted).toMatchObject({ reason: 'own' });
    expect(grandchild.halted).toMatchObject({ reason: 'own' });
    expect((await halts(store, 'c')).at(-1)).toMatchObject({ does: 'resume', remains: true });
    await expectWhole(store);
    await child.resume(resuming);
    for (const each of [child, grandchild]) expect(each.halted).toBeUndefined();
    await expectWhole(store);
  });

  test('stay halted by the delegator when their own halt ends', async () => {
    const { store, trajectory, child, grandchild } = await family();
    await trajectory.halt(halting);
    await child.halt({ ...halting, reason: 'own' });
    await child.resume(resuming);
    for (const each of [child, grandchild]) expect(each.halted).toMatchObject({ reason });
    await trajectory.resume(resuming);
    for (const each of [child, grandchild]) expect(each.halted).toBeUndefined();
    await expectWhole(store);
  });

  test('that a crash left out adopt it when the parent is opened', async () => {
    for (const resumes of [false, true]) {
      const { store, trajectory } = await family();
      const step = async (open: Trajectory, change: 'halt' | 'resume'): Promise<void> => {
        const seq = await length(store);
        store.before = ({ entries }) => {
          if (entries.some((row) => row.trajectory_id !== 't'))
            throw new StoreError('store_failed', 'The store fails. Retry.');
        };
        const { ruling, propagated } = await open[change](change === 'halt' ? halting : resuming);
        expect([ruling.ruling, propagated[0]?.error !== undefined]).toEqual(['committed', true]);
        store.before = () => {};
        expect(await length(store)).toBe(seq + 1);
      };
      if (resumes) await trajectory.halt(halting);
      await step(resumes ? await reopened(store) : trajectory, resumes ? 'resume' : 'halt');
      const warnings = (await verifyStore(store)).flatMap((report) => report.warnings ?? []);
      expect(warnings).toEqual([
        `t was ${resumes ? 'resumed' : 'halted'}, but this trajectory has not adopted that; open t to adopt it`,
      ]);
      await reopened(store);
      for (const id of ['c', 'g'])
        expect((await reopened(store, id)).halted).toEqual(
          resumes ? undefined : expect.objectContaining({ reason }),
        );
      expect((await verifyStore(store)).flatMap((report) => report.warnings ?? [])).toEqual([]);
      await expectWhole(store);
    }
  });
});

describe('a forged halt is found', () => {
  test.each(haltCases)('$name', async ({ make, faults }) => {
    const found = (await verifyStore(await make())).flatMap((report) => report.fault ?? []);
    expect(found.map(({ trajectory_id, seq, code }) => `${trajectory_id} ${seq} ${code}`)).toEqual(
      faults,
    );
  });
});

describe('a stored halt', () => {
  test('is in snapshots, and a fold that continues one is the same', async () => {
    const { store, trajectory } = await begun();
    await trajectory.halt(halting);
    const fold = () => foldTrajectory('t', new Replayer(store), store);
    const snapshot = snapshotOf(await fold());
    expect(JSON.parse(snapshot?.text ?? '{}').chain.halts).toMatchObject({
      own: { reason, principal: 'security' },
    });
    const { chain } = await fold();
    expect(Chain.from('t', chain.state(), () => undefined as never).halted).toEqual(chain.halted);
    expect(chain.copy().halted).toEqual(chain.halted);
  });

  test('keeps a branch from starting at it, but not before it', async () => {
    const { store, assize, trajectory } = await begun();
    const before = trajectory.head;
    await trajectory.halt(halting);
    const at = trajectory.head;
    await trajectory.resume(resuming);
    expect(await codeOf(assize.branch('t', at, { note: 'b' }))).toBe('halted');
    for (const [trajectoryId, entry] of [['b1', before] as const, ['b2', trajectory.head] as const])
      expect(
        (await assize.branch('t', entry, { note: 'b', trajectoryId, writs: [worker] })).halted,
      ).toBeUndefined();
    await expectWhole(store);
  });

  test('is named by its writ and its id', async () => {
    const { store, trajectory } = await begun();
    await trajectory.halt(halting);
    const entry = (await payloads(store, 't')).at(-1) as CommitPayload;
    expect(entry.writ_id).toBe(writId(office));
    expect(trajectory.halted?.id).toBe(trajectory.head);
    expect(keysOf(1).publicKey).not.toBe('');
    expect(await codeOf(trajectory.propose(pay(1, granted)))).toBe('halted');
  });
});
