import { MemoryStore } from '@assize/testing/memory';
import { attenuate, type Policy, ruleTable, writId } from 'assize/internal/authority';
import { canonicalize, generateKeys } from 'assize/internal/canon';
import { defineDomain } from 'assize/internal/kernel';
import { type CommitPayload, entryRow, type RejectionPayload } from 'assize/internal/ledger';
import type { ProposalInput, Ruling, Trajectory } from 'assize/internal/runtime';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { deskOf, payloads } from '../../../../../tests/support/ledger/desk.ts';
import {
  HandClock,
  intent,
  runtimeOver,
  writFor,
} from '../../../../../tests/support/ledger/runtime.ts';
import { type DeepReplayOptions, deepReplay } from './index.ts';

const worker = writFor('agent');
const desk = deskOf('footprint');
const DOCTOR = { principal: 'dr-who', method: 'test' };
const ALIKE = { same: true, preserved: true, differences: [], reworded: 0 };

async function begun(options: Parameters<typeof runtimeOver>[2] = {}) {
  const store = new MemoryStore();
  const clock = new HandClock();
  const assize = runtimeOver(store, [desk], { ...options, ports: { clock, ...options.ports } });
  const trajectory = await assize.create(desk, { trajectoryId: 't', writs: [worker] });
  return { store, clock, trajectory };
}

function replayed(store: MemoryStore, options: Partial<DeepReplayOptions> = {}) {
  return deepReplay(store, 't', { domains: [desk], ...options });
}

function pendingOf(ruling: Ruling): string {
  if (ruling.ruling !== 'escalated') throw new Error(`it was ${JSON.stringify(ruling)}`);
  return ruling.pending;
}

describe('a refusal', () => {
  const narrow = writFor('narrow', { actions: ['add'], scopes: ['role:asker'] });
  const poor = writFor('poor', { trajectory: 't', budget: { usd: 3 } });
  const late = writFor('late', { expires: '2026-02-01T00:00:00.000000Z' });
  const denying = ruleTable({
    id: 'desk',
    rules: [{ id: 'no-asking', effect: 'deny', actions: ['ask'], principals: ['agent'] }],
    otherwise: 'allow',
  });

  /**
   * The proposal, the reason, and why it is taken as recorded; undefined if it is fully run again.
   */
  const table: [string, (t: Trajectory) => Promise<Ruling>, string, string | undefined][] = [
    [
      'of an unknown tool',
      (t) => t.propose(intent('steal', {}, worker)),
      'unknown_tool',
      undefined,
    ],
    [
      'of arguments',
      (t) => t.propose(intent('add', { by: 'one' }, worker)),
      'type_mismatch',
      undefined,
    ],
    [
      'of a role',
      (t) => t.propose(intent('add', { by: 1 }, worker, { role: 'boss' })),
      'type_mismatch',
      undefined,
    ],
    [
      'of a role’s parameters',
      (t) => t.propose(intent('put', { paper: 'p' }, worker, { role: 'filer' })),
      'type_mismatch',
      undefined,
    ],
    [
      'for what a role does not do',
      (t) => t.propose(intent('add', { by: 1 }, worker, { role: 'asker' })),
      'invalid_authority',
      undefined,
    ],
    [
      'by an action that throws',
      (t) => t.propose(intent('fail', {}, worker)),
      'precondition_failed',
      undefined,
    ],
    [
      'by an invariant',
      (t) => t.propose(intent('add', { by: 11 }, worker)),
      'invariant_rejected',
      undefined,
    ],
    [
      'by a writ’s actions',
      (t) => t.propose(intent('ask', { amount: 1 }, narrow)),
      'invalid_authority',
      'writ',
    ],
    [
      'by a writ’s scopes',
      (t) => t.propose(intent('add', { by: 1 }, narrow)),
      'invalid_authority',
      'writ',
    ],
    [
      'by a writ’s time',
      (t) => t.propose(intent('add', { by: 1 }, late)),
      'invalid_authority',
      'writ',
    ],
    [
      'of somebody else’s writ',
      (t) => t.propose(intent('add', { by: 1 }, worker, { principal: 'thief' })),
      'invalid_authority',
      'writ',
    ],
    [
      'by a budget',
      (t) => t.propose(intent('pay', { usd: 4 }, poor)),
      'budget_exhausted',
      'budget',
    ],
    [
      'by a policy',
      (t) => t.propose(intent('ask', { amount: 1 }, worker)),
      'policy_denied',
      'policy',
    ],
  ];

  test.each(table)('%s is run again up to the refusal', async (_, propose, reason, taken) => {
    const { store, trajectory } = await begun({ policy: denying });
    expect(await propose(trajectory)).toMatchObject({ ruling: 'rejected', reason });
    const report = await replayed(store);
    expect(report).toMatchObject({ ...ALIKE, entries: 2, compared: 2 });
    // A policy’s permission is taken as recorded as well, if it was asked.
    const asked = 'policy' in ((await payloads(store, 't'))[1] as object);
    expect(asked || taken !== 'policy').toBe(true);
    const others = taken === undefined || taken === 'policy' ? {} : { [taken]: 1 };
    expect(report.taken_as_recorded).toEqual({ ...others, ...(asked ? { policy: 1 } : {}) });
    // A given policy is asked again.
    const again = await replayed(store, { policy: denying });
    expect(again).toMatchObject({ ...ALIKE, taken_as_recorded: others });
  });

  test('of effects or of a footprint differs from a writ’s refusal by its detail', async () => {
    const { store, trajectory } = await begun();
    const words = [
      'The writ does not grant the action add.',
      'add may not change /boxes',
      'add: /boxes is outside the footprint',
      'add: /n is read-only here',
      'the role worker does not perform filing, to which add belongs',
    ];
    await trajectory.propose(
      intent('add', { by: 1 }, writFor('late', { expires: '2026-02-01T00:00:00.000000Z' })),
    );
    const rows = await store.entries('t');
    const [root, refused] = await payloads(store, 't');
    for (const [i, detail] of words.entries()) {
      const written = new MemoryStore();
      const row = entryRow({ ...(refused as RejectionPayload), detail });
      await written.commit({ entries: [entryRow(root as never), row], blobs: [] });
      expect(row.parent).toBe(rows[0]?.id);
      const { same, taken_as_recorded, differences } = await replayed(written);
      expect({ detail, same, taken_as_recorded }).toEqual({
        detail,
        same: i === 0,
        taken_as_recorded: i === 0 ? { writ: 1 } : {},
      });
      if (i > 0)
        expect(differences).toMatchObject([
          { seq: 1, what: 'ruling', now: { ruling: 'committed' } },
        ]);
    }
  });
});

describe('a policy', () => {
  const asking = (principal: string): Policy =>
    ruleTable({
      id: 'desk',
      rules: [
        {
          id: 'look',
          effect: 'needs_approval',
          actions: ['add'],
          principals: [principal],
          because: 'look at it',
        },
      ],
      otherwise: 'allow',
    });

  test('that demands approval is taken as recorded, with any invariant result', async () => {
    const { store, trajectory } = await begun({ policy: asking('agent') });
    await trajectory.approvals.approve(
      pendingOf(await trajectory.propose(intent('add', { by: 3 }, worker))),
      DOCTOR,
    );
    expect(await trajectory.propose(intent('add', { by: 30 }, worker))).toMatchObject({
      invariantId: 'TEN_AT_MOST',
    });
    const ask = ruleTable({
      id: 'x',
      rules: [{ id: 'r', effect: 'needs_approval', actions: ['ask'] }],
      otherwise: 'allow',
    });
    const open = await runtimeOver(store, [desk], { policy: ask }).open('t');
    const both = await open.propose(intent('ask', { amount: 3 }, worker));
    expect(both).toMatchObject({ reason: 'invariant_escalated', channel: 'md' });
    await open.approvals.approve(pendingOf(both), DOCTOR);
    expect(await replayed(store)).toMatchObject({
      ...ALIKE,
      compared: 6,
      taken_as_recorded: { policy: 3 },
    });
    // Of two policies the given one is asked again.
    expect(await replayed(store, { policy: ask })).toMatchObject({
      ...ALIKE,
      taken_as_recorded: { policy: 2 },
    });
    expect(await replayed(store, { policy: asking('agent') })).toMatchObject({
      ...ALIKE,
      taken_as_recorded: { policy: 1 },
    });
  });

  test('that answers differently under one digest is named; another is not asked', async () => {
    const { store, trajectory } = await begun({ policy: asking('nobody') });
    await trajectory.propose(intent('add', { by: 3 }, worker));
    const { digest } = asking('nobody');
    const lying: Policy = {
      id: 'p',
      digest,
      evaluate: () => ({ decision: 'deny', rule: 'r', reasons: [], errors: [] }),
    };
    const report = await replayed(store, { policy: lying });
    expect(report.differences).toMatchObject([
      {
        seq: 1,
        what: 'policy',
        recorded: { digest, decision: 'allow' },
        now: { digest, decision: 'deny', rule: 'r' },
      },
    ]);
    const other = await replayed(store, { policy: { ...lying, digest: '0'.repeat(64) } });
    expect(other).toMatchObject({ ...ALIKE, taken_as_recorded: { policy: 1 } });
  });

  test('is queried about the writ holder, at the time of the proposal', async () => {
    const queries: unknown[] = [];
    const { digest } = asking('agent');
    const policy: Policy = {
      id: 'p',
      digest,
      evaluate: (query) => {
        queries.push(query);
        return { decision: 'allow', reasons: [], errors: [] };
      },
    };
    const { store, clock, trajectory } = await begun({ policy });
    clock.forward(5_000);
    const large = 'x'.repeat(20_000);
    await trajectory.propose(
      intent('pay', { usd: 0 }, worker, { observations: [{ name: 'large', value: large }] }),
    );
    await trajectory.propose({
      action: 'put',
      role: { name: 'filer', params: { box: 'a' } },
      args: { paper: large },
      writ: worker,
    });
    const first = queries.splice(0);
    expect(first).toHaveLength(2);
    expect(await replayed(store, { policy })).toMatchObject({ ...ALIKE, taken_as_recorded: {} });
    expect(queries).toEqual(first);
  });
});

describe('a writ', () => {
  const careful = writFor('careful', { require_approval: ['add', 'pay'] });

  test('that wants an approval is read for it, alone and beside an invariant', async () => {
    const asking = writFor('asking', { require_approval: ['ask'] });
    const { store, trajectory } = await begun();
    await trajectory.approvals.approve(
      pendingOf(await trajectory.propose(intent('add', { by: 3 }, careful))),
      DOCTOR,
    );
    const both = await trajectory.propose(intent('ask', { amount: 3 }, asking));
    expect(both).toMatchObject({
      reason: 'invariant_escalated',
      detail: expect.stringContaining('; the writ requires'),
    });
    await trajectory.approvals.approve(pendingOf(both), DOCTOR);
    expect(await replayed(store)).toMatchObject({ ...ALIKE, compared: 5, taken_as_recorded: {} });
  });

  test('that demands approval is also recognized by a failing mark', async () => {
    const strange = defineDomain({
      name: 'strange',
      version: '1',
      state: z.object({ n: z.number() }),
      initial: { n: 0 },
      processes: { all: { writes: ['/n'] } },
      roles: { worker: { processes: ['all'] } },
      actions: {
        add: {
          process: 'all',
          args: z.object({}),
          apply: (state) => {
            state.n++;
          },
          onApprove: () => {
            throw new Error('there is no form for it');
          },
        },
      },
      invariants: [],
    });
    const store = new MemoryStore();
    const t = await runtimeOver(store, [strange]).create(strange, {
      trajectoryId: 't',
      writs: [careful],
    });
    const refused = {
      ruling: 'rejected',
      reason: 'precondition_failed',
      detail: 'onApprove of add: there is no form for it',
    };
    expect(await t.propose(intent('add', {}, careful))).toMatchObject(refused);
    await t.propose(intent('add', {}, worker));
    expect(await replayed(store, { domains: [strange] })).toMatchObject({ ...ALIKE, compared: 3 });
  });

  test('that can’t be read because the store fails ends it with that failure', async () => {
    const child = writFor('late', { expires: '2026-02-01T00:00:00.000000Z' });
    const { store, trajectory } = await begun();
    await trajectory.propose(intent('add', { by: 1 }, child));
    expect(await replayed(store)).toMatchObject(ALIKE);
    const failing = new MemoryStore();
    await failing.commit({ entries: await store.entries('t'), blobs: [] });
    failing.blob = async () => {
      throw new Error('the disk is gone');
    };
    await expect(replayed(failing)).rejects.toThrow('the disk is gone');
  });

  test('of a child in a proposal is found with its ancestors, barred to resolve', async () => {
    const holder = generateKeys(new Uint8Array(32).fill(41));
    const held = writFor(holder.publicKey, { require_approval: ['add'] });
    const child = attenuate(held, { subject: 'child', nonce: 'c' }, holder.privateKey);
    const { store, trajectory } = await begun();
    const input: ProposalInput['writ'] = { writ: child, chain: [held] };
    const id = pendingOf(
      await trajectory.propose(intent('add', { by: 3 }, worker, { writ: input })),
    );
    await trajectory.approvals.approve(id, DOCTOR);
    const other = await trajectory.propose(intent('add', { by: 3 }, worker, { writ: input }));
    await trajectory.approvals.reject(pendingOf(other), { ...DOCTOR, reason: 'no' });
    expect(await replayed(store)).toMatchObject({
      ...ALIKE,
      taken_as_recorded: { counselor_rejected: 1 },
    });
    // Had its grantor decided, the report would name that.
    const [, , approval] = await payloads(store, 't');
    const forged = {
      ...(approval as CommitPayload),
      counselor: { principal: 'child', as: 'clerk', method: 'test' },
    };
    const rows = [...(await store.entries('t', { limit: 2 })), entryRow(forged as never)];
    const written = new MemoryStore();
    const blobs = [child, held].map((writ) => ({ hash: writId(writ), text: canonicalize(writ) }));
    await written.commit({ entries: rows, blobs });
    expect((await replayed(written)).differences).toMatchObject([
      {
        seq: 2,
        what: 'counselor',
        recorded: { as: 'clerk' },
        now: expect.stringMatching(/child requested this/),
      },
    ]);
  });
});

describe('a person', () => {
  test('that rejects, or misses the deadline, is taken as recorded', async () => {
    const { store, clock, trajectory } = await begun({ approvals: { timeoutMs: 60_000 } });
    await trajectory.approvals.reject(
      pendingOf(await trajectory.propose(intent('ask', { amount: 3 }, worker))),
      {
        ...DOCTOR,
        reason: 'no',
      },
    );
    pendingOf(await trajectory.propose(intent('ask', { amount: 3 }, worker)));
    clock.forward(60_000);
    await trajectory.propose(intent('add', { by: 1 }, worker));
    expect(await replayed(store)).toMatchObject({
      ...ALIKE,
      entries: 6,
      compared: 4,
      taken_as_recorded: { counselor_rejected: 1, expired: 1 },
    });
  });

  test('that overrides leaves a violation to later entries, not a broken rule', async () => {
    const world = deskOf();
    const store = new MemoryStore();
    const t = await runtimeOver(store, [world]).create(world, {
      trajectoryId: 't',
      writs: [worker],
    });
    const over = [{ op: 'replace', path: '/n', value: 50 }] as const;
    await t.approvals.approve(pendingOf(await t.propose(intent('ask', { amount: 3 }, worker))), {
      ...DOCTOR,
      override: true,
      replacement: over,
    });
    expect(await t.propose(intent('keep', { value: 1 }, worker))).toMatchObject({
      invariantId: 'TEN_AT_MOST',
    });
    await t.propose(intent('add', { by: -45 }, worker));
    await t.propose(intent('keep', { value: 1 }, worker));
    expect(await replayed(store, { domains: [world] })).toMatchObject({
      ...ALIKE,
      broken: [],
      compared: 6,
      taken_as_recorded: { counselors_own_state: 1 },
    });
  });

  test('with a forged override or vector is detected', async () => {
    const { store, trajectory } = await begun();
    await trajectory.approvals.approve(
      pendingOf(await trajectory.propose(intent('ask', { amount: 3 }, worker))),
      DOCTOR,
    );
    const rows = await store.entries('t');
    const commit = (await payloads(store, 't'))[2] as CommitPayload;
    const vector = (commit.detection_vector ?? []).map((item) => ({
      ...item,
      result: 'reject' as const,
      detail: 'd',
    }));
    const over = { counselor: { ...commit.counselor, override: true, overridden: vector } };
    for (const [change, what] of [
      [over, 'counselor'],
      [{ ...over, detection_vector: vector }, 'vector'],
      [
        { delta: { ...commit.delta, state: [{ op: 'replace', path: '/boxes', value: 7 }] } },
        'ruling',
      ],
    ] as const) {
      const written = new MemoryStore();
      await written.commit({
        entries: [...rows.slice(0, 2), entryRow({ ...commit, ...change } as never)],
        blobs: [],
      });
      expect((await replayed(written)).differences).toMatchObject([{ seq: 2, what }]);
    }
  });
});
