import { exportLines, importLines } from '@assize/audit/internal/export';
import { backtest, deepReplay } from '@assize/audit/internal/replay';
import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test } from 'vitest';
import { hashText } from '#canon';
import { EffectError } from '#effects';
import {
  type BlobRef,
  Chain,
  type CommitPayload,
  checkRow,
  entryRow,
  type Hash,
  integrateLog,
  isEffectEntry,
  Replayer,
  readRow,
  runsOf,
} from '#ledger';
import {
  type AssizeOptions,
  type PendingNotification,
  type ResolvedNotification,
  type Transaction,
  verifyStore,
} from '#runtime';
import { allEntries } from '../../../../../../tests/support/ledger/desk.ts';
import { keysOf } from '../../../../../../tests/support/ledger/rows.ts';
import {
  operatorWrit,
  runtimeOver,
  START,
  writFor,
} from '../../../../../../tests/support/ledger/runtime.ts';
import { settlementCases } from '../../../../../../tests/support/ledger/settlement-cases.ts';
import { expectEffectLogMatches } from '../../../../../../tests/support/tools/check-effect-log.ts';
import {
  type Fault,
  OutsideSink,
  Steps,
  tally,
  toolFor,
} from '../../../../../../tests/support/tools/effect-sink.ts';
import { asking } from '../../../../../../tests/support/tools/ledger-with-effects.ts';
import { type FoldOptions, foldTrajectory } from '../../writer/load/fold.ts';
import { readSnapshot, snapshotOf } from '../../writer/snapshots/snapshot.ts';
import { settlementPayload } from './effect-entries.ts';

const writ = writFor('alice');
const FOUND = { by: 'ops', writ: operatorWrit(), evidence: 'seen at the sink' };

/** The cases without a forgery. */
const MADE = settlementCases.filter(({ name }) => name.endsWith('as they are made'));

describe('a ledger that records effect outcomes', () => {
  test.each(settlementCases)('$name', async ({ make, faults }) => {
    const found = (await verifyStore(await make())).flatMap((report) => report.fault ?? []);
    expect(found.map(({ trajectory_id, seq, code }) => `${trajectory_id} ${seq} ${code}`)).toEqual(
      faults,
    );
  });

  test.each(MADE)('is the same from a snapshot at any of its entries: $name', async ({ make }) => {
    const store = await make();
    const fold = (options: FoldOptions) => foldTrajectory('t', new Replayer(store), store, options);
    const whole = snapshotOf(await fold({}));
    const rows = await allEntries(store, 't');
    expect(rows.length).toBeGreaterThan(5);
    for (const { id } of rows) {
      const snapshot = snapshotOf(await fold({ until: id }))!;
      expect(snapshotOf(await fold({ from: (await readSnapshot(snapshot, store))! }))).toEqual(
        whole,
      );
    }
  });

  test.each(MADE)(
    'is read entry by entry, with no effect entry in a run: $name',
    async ({ make }) => {
      const entries = (await allEntries(await make(), 't')).map(checkRow);
      const inRuns = runsOf(entries.slice(1)).flatMap(({ seq, count }) =>
        entries.slice(seq, seq + count),
      );
      expect(inRuns.filter(({ payload }) => isEffectEntry(payload))).toEqual([]);
    },
  );

  test('has a compensation cost only under the writ of the commit that named it', () => {
    const [head, one, other, mine, theirs] = ['head', 'one', 'other', 'mine', 'theirs'].map(
      hashText,
    ) as Hash[];
    const settle = (dear: boolean, writId: Hash) => {
      const chain = new Chain('t');
      Object.assign(chain, { head, seq: 1, at: START, lastCommit: head });
      for (const [commit, writ_id] of [
        [one, mine],
        [other, theirs],
      ] as [Hash, Hash][])
        chain.unsettled.record(commit, { writ_id, delta: { effects: [{ id: commit }] } } as never);
      const effect = { outcome: 'undone', ...(dear && { cost: { usd: 1 } }) } as const;
      const settled = [
        { commit: one!, effects: [{ id: one!, outcome: 'applied' as const }] },
        { commit: other!, effects: [{ ...effect, id: other! }] },
      ];
      const place = { trajectory_id: 't', seq: 1, parent: head!, at: START };
      const payload = settlementPayload(place, head!, writId, { settled }, []);
      chain.accept({ ...entryRow(payload, undefined), payload });
    };
    settle(false, mine!);
    expect(() => settle(true, mine!)).toThrow(/is charged to the writ of another commit/);
    expect(() => settle(true, theirs!)).toThrow(/differs from the writ of the first commit/);
  });

  test('fails verification if the effects of a commit are missing', async () => {
    const store = await settlementCases[0]!.make();
    const rows = await allEntries(store, 't');
    const [, commit] = rows.map((row) => readRow(row).payload);
    const gone = (commit as CommitPayload).delta.effects[1]!.effect as BlobRef;
    const copy = new MemoryStore();
    for (const row of rows) {
      const hashes = [...row.payload.matchAll(/"\$blob":"([0-9a-f]{64})"/g)].map(
        ([, hash]) => hash as string,
      );
      const blobs = hashes
        .filter((hash) => hash !== gone.$blob)
        .map(async (hash) => ({ hash, text: (await store.blob(hash))! }));
      await copy.commit({ entries: [row], blobs: await Promise.all(blobs) });
    }
    const [report] = await verifyStore(copy);
    expect(report?.fault).toMatchObject({ seq: 1, code: 'blob_missing' });
  });

  test('is the same after export and import, and is not judged again', async () => {
    const store = await settlementCases[0]!.make();
    const copy = new MemoryStore();
    await integrateLog(store);
    const lines: string[] = [];
    for await (const line of exportLines(store)) lines.push(line.slice(0, -1));
    await importLines(
      copy,
      (async function* () {
        yield* lines;
      })(),
    );
    expect(await allEntries(copy, 't')).toEqual(await allEntries(store, 't'));
    for (const { fault } of await verifyStore(copy)) expect(fault).toBeUndefined();
    expect(await deepReplay(copy, 't', { domains: [tally] })).toMatchObject({
      same: true,
      differences: [],
    });
    const judged = await backtest(copy, 't', { domains: [tally] });
    // The two commits, and no entries of the runtime.
    expect(judged).toMatchObject({ judged: 2, same: 2, difference_count: 0 });
  });
});

/** A runtime with one immediate and one buffered tool, at a sink with the given results. */
async function stage({
  domain = tally,
  ...options
}: Partial<AssizeOptions> & { domain?: typeof tally } = {}) {
  const store = new MemoryStore();
  const going: Record<string, Fault> = {};
  const sink = new OutsideSink('blind');
  const outside = {
    sink,
    steps: new Steps(),
    fault: (_: unknown, what: string) => going[what] ?? 'none',
  };
  const tools = [
    toolFor(outside, 'reversible', 'externalised'),
    toolFor(outside, 'irreversible', 'buffered'),
  ];
  const assize = runtimeOver(store, [domain], {
    tools,
    ...options,
    effects: { callTimeoutMs: 1_000, ...options.effects },
  });
  const trajectory = await assize.create(domain, { trajectoryId: 't', writs: [writ] });
  const transact = (body: (tx: Transaction) => Promise<unknown> | unknown, more = {}) =>
    trajectory.transaction({ writ, writes: ['test:**'], retries: 0, ...more }, body);
  const count = (tx: Transaction, args = 'order') =>
    tx.propose({ action: 'count', role: 'counter', args });
  const acts = (tx: Transaction, what = 'a') => tx.call('reversible.externalised', { what });
  const holds = (tx: Transaction, what = 'a') => tx.call('irreversible.buffered', { what });
  const kinds = async () => (await allEntries(store, 't')).map(({ kind }) => kind).slice(1);
  const rejections = async () =>
    (await allEntries(store, 't'))
      .map((row) => readRow(row).payload)
      .flatMap((payload) => (payload.kind === 'rejection' ? [payload] : []));
  const told = async () => expectEffectLogMatches(store, 't', await assize.recoverEffects());
  return {
    store,
    sink,
    going,
    assize,
    trajectory,
    transact,
    count,
    acts,
    holds,
    kinds,
    rejections,
    told,
  };
}

describe('a pending effect', () => {
  async function doubted(options: Parameters<typeof stage>[0] = {}) {
    const at = await stage(options);
    at.going['a'] = 'lose';
    await at.transact(async (tx) => {
      await at.holds(tx);
      at.count(tx);
    });
    const [open] = at.trajectory.approvals.pending();
    return { ...at, id: open!.id, open: open!.payload };
  }

  test('is listed with the effect that it is about, once, and freezes nothing', async () => {
    const { assize, id, open, trajectory, told } = await doubted();
    const listed = [];
    for await (const each of assize.pending()) listed.push(each);
    expect(listed).toMatchObject([
      { trajectoryId: 't', id, payload: { reason: 'in_doubt', channel: 'operator' } },
    ]);
    expect(open).toMatchObject({
      freezes: [],
      proposal: {
        action: { name: 'assize.settle', args: { epoch: 1, n: 0, tool: 'irreversible.buffered' } },
      },
    });
    const propose = { action: 'count', role: 'counter', args: 'order', writ } as const;
    expect(await trajectory.propose(propose)).toMatchObject({ ruling: 'committed' });
    await told();
  });

  test('cannot be approved or rejected, and the error names the right command', async () => {
    const { trajectory, id, kinds } = await doubted();
    const before = await kinds();
    const said = { principal: 'ops', method: 'test' };
    const told = {
      code: 'effect_unresolved',
      message: expect.stringContaining('assize effects resolve 1 0'),
    };
    await expect(trajectory.approvals.approve(id, said)).rejects.toMatchObject(told);
    await expect(
      trajectory.approvals.approve(id, { ...said, override: true }),
    ).rejects.toMatchObject(told);
    await expect(trajectory.approvals.reject(id, { ...said, reason: 'no' })).rejects.toMatchObject(
      told,
    );
    expect(await kinds()).toEqual(before);
  });

  test.each(['applied', 'undone', 'residue'] as const)(
    'is resolved by the decision that it is %s',
    async (as) => {
      const notices: (PendingNotification | ResolvedNotification)[] = [];
      const at = await doubted({
        approvals: {
          onPending: (notice) => notices.push(notice),
          onResolved: (notice) => notices.push(notice),
        },
      });
      const decided = at.trajectory.approvals.awaitDecision(at.id);
      await at.assize.resolveEffect({ ...FOUND, epoch: 1, n: 0, as });
      expect(at.trajectory.approvals.pending()).toEqual([]);
      const ruling = await decided;
      expect(await at.trajectory.approvals.statusOf(at.id)).toMatchObject({
        status: 'resolved',
        ruling,
      });
      const { payload } = readRow(ruling.entry);
      expect(payload).toMatchObject({
        kind: 'commit',
        resolves: at.id,
        action: { args: { decided: { as, by: 'ops' } } },
      });
      expect(JSON.stringify(payload)).not.toContain(FOUND.evidence);
      await expect(
        at.trajectory.approvals.approve(at.id, { principal: 'ops', method: 'test' }),
      ).rejects.toMatchObject({
        code: 'not_pending',
        message: expect.stringContaining('was resolved in'),
      });
      await new Promise(setImmediate);
      expect(notices.map(({ id }) => id)).toEqual([at.id, at.id]);
      await at.told();
    },
  );

  test('is not called again by a person who saw an earlier attempt', async () => {
    const at = await doubted();
    const [{ version } = { version: 0 }] = await at.assize.effects({ epoch: 1 });
    const decision = { ...FOUND, epoch: 1, n: 0, as: 'retry', confirm: true, version } as const;
    await at.assize.resolveEffect(decision);
    const [seen] = await at.assize.effects({ epoch: 1 });
    await expect(at.assize.resolveEffect(decision)).rejects.toMatchObject({ code: 'wrong_state' });
    expect(await at.assize.effects({ epoch: 1 })).toEqual([seen]);
    await at.assize.resolveEffect({ ...decision, version: seen!.version });
    await at.told();
  });

  test('is submitted again if its retry failed', async () => {
    const at = await doubted();
    await at.assize.resolveEffect({ ...FOUND, epoch: 1, n: 0, as: 'retry', confirm: true });
    const [again] = at.trajectory.approvals.pending();
    expect(again?.id).not.toBe(at.id);
    await at.told();
    at.going['a'] = 'none';
    await at.assize.resolveEffect({ ...FOUND, epoch: 1, n: 0, as: 'retry', confirm: true });
    expect(at.trajectory.approvals.pending()).toEqual([]);
    await at.told();
    expect(await at.kinds()).toEqual([
      'commit',
      ...Array(2).fill(['pending_approval', 'commit']).flat(),
      'commit',
    ]);
  });

  test('is unresolved where it failed too often', async () => {
    const at = await stage();
    at.going['a'] = 'fail_for_good';
    await at.transact(async (tx) => {
      await at.holds(tx);
      at.count(tx);
    });
    expect(at.trajectory.approvals.pending()).toMatchObject([
      { payload: { reason: 'unresolved' } },
    ]);
    await at.told();
  });

  test('is submitted if its attempt was aborted, without a commit', async () => {
    const at = await stage();
    at.going['a'] = 'lose';
    await expect(at.transact((tx) => at.acts(tx))).rejects.toMatchObject({
      code: 'outcome_unknown',
    });
    const [open] = at.trajectory.approvals.pending();
    expect(open?.payload.proposal.action.args).toEqual({
      epoch: 1,
      n: 0,
      tool: 'reversible.externalised',
    });
    await at.told();
    await at.assize.resolveEffect({ ...FOUND, epoch: 1, n: 0, as: 'applied' });
    expect(await at.kinds()).toEqual(['pending_approval', 'commit', 'pending_approval']);
    await at.assize.resolveEffect({ ...FOUND, epoch: 1, n: 0, as: 'undone' });
    expect(await at.kinds()).toEqual([
      'pending_approval',
      'commit',
      'pending_approval',
      'commit',
      'rejection',
    ]);
    await at.told();
  });

  test('is submitted as unnamed by the commit if a body continued without it', async () => {
    const at = await stage();
    at.going['a'] = 'lose';
    await at.transact(async (tx) => {
      await at.acts(tx).catch(() => undefined);
      await at.holds(tx, 'b');
      at.count(tx);
    });
    const [open] = at.trajectory.approvals.pending();
    expect(open?.payload.proposal.action.args).not.toHaveProperty('commit');
    await at.told();
    await at.assize.resolveEffect({ ...FOUND, epoch: 1, n: 0, as: 'applied' });
    await at.told();
  });

  test('continues under a frozen world, like all effect entries', async () => {
    const at = await stage({ domain: { ...asking, freeze: 'world' } as typeof asking });
    at.going['b'] = 'lose';
    const { promise, resolve } = Promise.withResolvers<void>();
    const late = at.transact(async (tx) => {
      await at.acts(tx, 'a');
      await promise;
      throw new Error('too late');
    });
    const { ruling } = await at.trajectory.transaction({ writ, writes: ['other:x'] }, (tx) =>
      at.count(tx, 'asked'),
    );
    expect(ruling.ruling).toBe('escalated');
    expect(at.trajectory.approvals.pending()[0]?.payload.freezes).toBe('world');
    resolve();
    await expect(late).rejects.toThrow('too late');
    await expect(at.transact((tx) => at.acts(tx, 'b'))).rejects.toMatchObject({
      code: 'outcome_unknown',
    });
    expect(await at.kinds()).toEqual(['pending_approval', 'rejection', 'pending_approval']);
    await at.told();
  });
});

describe('an attempt that was undone', () => {
  test.each<
    [string, string, (at: Awaited<ReturnType<typeof stage>>, tx: Transaction) => unknown, object]
  >([
    ['whose body threw', 'body_failed', () => Promise.reject(new Error('secret')), {}],
    [
      'whose body threw an error with a code',
      'stale',
      () => Promise.reject(new EffectError('stale', 'secret')),
      {},
    ],
    [
      'whose body threw a reason that is a sentence',
      'body_failed',
      () =>
        Promise.reject(
          Object.assign(new EffectError('stale', 'x'), { reason: 'Secret: it is so' }),
        ),
      {},
    ],
    ['that took too long', 'deadline', () => new Promise(() => undefined), { deadlineMs: 50 }],
    ['that said nothing to propose', 'bad_intent', () => undefined, {}],
  ])('%s has one entry that lists its effects', async (_, cause, ends, more) => {
    const at = await stage();
    const body = async (tx: Transaction): Promise<unknown> => {
      await at.acts(tx, 'a');
      await at.acts(tx, 'b');
      return ends(at, tx);
    };
    await expect(at.transact(body, more)).rejects.toThrow();
    const rejections = await at.rejections();
    expect(rejections).toMatchObject([
      { reason: 'effect_failed', detail: cause, intent: { args: { cause, epoch: 1 } } },
    ]);
    const { effects } = rejections[0]!.intent.args as { effects: unknown };
    const tool = 'reversible.externalised';
    expect(effects).toMatchObject([
      { outcome: 'undone', tool },
      { outcome: 'undone', tool },
    ]);
    expect(JSON.stringify(rejections)).not.toMatch(/secret/i);
    await at.told();
  });

  test('has one for each attempt', async () => {
    const at = await stage();
    let tries = 0;
    const body = async (tx: Transaction): Promise<void> => {
      await at.acts(tx, `${tries++}`);
      if (tries < 3) throw new EffectError('stale', 'again', { retryable: true });
      at.count(tx);
    };
    await at.transact(body, { retries: 5 });
    expect((await at.rejections()).map(({ detail }) => detail)).toEqual(['stale', 'stale']);
    await at.told();
  });

  test('is recorded by the adopting process if the ledger was not writable', async () => {
    const at = await stage();
    const { commit } = at.store;
    const body = async (tx: Transaction): Promise<void> => {
      await at.acts(tx);
      at.store.commit = (batch) =>
        batch.entries.length > 0
          ? Promise.reject(new Error('the disk is full'))
          : commit.call(at.store, batch);
      throw new Error('no');
    };
    await expect(at.transact(body)).rejects.toThrow('no');
    expect(at.sink.standing('a')).toBe(0);
    expect(await at.rejections()).toEqual([]);
    expect((await at.store.openEffects()).map(({ epoch }) => epoch)).toEqual([1]);
    await at.assize.close();
    at.store.commit = commit;
    const next = runtimeOver(at.store, [], { tools: [] });
    await expectEffectLogMatches(at.store, 't', await next.recoverEffects());
    expect(await at.rejections()).toHaveLength(1);
    await next.close();
  });

  test('that never acted has no entry, nor one with calls that did nothing', async () => {
    const at = await stage();
    at.going['a'] = 'fail_for_good';
    await expect(at.transact(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await expect(
      at.transact((tx) => at.holds(tx).then(() => Promise.reject(new Error('no')))),
    ).rejects.toThrow('no');
    await expect(at.transact((tx) => at.acts(tx))).rejects.toMatchObject({ code: 'tool_failed' });
    expect(await at.kinds()).toEqual([]);
    await at.told();
  });

  test('that was rejected has only the ruling, and is not ruled on again', async () => {
    const at = await stage();
    const { ruling } = await at.transact(async (tx) => {
      await at.acts(tx);
      at.count(tx, 'forbidden');
    });
    expect(ruling.ruling).toBe('rejected');
    expect((await at.rejections()).map(({ reason }) => reason)).toEqual(['invariant_rejected']);
    expect(at.sink.standing('a')).toBe(0);
    await at.told();
  });

  test('by an unchosen branch has no entry if its transaction is committed', async () => {
    const at = await stage();
    await at.transact(async (tx) => {
      await tx.speculate([(one) => at.acts(one, 'a'), (other) => at.holds(other, 'b')], () => 1);
      at.count(tx);
    });
    expect(at.sink.times('undo', 'a')).toBe(1);
    expect(await at.rejections()).toEqual([]);
    await at.told();
  });
});

test('effects are recorded before a final answer, and only in the log after it', async () => {
  const store = new MemoryStore();
  const holder = keysOf(5);
  const granted = writFor(holder.publicKey, { trajectory: 't', budget: { usd: 5 } });
  const sink = new OutsideSink('blind');
  let goes: Fault = 'none';
  const tool = toolFor({ sink, steps: new Steps(), fault: () => goes }, 'irreversible', 'buffered');
  const assize = runtimeOver(store, [tally], { tools: [tool] });
  const parent = await assize.create(tally, { trajectoryId: 't', writs: [granted] });
  const child = await parent.delegations.delegate({
    writ: granted,
    privateKey: holder.privateKey,
    subject: 'helper',
    task: 'count',
    domain: tally,
    childTrajectoryId: 'c',
  } as never);
  const own = child.delegations.origin!.writ;
  const transact = () =>
    child.transaction({ writ: own, writes: ['test:**'] }, async (tx) => {
      await tx.call('irreversible.buffered', { what: 'a' });
      tx.propose({ action: 'count', role: 'counter', args: 'order' });
    });
  await transact();
  goes = 'lose';
  await transact();
  await child.delegations.answer({ finalAnswer: 'done' });
  const entries = await allEntries(store, 'c');
  const of = entries.map((row) => readRow(row).payload).filter(isEffectEntry);
  expect(of.map(({ kind }) => kind).sort()).toEqual(['commit', 'pending_approval']);
  await assize.resolveEffect({ ...FOUND, epoch: 2, n: 0, as: 'applied' });
  await assize.close();
  expect(await store.openEffects()).toEqual([]);
  expect(await allEntries(store, 'c')).toEqual(entries);
  for (const { fault } of await verifyStore(store)) expect(fault).toBeUndefined();
});
