import { describe, expect, test } from 'vitest';
import { generateKeys, hashText } from '#canon';
import { type ActionSpec, type Domain, KernelError } from '#kernel';
import {
  deskOf,
  FaultyStore,
  payloads,
  soundState,
} from '../../../../../tests/support/ledger/desk.ts';
import {
  HandClock,
  intent,
  operator,
  runtimeOver,
  START,
  writFor,
} from '../../../../../tests/support/ledger/runtime.ts';
import type { RuntimeError } from '../errors.ts';
import type { AssizeOptions } from '../options.ts';
import type { Ruling } from '../records/ruling.ts';
import type { Trajectory } from '../trajectory.ts';

const worker = writFor('agent');
const doctorsOwn = writFor('dr-own');
const careful = writFor('careful', { require_approval: ['add', 'pay'] });
const world = deskOf();
const footprint = deskOf('footprint');
const DOCTOR = { principal: 'dr-who', method: 'test' };
const MINUTE = 60_000;

async function begun(domain = world, options: Partial<AssizeOptions> = {}) {
  const store = new FaultyStore();
  const clock = new HandClock();
  const assize = runtimeOver(store, [domain], {
    ...options,
    ports: { clock, ...options.ports },
    approvals: { timeoutMs: 10 * MINUTE, ...options.approvals },
  });
  const trajectory = await assize.create(domain, {
    trajectoryId: 't',
    writs: [worker, doctorsOwn, careful],
  });
  return { store, clock, trajectory };
}

async function pendingOf(answer: Promise<Ruling>): Promise<string> {
  const ruling = await answer;
  if (ruling.ruling !== 'escalated') throw new Error(`it was ${JSON.stringify(ruling)}`);
  return ruling.pending;
}

const ask = (trajectory: Trajectory, amount = 5): Promise<string> =>
  pendingOf(trajectory.propose(intent('ask', { amount }, worker)));

/** The code of the thrown error, after a check that nothing was recorded. */
async function refusal(store: FaultyStore, attempt: () => Promise<Ruling>): Promise<string> {
  const before = await payloads(store, 't');
  const error = await attempt().then(
    (ruling) => new Error(`it was ${ruling.ruling}`),
    (caught: unknown) => caught as Error & { code?: string },
  );
  expect(await payloads(store, 't')).toEqual(before);
  return 'code' in error && error.code !== undefined ? error.code : String(error);
}

describe('an escalation', () => {
  test('records exactly the change that would run, and its digest', async () => {
    const { store, trajectory } = await begun();
    const id = await ask(trajectory);
    const [, pending] = await payloads(store, 't');
    expect(pending).toMatchObject({
      kind: 'pending_approval',
      channel: 'md',
      reason: 'invariant_escalated',
      invariant_id: 'ASKED_IS_APPROVED',
      detail: '5 is asked for',
      freezes: 'world',
      expires: '2026-03-23T09:10:00.000000Z',
      proposal: {
        at: START,
        action: { name: 'ask', args: { amount: 5 } },
        delta: { state: [{ op: 'replace', path: '/asked', value: 5 }] },
        approval: [
          { op: 'replace', path: '/approved', value: 5 },
          { op: 'replace', path: '/by', value: '$counselor' },
        ],
      },
    });
    expect(trajectory.approvals.pending().map((open) => open.id)).toEqual([id]);
    expect(trajectory.state()).toMatchObject({ asked: 0, approved: 0 });
  });

  test('that an invariant rejects as well is rejected', async () => {
    const { trajectory } = await begun();
    // The first failing rule decides; the escalating rule precedes the rejecting one.
    expect(await trajectory.propose(intent('ask', { amount: 200 }, worker))).toMatchObject({
      ruling: 'escalated',
    });
  });

  test('by a writ that wants an approval loses to an invariant that rejects', async () => {
    const { trajectory } = await begun();
    expect(await trajectory.propose(intent('add', { by: 11 }, careful))).toMatchObject({
      ruling: 'rejected',
      invariantId: 'TEN_AT_MOST',
    });
    const held = await trajectory.propose(intent('add', { by: 1 }, careful));
    expect(held).toMatchObject({
      ruling: 'escalated',
      reason: 'writ_requires_approval',
      channel: 'any',
    });
  });
});

describe('an approval', () => {
  test('commits the proposal with its mark, the counselor, the vector, once', async () => {
    const { store, clock, trajectory } = await begun();
    const id = await ask(trajectory);
    clock.forward(MINUTE);
    const shown = trajectory.approvals.pending()[0]?.payload.digest as string;
    expect(
      await trajectory.approvals.approve(id, { ...DOCTOR, digest: shown, reason: 'it is due' }),
    ).toMatchObject({
      ruling: 'committed',
    });
    expect((await payloads(store, 't'))[2]).toMatchObject({
      kind: 'commit',
      at: '2026-03-23T09:01:00.000000Z',
      resolves: id,
      counselor: { principal: 'dr-who', as: 'md', method: 'test', reason: 'it is due' },
      detection_vector: [
        { invariant_id: 'TEN_AT_MOST', result: 'pass' },
        { invariant_id: 'ASKED_IS_APPROVED', result: 'pass' },
        { invariant_id: 'NEVER_OVER_100', result: 'pass' },
      ],
    });
    expect(JSON.parse(await soundState(store, 't'))).toMatchObject({
      asked: 5,
      approved: 5,
      by: 'dr-who',
    });
    expect(await refusal(store, () => trajectory.approvals.approve(id, DOCTOR))).toBe(
      'not_pending',
    );
    await expect(
      trajectory.approvals.approve({ pending: id } as never, DOCTOR),
    ).rejects.toMatchObject({
      code: 'not_pending',
      message: expect.stringMatching(/ Pass ruling\.pending, not the ruling\.$/),
    });
    expect(
      await refusal(store, () => trajectory.approvals.reject(id, { ...DOCTOR, reason: 'r' })),
    ).toBe('not_pending');
  });

  test('of a resolved proposal reports its result, principal, time and entry', async () => {
    const { store, clock, trajectory } = await begun();
    const ended = async (decide: (id: string) => Promise<unknown>): Promise<string> => {
      const id = await ask(trajectory);
      await decide(id);
      const [row] = await store.entries('t', { from: trajectory.length - 1 });
      const by = row?.id as string;
      for (const open of [
        trajectory,
        await runtimeOver(store, [world], { ports: { clock } }).open('t'),
      ]) {
        const error = await open.approvals
          .approve(id, DOCTOR)
          .catch((caught: unknown) => caught as RuntimeError);
        expect(error).toMatchObject({ code: 'not_pending', evidence: { id, by } });
        expect((error as RuntimeError).message).toContain(`${clock.at}, in ${by}.`);
        if (open === trajectory) continue;
        return (error as RuntimeError).message.replace(/^.* no longer pending: |, at .*$/g, '');
      }
      return '';
    };
    expect(await ended((id) => trajectory.approvals.approve(id, DOCTOR))).toBe(
      'it was approved by dr-who',
    );
    expect(await ended((id) => trajectory.approvals.reject(id, { ...DOCTOR, reason: 'no' }))).toBe(
      'it was rejected by dr-who',
    );
    clock.forward(MINUTE);
    const late = async (id: string): Promise<void> => {
      clock.forward(10 * MINUTE);
      await trajectory.approvals.approve(id, DOCTOR);
    };
    expect(await ended(late)).toBe('it has expired');
    await expect(trajectory.approvals.approve('f'.repeat(64), DOCTOR)).rejects.toThrow(
      /resolved earlier, or never submitted/,
    );
  });

  test('by an unauthorised principal is refused, and stays open for others', async () => {
    const { store, trajectory } = await begun();
    const id = await ask(trajectory);
    for (const principal of ['agent', 'nobody', 'clerk-1', 'md', 'constructor']) {
      for (const way of ['approve', 'reject'] as const) {
        const attempt = (): Promise<Ruling> =>
          trajectory.approvals[way](id, { principal, method: 'test', reason: 'r' });
        expect(await refusal(store, attempt), principal).toBe('unauthorised_counselor');
      }
    }
    expect(await trajectory.approvals.approve(id, DOCTOR)).toMatchObject({ ruling: 'committed' });
  });

  test('is never given by the requester, even if the requester is a counselor', async () => {
    const { store, trajectory } = await begun();
    const id = await pendingOf(trajectory.propose(intent('ask', { amount: 1 }, doctorsOwn)));
    expect(
      await refusal(store, () =>
        trajectory.approvals.approve(id, { principal: 'dr-own', method: 'test' }),
      ),
    ).toBe('unauthorised_counselor');
    expect(
      await refusal(store, () =>
        trajectory.approvals.reject(id, { principal: 'dr-own', method: 'test', reason: 'r' }),
      ),
    ).toBe('unauthorised_counselor');
    expect(await trajectory.approvals.approve(id, DOCTOR)).toMatchObject({ ruling: 'committed' });
  });

  test('after a rejection finds nothing', async () => {
    const { store, trajectory } = await begun();
    const id = await ask(trajectory);
    expect(await trajectory.approvals.reject(id, { ...DOCTOR, reason: 'no' })).toMatchObject({
      ruling: 'rejected',
      reason: 'counselor_rejected',
      detail: 'no',
      invariantId: 'ASKED_IS_APPROVED',
    });
    expect(await refusal(store, () => trajectory.approvals.approve(id, DOCTOR))).toBe(
      'not_pending',
    );
    expect(JSON.parse(await soundState(store, 't'))).toMatchObject({ asked: 0 });
  });

  test('of another digest, or of nothing, is refused', async () => {
    const { store, trajectory } = await begun();
    const id = await ask(trajectory);
    for (const digest of [hashText('other'), '', trajectory.head]) {
      expect(
        await refusal(store, () => trajectory.approvals.approve(id, { ...DOCTOR, digest })),
      ).toBe('digest_mismatch');
      expect(
        await refusal(store, () =>
          trajectory.approvals.reject(id, { ...DOCTOR, reason: 'r', digest }),
        ),
      ).toBe('digest_mismatch');
    }
    for (const none of [hashText('none'), 't', '', undefined, null, {}, '__proto__']) {
      expect(await refusal(store, () => trajectory.approvals.approve(none as string, DOCTOR))).toBe(
        'not_pending',
      );
    }
  });

  test('is taken until the last microsecond, and not at its expiry', async () => {
    for (const [ms, ruling] of [
      [10 * MINUTE - 1, 'committed'],
      [10 * MINUTE, 'rejected'],
      [11 * MINUTE, 'rejected'],
    ] as const) {
      const { store, clock, trajectory } = await begun();
      const id = await ask(trajectory);
      clock.forward(ms);
      expect(await trajectory.approvals.approve(id, DOCTOR)).toMatchObject({ ruling });
      if (ruling === 'rejected') {
        const entry = (await payloads(store, 't'))[2];
        expect(entry).toMatchObject({ kind: 'rejection', reason: 'expired', resolves: id });
        expect(entry).not.toHaveProperty('counselor');
        expect(JSON.parse(await soundState(store, 't'))).toMatchObject({ asked: 0 });
      }
      await soundState(store, 't');
      expect(await refusal(store, () => trajectory.approvals.approve(id, DOCTOR))).toBe(
        'not_pending',
      );
    }
  });

  test('with an invalid string is refused: its entry would never verify', async () => {
    const { store, trajectory } = await begun();
    const id = await ask(trajectory);
    const bad: unknown[] = [
      undefined,
      null,
      'dr-who',
      {},
      { principal: 'dr-who' },
      { principal: 'dr-who', method: 7 },
      { principal: 7, method: 'test' },
      { principal: ['dr-who'], method: 'test' },
      { ...DOCTOR, reason: 7 },
      { ...DOCTOR, reason: null },
    ];
    for (const input of bad) {
      expect(
        await refusal(store, () => trajectory.approvals.approve(id, input as never)),
        JSON.stringify(input),
      ).toBe('bad_intent');
      expect(
        await refusal(store, () => trajectory.approvals.reject(id, input as never)),
        JSON.stringify(input),
      ).toBe('bad_intent');
    }
    expect(await refusal(store, () => trajectory.approvals.reject(id, DOCTOR as never))).toBe(
      'bad_intent',
    );
    for (const text of ['\ud800', 'x'.repeat(2_000_000)]) {
      expect(
        await refusal(store, () => trajectory.approvals.approve(id, { ...DOCTOR, reason: text })),
      ).toMatch(/not_json|too_large/);
      expect(
        await refusal(store, () => trajectory.approvals.reject(id, { ...DOCTOR, reason: text })),
      ).toMatch(/not_json|too_large/);
    }
    expect(trajectory.state()).toMatchObject({ asked: 0, approved: 0, by: '' });
    expect(await trajectory.approvals.approve(id, DOCTOR)).toMatchObject({ ruling: 'committed' });
    await soundState(store, 't');
  });

  test('when the writ has expired meanwhile is refused; a rejection is taken', async () => {
    const short = writFor('short', { expires: '2026-03-23T09:05:00.000000Z' });
    const { store, clock, trajectory } = await begun();
    const id = await pendingOf(trajectory.propose(intent('ask', { amount: 1 }, short)));
    clock.forward(5 * MINUTE);
    expect(await refusal(store, () => trajectory.approvals.approve(id, DOCTOR))).toBe(
      'changed_since',
    );
    await expect(trajectory.approvals.approve(id, DOCTOR)).rejects.toThrow(
      /^The proposal cannot be approved any more: The writ expired at \S+; it is [^.]+\.\d+Z\. Reject it/,
    );
    expect(await trajectory.approvals.reject(id, { ...DOCTOR, reason: 'too late' })).toMatchObject({
      ruling: 'rejected',
    });
  });

  test('by a domain of equal hash but other cost is refused on any balance', async () => {
    const till = writFor('agent', {
      trajectory: 't',
      budget: { usd: 10 },
      require_approval: ['pay'],
      nonce: 'till',
    });
    const { pay } = footprint.actions as Record<string, ActionSpec>;
    for (const usd of [0, 1, 9]) {
      const { store, trajectory } = await begun(footprint);
      const [first, second] = await Promise.all(
        [8, 8].map((each) => pendingOf(trajectory.propose(intent('pay', { usd: each }, till)))),
      );
      await trajectory.approvals.approve(first as string, DOCTOR);
      const other = {
        ...footprint,
        actions: { ...footprint.actions, pay: { ...pay, cost: () => ({ usd }) } },
      };
      const again = await runtimeOver(store, [other as Domain]).open('t');
      expect(await refusal(store, () => again.approvals.approve(second as string, DOCTOR))).toBe(
        'changed_since',
      );
      // Nor is anything in memory.
      expect([again.length, again.approvals.pending().length]).toEqual([4, 1]);
    }
  });

  test('without its root’s key reports it, and stays open for that key’s holder', async () => {
    const { store, trajectory } = await begun();
    const id = await ask(trajectory);
    const stranger = generateKeys(new Uint8Array(32).fill(9)).publicKey;
    const elsewhere = await runtimeOver(store, [world], { anchors: [stranger] }).open('t');
    expect(
      await refusal(store, () =>
        elsewhere.approvals.approve(id, { ...DOCTOR, principal: 'nobody' }),
      ),
    ).toBe('unauthorised_counselor');
    expect(await refusal(store, () => elsewhere.approvals.approve(id, DOCTOR))).toBe('bad_writ');
    await expect(elsewhere.approvals.approve(id, DOCTOR)).rejects.toMatchObject({
      message: expect.not.stringContaining('eject'),
      evidence: { code: 'unknown_anchor', issuer: operator.publicKey },
    });
    expect(await trajectory.approvals.approve(id, DOCTOR)).toMatchObject({ ruling: 'committed' });
    await soundState(store, 't');
  });

  test('of two racing counselors gives exactly one ruling', async () => {
    for (const ways of [
      ['approve', 'approve'],
      ['approve', 'reject'],
      ['reject', 'approve'],
    ] as const) {
      const { store, trajectory } = await begun();
      const id = await ask(trajectory);
      const settled = await Promise.allSettled(
        ways.map((way, i) =>
          trajectory.approvals[way](id, { principal: `dr-${i}`, method: 'test', reason: 'r' }),
        ),
      );
      expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(await payloads(store, 't')).toHaveLength(3);
      await soundState(store, 't');
    }
  });

  test('that is lost in flight resolves nothing, also for a concurrent decision', async () => {
    for (const way of ['approve', 'reject'] as const)
      for (const fault of ['unknown, lost', 'thrown, lost', 'none'] as const) {
        const { store, trajectory } = await begun();
        const id = await ask(trajectory);
        const disk = Promise.withResolvers<void>();
        const sent = Promise.withResolvers<void>();
        store.commits = 0;
        store.plan = new Map([[1, fault]]);
        store.before = () => {
          sent.resolve();
          return disk.promise;
        };
        const first = trajectory.approvals.approve(id, DOCTOR).catch((error) => error);
        await sent.promise;
        const second = trajectory.approvals[way](id, {
          principal: 'dr-no',
          method: 'test',
          reason: 'r',
        }).catch((error) => error);
        await new Promise((resolve) => setImmediate(resolve));
        disk.resolve();
        const isLost = fault.endsWith('lost');
        expect(await first).toMatchObject(isLost ? expect.any(Error) : { ruling: 'committed' });
        if (isLost)
          expect(await second).toMatchObject({
            ruling: way === 'approve' ? 'committed' : 'rejected',
          });
        else
          expect(await second).toMatchObject({
            code: 'not_pending',
            message: expect.stringContaining('it was approved by dr-who'),
          });
        const decided = (await payloads(store, 't')).slice(2);
        expect(decided).toMatchObject([
          { resolves: id, counselor: { principal: isLost ? 'dr-no' : 'dr-who' } },
        ]);
      }
  });

  test('is given after the trajectory was opened again, also of blobs', async () => {
    const { store, trajectory } = await begun();
    const value = { $blob: 'a'.repeat(64), text: 'x'.repeat(40_000) };
    const held = writFor('held', { require_approval: ['keep'] });
    const observations = [
      { name: 'seen', value: { $erased: 'it is not' } },
      { name: 'large', value: 'y'.repeat(30_000) },
    ];
    const id = await pendingOf(
      trajectory.propose(intent('keep', { value }, held, { observations })),
    );
    const again = await runtimeOver(store, [world]).open('t');
    expect(
      await again.approvals.approve(id, { principal: 'clerk-1', method: 'test' }),
    ).toMatchObject({
      ruling: 'committed',
    });
    expect(JSON.parse(await soundState(store, 't')).data).toEqual(
      observations.map((seen) => seen.value),
    );
  });
});

describe('a replacement', () => {
  test('takes the place of the proposal’s change', async () => {
    const { store, trajectory } = await begun();
    const id = await ask(trajectory);
    const replacement = [
      { op: 'replace', path: '/asked', value: 3 },
      { op: 'replace', path: '/approved', value: 3 },
      { op: 'replace', path: '/n', value: 7 },
    ] as const;
    expect(await trajectory.approvals.approve(id, { ...DOCTOR, replacement })).toMatchObject({
      ruling: 'committed',
    });
    expect(JSON.parse(await soundState(store, 't'))).toMatchObject({
      asked: 3,
      approved: 3,
      n: 7,
      by: '',
    });
  });

  test('that does not pass needs an override, and the vector shows it', async () => {
    const { store, trajectory } = await begun();
    const id = await ask(trajectory);
    const replacement = [{ op: 'replace', path: '/n', value: 11 }] as const;
    expect(
      await refusal(store, () => trajectory.approvals.approve(id, { ...DOCTOR, replacement })),
    ).toBe('override_needed');
    expect(trajectory.state()).toMatchObject({ n: 0 });
    expect(
      await trajectory.approvals.approve(id, { ...DOCTOR, replacement, override: true }),
    ).toMatchObject({
      ruling: 'committed',
    });
    expect((await payloads(store, 't'))[2]).toMatchObject({
      counselor: { override: true },
      detection_vector: [{ invariant_id: 'TEN_AT_MOST', result: 'reject' }, {}, {}],
    });
    // A failing rule is checked on every proposal until it passes again, also after a new opening.
    const again = await runtimeOver(store, [world]).open('t');
    for (const open of [trajectory, again]) {
      expect(await open.propose(intent('keep', { value: 1 }, worker))).toMatchObject({
        ruling: 'rejected',
        invariantId: 'TEN_AT_MOST',
      });
    }
    expect(await again.propose(intent('add', { by: -1 }, worker))).toMatchObject({
      ruling: 'committed',
    });
  });

  test('an override that is not needed is not recorded as one', async () => {
    const { store, trajectory } = await begun();
    const id = await ask(trajectory);
    await trajectory.approvals.approve(id, { ...DOCTOR, override: true });
    expect((await payloads(store, 't'))[2]).not.toHaveProperty('counselor.override');
  });

  test('of an invalid form is refused and changes nothing', async () => {
    const { store, trajectory } = await begun();
    const id = await ask(trajectory);
    const before = trajectory.state();
    const bad: unknown[] = [
      [{ op: 'replace', path: '/n', value: 'text' }],
      [
        { op: 'replace', path: '/n', value: 1 },
        { op: 'replace', path: '/none', value: 1 },
      ],
      [{ op: 'add', path: '/extra', value: 1 }],
      [{ op: 'remove', path: '/n' }],
      [{ op: 'replace', path: '', value: {} }],
      [{ op: 'move', from: '/n', path: '/asked' }],
      [{ op: 'replace', path: '/n', value: undefined }],
      [{ op: 'replace', path: '/n', value: 1n }],
      [{ op: 'replace', path: '/by', value: '\ud800' }],
      [{ op: 'add', path: '/__proto__/polluted', value: 1 }],
      [{ op: 'add', path: '/boxes/__proto__/polluted', value: 1 }],
      [{ op: 'replace', path: 'n', value: 1 }],
      [null],
      [7],
      7,
      {},
    ];
    for (const replacement of bad) {
      expect(
        await refusal(store, () =>
          trajectory.approvals.approve(id, {
            ...DOCTOR,
            override: true,
            replacement: replacement as never,
          }),
        ),
        String(JSON.stringify(replacement, (_k, v) => (typeof v === 'bigint' ? 'big' : v))),
      ).toBe('invalid_state');
      expect(trajectory.state()).toEqual(before);
    }
    expect(({} as { polluted?: 1 }).polluted).toBeUndefined();
    expect(await trajectory.approvals.approve(id, DOCTOR)).toMatchObject({ ruling: 'committed' });
  });

  test('under a footprint freeze stays inside the frozen paths', async () => {
    const { store, trajectory } = await begun(footprint);
    const id = await ask(trajectory);
    const outside = [{ op: 'replace', path: '/n', value: 1 }] as const;
    expect(
      await refusal(store, () =>
        trajectory.approvals.approve(id, { ...DOCTOR, replacement: outside, override: true }),
      ),
    ).toBe('invalid_state');
    const inside = [{ op: 'replace', path: '/by', value: 'dr-who' }] as const;
    expect(
      await trajectory.approvals.approve(id, { ...DOCTOR, replacement: inside }),
    ).toMatchObject({
      ruling: 'committed',
    });
  });
});

describe('a freeze', () => {
  test('of the whole state refuses every proposal without an entry', async () => {
    const { store, trajectory } = await begun();
    const by = await ask(trajectory);
    const before = await payloads(store, 't');
    for (const input of [
      intent('add', { by: 1 }, worker),
      intent('ask', { amount: 1 }, worker),
      intent('none', {}, worker),
      intent('add', { by: 'wrong' }, worker),
      intent('add', { by: 1 }, worker, { principal: 'another' }),
      intent('add', { by: 1 }, worker, { idempotencyKey: 'k' }),
    ]) {
      expect(await trajectory.propose(input)).toMatchObject({ ruling: 'frozen', by });
    }
    expect(await payloads(store, 't')).toEqual(before);
    await trajectory.approvals.approve(by, DOCTOR);
    // The key was not used up by a call that recorded nothing.
    expect(
      await trajectory.propose(intent('add', { by: 1 }, worker, { idempotencyKey: 'k' })),
    ).toMatchObject({
      ruling: 'committed',
    });
  });

  test('of a footprint covers overlaps; other proposals and the approval proceed', async () => {
    const { store, trajectory } = await begun(footprint);
    const by = await ask(trajectory);
    expect(await trajectory.propose(intent('ask', { amount: 1 }, worker))).toMatchObject({
      ruling: 'frozen',
      by,
    });
    expect(await trajectory.propose(intent('add', { by: 1 }, worker))).toMatchObject({
      ruling: 'committed',
    });
    expect(await trajectory.propose(intent('none', {}, worker))).toMatchObject({
      ruling: 'rejected',
      reason: 'unknown_tool',
    });
    const second = await pendingOf(trajectory.propose(intent('add', { by: 1 }, careful)));
    expect(await trajectory.propose(intent('add', { by: 1 }, worker))).toMatchObject({
      ruling: 'frozen',
      by: second,
    });
    expect(trajectory.approvals.pending().map(({ id }) => id)).toEqual([by, second]);
    expect(
      await trajectory.approvals.approve(second, { principal: 'clerk-1', method: 'test' }),
    ).toMatchObject({
      ruling: 'committed',
    });
    expect(await trajectory.approvals.approve(by, DOCTOR)).toMatchObject({ ruling: 'committed' });
    expect(JSON.parse(await soundState(store, 't'))).toMatchObject({ n: 2, asked: 5, approved: 5 });
  });

  test.each([world, footprint])(
    'an approval that would run another change is refused, also reopened',
    async (domain) => {
      // A domain with another meaning of an action, under the same declaration.
      const store = new FaultyStore();
      const trajectory = await runtimeOver(store, [domain]).create(domain, {
        trajectoryId: 't',
        writs: [worker],
      });
      const id = await ask(trajectory);
      const { ask: honest } = domain.actions;
      const apply = (state: { asked: number }): void => {
        state.asked = 99;
      };
      const other = { ...domain, actions: { ...domain.actions, ask: { ...honest, apply } } };
      const again = await runtimeOver(store, [other as typeof world]).open('t');
      const error = await again.approvals.approve(id, DOCTOR).catch((caught) => caught);
      expect(error).toBeInstanceOf(KernelError);
      expect(error).toMatchObject({ code: 'changed_since' });
      expect(again.state()).toMatchObject({ asked: 0 });
      expect(await payloads(store, 't')).toHaveLength(2);
    },
  );
});

test.each([
  ['override', { override: 'yes' }, 'Pass true or false'],
  ['digest', { digest: undefined }, 'would bind nothing'],
])('an approval with a wrong %s is refused, and stays pending', async (_, wrong, text) => {
  const { store, trajectory } = await begun();
  const id = await ask(trajectory);
  const approving = () => trajectory.approvals.approve(id, { ...DOCTOR, ...wrong } as never);
  expect(await refusal(store, approving)).toBe('bad_intent');
  await expect(approving()).rejects.toThrow(text);
  expect(await trajectory.approvals.approve(id, DOCTOR)).toMatchObject({ ruling: 'committed' });
});
