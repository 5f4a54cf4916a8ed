/**
 * Approve once, execute once, despite a resume, replay, retry or fork, or a substitute for an
 * approval. The cases come from agent runtimes that executed unapproved actions, or executed an
 * approved action twice.
 */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { canonicalize, hashText } from '#canon';
import { type Domain, defineDomain, escalate, pass } from '#kernel';
import type { PendingPayload } from '#ledger';
import { seededRandom } from '#oracle';
import type { Assize, AssizeOptions, Ruling, Trajectory } from '#runtime';
import { DOCTOR, granted, task } from '../support/ledger/delegations.ts';
import {
  allEntries,
  deskOf,
  type Fault,
  FaultyStore,
  payloads,
  soundState,
} from '../support/ledger/desk.ts';
import { codeOf, doctor, pendingOf, severalOf } from '../support/ledger/multi-approval.ts';
import { HandClock, intent, runtimeOver, writFor } from '../support/ledger/runtime.ts';

const MINUTE = 60_000;
const worker = writFor('agent');
const careful = writFor('careful', { require_approval: ['add', 'keep'] });
const desk = deskOf();
const apart = deskOf('footprint', 'apart');
const two = severalOf(2);
const domains = [desk, apart, two];

interface Begun {
  readonly store: FaultyStore;
  readonly clock: HandClock;
  readonly assize: Assize;
  readonly trajectory: Trajectory;
  /** As another process opens it. */
  reopened(name?: string): Promise<Trajectory>;
}

async function begun(domain: Domain = desk, options: Partial<AssizeOptions> = {}): Promise<Begun> {
  const store = new FaultyStore();
  const clock = new HandClock();
  const all = domains.includes(domain as never) ? domains : [domain];
  const assize = runtimeOver(store, all, {
    ...options,
    ports: { clock, ...options.ports },
    approvals: { timeoutMs: 10 * MINUTE, ...options.approvals },
  });
  const trajectory = await assize.create(domain, { trajectoryId: 't', writs: [worker, careful] });
  const reopened = (name = 'another'): Promise<Trajectory> =>
    runtimeOver(store, all, {
      ports: { clock, random: seededRandom(name) },
      approvals: { timeoutMs: 10 * MINUTE },
    }).open('t');
  return { store, clock, assize, trajectory, reopened };
}

const asking = (amount = 5) =>
  intent('ask', { amount }, worker, { idempotencyKey: `ask ${amount}` });
const ask = (trajectory: Trajectory, amount = 5): Promise<string> =>
  pendingOf(trajectory.propose(asking(amount)));
const rejected = (reason = 'no') => doctor('a', { reason }) as never;
const stateOf = async (store: FaultyStore): Promise<any> =>
  JSON.parse(await soundState(store, 't'));
const commitsOf = async (store: FaultyStore): Promise<number> =>
  (await allEntries(store, 't')).filter(({ kind }) => kind === 'commit').length;

test('resumed twice: a repeated approval runs nothing more in any process', async () => {
  const { store, trajectory, reopened } = await begun();
  const id = await ask(trajectory);
  const stale = await reopened('stale');
  const decision = doctor('a', { digest: trajectory.approvals.pending()[0]?.payload.digest });
  const ruling = await trajectory.approvals.approve(id, decision);
  for (const one of [trajectory, stale, await reopened('fresh')]) {
    expect(await one.approvals.approve(id, decision).catch(({ code }) => code)).toBe('not_pending');
    // A resumed run proposes again: it is the same proposal, and was adjudicated.
    expect(await one.propose(asking())).toEqual(ruling);
    expect(await one.approvals.awaitDecision(id)).toEqual(ruling);
  }
  expect(await commitsOf(store)).toBe(1);
  expect(await stateOf(store)).toMatchObject({ asked: 5, approved: 5 });
});

describe('arguments that were tampered with', () => {
  test('in a value that the entry names by its hash: nothing is approved', async () => {
    const { store, trajectory, reopened } = await begun();
    const value = 'pay five '.repeat(4_000);
    const id = await pendingOf(trajectory.propose(intent('keep', { value }, careful)));
    const blob = store.below.blob.bind(store.below);
    store.blob = async (hash) => (await blob(hash))?.replaceAll('five', 'nine');
    for (const one of [trajectory, await reopened().catch((error) => error)]) {
      const code =
        one instanceof Error
          ? (one as never as { code: string }).code
          : await codeOf(one, () => one.approvals.approve(id, DOCTOR));
      expect(['invalid_ledger', 'blob_tampered']).toContain(code);
    }
    store.blob = blob;
    expect(await (await reopened()).approvals.approve(id, DOCTOR)).toMatchObject({
      ruling: 'committed',
    });
    expect(await stateOf(store)).toMatchObject({ data: value });
  });

  test('in a submitted proposal: the pending proposal is a copy', async () => {
    const { store, trajectory } = await begun();
    const args = { amount: 5 };
    const input = intent('ask', args, worker, { observations: [{ name: 'seen', value: args }] });
    const asked = trajectory.propose(input);
    args.amount = 500;
    const id = await pendingOf(asked);
    args.amount = 5_000;
    await trajectory.approvals.approve(id, doctor('a'));
    expect(await stateOf(store)).toMatchObject({ asked: 5 });
    expect((await payloads(store, 't'))[2]).toMatchObject({
      observations: [{ value: { amount: 5 } }],
    });
  });

  test('in a submitted approval: the recorded values are the checked ones', async () => {
    const { store, trajectory } = await begun();
    for (const step of ['approve', 'reject'] as const) {
      const given = { ...doctor('a'), reason: 'seen' };
      const answer = trajectory.approvals[step](
        await ask(trajectory, step === 'approve' ? 5 : 6),
        given,
      );
      Object.assign(given, { principal: 'dr-\u200bb', method: 'none', reason: 7, override: true });
      await answer;
      const { counselor, reason } = (await payloads(store, 't')).at(-1) as any;
      expect(counselor).toMatchObject({
        principal: doctor('a').principal,
        method: doctor('a').method,
      });
      expect(counselor.reason ?? reason).toBe(step === 'approve' ? 'seen' : 'counselor_rejected');
    }
  });

  test('in a value from a listener, a query or a list of pending proposals', async () => {
    const tamper = (payload: unknown): void => {
      Object.assign((payload as PendingPayload).proposal.action.args as object, { amount: 500 });
    };
    const { store, assize, trajectory } = await begun(desk, { approvals: { onPending: tamper } });
    const id = await ask(trajectory);
    // These are frozen: what one caller is shown, no other caller changes.
    for (const { payload } of trajectory.approvals.pending())
      expect(() => tamper(payload)).toThrow(TypeError);
    for await (const { payload } of assize.pending()) tamper(payload);
    const now = await trajectory.approvals.statusOf(id);
    expect(() => tamper((now as { payload: unknown }).payload)).toThrow(TypeError);
    await trajectory.approvals.approve(id, doctor('a'));
    expect(await stateOf(store)).toMatchObject({ asked: 5 });
  });
});

test('a stale approval for another call: another id, digest or trajectory', async () => {
  const { store, assize, trajectory } = await begun(apart);
  const first = await ask(trajectory);
  const second = await pendingOf(trajectory.propose(intent('add', { by: 1 }, careful)));
  const [one, other] = trajectory.approvals.pending().map(({ payload }) => payload.digest);
  const approve = (id: string, digest: string | undefined) => () =>
    trajectory.approvals.approve(id, doctor('a', { digest }));
  expect(await codeOf(trajectory, approve(first, other))).toBe('digest_mismatch');
  expect(await codeOf(trajectory, approve(second, one))).toBe('digest_mismatch');
  const elsewhere = await assize.create(apart, { trajectoryId: 'u', writs: [worker, careful] });
  expect(await codeOf(elsewhere, () => elsewhere.approvals.approve(first, doctor('a')))).toBe(
    'not_pending',
  );
  expect(await codeOf(elsewhere, () => elsewhere.approvals.statusOf(first))).toBe('not_found');
  await trajectory.approvals.approve(second, doctor('a', { digest: other }));
  // The click that was meant for the first, again: it opens nothing else.
  expect(await codeOf(trajectory, approve(second, other))).toBe('not_pending');
  expect(trajectory.approvals.pending().map(({ id }) => id)).toEqual([first]);
  expect(await stateOf(store)).toMatchObject({ n: 1, asked: 0 });
});

test('of twenty who approve one call together in three processes, one succeeds', async () => {
  const { store, trajectory, reopened } = await begun();
  const id = await ask(trajectory);
  const processes = [trajectory, await reopened('second'), await reopened('third')];
  const answers = await Promise.allSettled(
    Array.from({ length: 20 }, (_, n) =>
      (processes[n % 3] as Trajectory).approvals.approve(id, doctor(`${n}`)),
    ),
  );
  expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const answer of answers)
    if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ code: 'not_pending' });
  expect(await commitsOf(store)).toBe(1);
});

describe('denied, and then approved after all', () => {
  test('by the same person or another, here or after a restart: it stays denied', async () => {
    const { store, trajectory, reopened } = await begun();
    const id = await ask(trajectory);
    const denied = await trajectory.approvals.reject(id, rejected());
    for (const one of [trajectory, await reopened()]) {
      for (const who of ['a', 'b'])
        expect(
          await codeOf(one, () => one.approvals.approve(id, doctor(who, { override: true }))),
        ).toBe('not_pending');
      expect(await one.propose(asking())).toEqual(denied);
    }
    expect(await stateOf(store)).toMatchObject({ asked: 0 });
  });

  test('after the run has given its final answer: nothing is open any more', async () => {
    const { store, assize } = await begun();
    const parent = await assize.create(desk, { trajectoryId: 'p', writs: [] });
    expect(parent.length).toBe(1);
    const other = new FaultyStore();
    const over = runtimeOver(other, domains);
    const lead = await over.create(desk, { trajectoryId: 't', writs: [granted] });
    const child = await lead.delegations.delegate(task({ childTrajectoryId: 'c' }));
    const writ = child.delegations.origin?.writ as never;
    const waiting = await pendingOf(child.propose(intent('ask', { amount: 1 }, writ)));
    await child.delegations.answer({ finalAnswer: 'done' });
    const again = await runtimeOver(other, domains).open('c');
    for (const one of [child, again])
      expect(await codeOf(one, () => one.approvals.approve(waiting, DOCTOR))).toBe('not_pending');
    expect(await allEntries(store, 't')).toHaveLength(1);
  });
});

describe('no decision, an odd one, or one that comes too late', () => {
  test('a missing, odd or late decision leaves the proposal pending', async () => {
    const { store, trajectory } = await begun();
    const id = await ask(trajectory);
    const odd: unknown[] = [
      ...[
        undefined,
        null,
        true,
        'yes',
        1,
        [],
        {},
        { approved: true },
        { principal: null, method: 'test' },
      ],
      ...[
        { ...doctor('a'), reason: null },
        { ...doctor('a'), digest: null },
        { ...doctor('a'), digest: true },
      ],
      ...[
        { ...doctor('a'), replacement: null },
        { ...doctor('a'), replacement: 'all' },
      ],
    ];
    for (const input of odd) {
      const code = await codeOf(trajectory, () => trajectory.approvals.approve(id, input as never));
      expect(['bad_intent', 'digest_mismatch', 'invalid_state'], JSON.stringify(input)).toContain(
        code,
      );
    }
    expect(await stateOf(store)).toMatchObject({ asked: 0 });
    expect(trajectory.approvals.pending().map((open) => open.id)).toEqual([id]);
  });

  test('an override other than true does not count', async () => {
    const { trajectory } = await begun();
    const id = await ask(trajectory, 200);
    for (const override of ['true', 1, {}, null, 'false'])
      expect(
        await codeOf(trajectory, () => trajectory.approvals.approve(id, doctor('a', { override }))),
      ).toBe('bad_intent');
    expect(
      await codeOf(trajectory, () =>
        trajectory.approvals.approve(id, doctor('a', { override: false })),
      ),
    ).toBe('override_needed');
  });

  test('with a counselor check that returns a promise, text, null or an error', async () => {
    for (const said of [Promise.resolve(true), 'true', 1, null, undefined, {}]) {
      const md = (): boolean => said as never;
      const odd = { ...desk, counselors: { md, clerk: () => false } };
      const { store, trajectory } = await begun(odd as Domain);
      const id = await ask(trajectory);
      expect(await codeOf(trajectory, () => trajectory.approvals.approve(id, doctor('a')))).toBe(
        'unauthorised_counselor',
      );
      expect(await commitsOf(store)).toBe(0);
    }
  });

  test('within the time limit: rejected by the first access, also a waiting one', async () => {
    for (const look of [
      (one: Trajectory) => one.propose(intent('add', { by: 1 }, worker)),
      (one: Trajectory, id: string) => one.approvals.awaitDecision(id),
      (one: Trajectory, id: string) => one.approvals.approve(id, doctor('a')),
      (one: Trajectory, id: string) => one.approvals.reject(id, rejected()),
    ]) {
      const { store, clock, trajectory, reopened } = await begun();
      const id = await ask(trajectory);
      clock.forward(10 * MINUTE);
      await look(await reopened(), id);
      expect(await trajectory.approvals.statusOf(id)).toMatchObject({
        ruling: { ruling: 'rejected', reason: 'expired' },
      });
      expect(await stateOf(store)).toMatchObject({ asked: 0 });
    }
  });
});

test('the approver sees the arguments as rewritten by the schema and executed', async () => {
  const bank = defineDomain({
    name: 'bank',
    version: '1',
    state: z.object({ paid: z.record(z.string(), z.number()), agreed: z.number() }),
    initial: { paid: {}, agreed: 0 },
    counselors: { md: (name: string) => name.startsWith('dr-') },
    processes: { paying: { writes: ['/paid'] } },
    roles: { worker: { processes: ['paying'] } },
    actions: {
      pay: {
        process: 'paying',
        args: z.object({ to: z.string().trim().toLowerCase(), usd: z.coerce.number().default(7) }),
        apply: (state, { to, usd }) => {
          state.paid[to] = usd;
        },
      },
    },
    invariants: ({ invariant }) => [
      invariant(
        'AGREED',
        ['/paid', '/agreed'],
        ({ paid, agreed }) => (Object.keys(paid).length <= agreed ? pass : escalate('look')),
        {
          onApprove: (state) => {
            state.agreed = Object.keys(state.paid).length;
          },
        },
      ),
    ],
  });
  const { store, trajectory, reopened } = await begun(bank as Domain);
  const written = { to: '  MALLORY ', usd: '500' };
  const id = await pendingOf(trajectory.propose(intent('pay', written, worker)));
  const args = { to: 'mallory', usd: 500 };
  expect(trajectory.approvals.pending()[0]?.payload.proposal).toMatchObject({
    action: { args },
    delta: { state: [{ path: '/paid/mallory', value: 500 }] },
  });
  expect(await (await reopened()).approvals.approve(id, DOCTOR)).toMatchObject({
    ruling: 'committed',
  });
  expect((await payloads(store, 't'))[2]).toMatchObject({ action: { args } });
  expect(await stateOf(store)).toEqual({ paid: { mallory: 500 }, agreed: 1 });
});

describe('a crash', () => {
  const FAULTS: Fault[] = [
    'conflict',
    'unknown, lost',
    'unknown, written',
    'thrown, lost',
    'thrown, written',
  ];
  const steps = ['the proposal', 'the first approval', 'the second approval'];

  test.each(steps.flatMap((what, n) => FAULTS.map((fault) => [what, fault, n] as const)))(
    'at %s (%s): a process that continues from the ledger commits once',
    async (_what, fault, n) => {
      const { store, reopened } = await begun(two);
      store.commits = 0;
      store.plan = new Map([[n + 1, fault]]);
      const people = ['a', 'b', 'c', 'd', 'e', 'f'];
      let life = 0;
      // Each life does one thing and ends, whether or not it was answered.
      for (; life < 6 && (await commitsOf(store)) === 0; life++) {
        const trajectory = await reopened(`life ${life}`);
        const [open] = trajectory.approvals.pending();
        const act =
          open === undefined
            ? trajectory.propose(asking())
            : trajectory.approvals.approve(
                open.id,
                doctor(people[life] as string, { digest: open.payload.digest }),
              );
        await act.catch(() => undefined);
      }
      expect(await commitsOf(store)).toBe(1);
      expect((await allEntries(store, 't')).map(({ kind }) => kind)).toEqual([
        ...['root', 'pending_approval', 'pending_approval', 'commit'],
      ]);
      expect(await stateOf(store)).toMatchObject({ asked: 5, approved: 5 });
      const last = await reopened('last');
      expect(await last.propose(asking())).toMatchObject({ ruling: 'committed' });
      expect(last.length).toBe(4);
    },
  );
});

test('a branch after an escalation has nothing pending, needs its own approval', async () => {
  const { store, assize, trajectory } = await begun();
  await trajectory.propose(intent('add', { by: 1 }, worker));
  const from = trajectory.head;
  const id = await ask(trajectory);
  await expect(assize.branch('t', id, { note: 'from what waits' })).rejects.toMatchObject({
    code: 'not_found',
  });
  const branch = await assize.branch('t', from, {
    trajectoryId: 'b',
    note: 'what if',
    writs: [worker],
  });
  expect(branch.approvals.pending()).toEqual([]);
  expect(await codeOf(branch, () => branch.approvals.approve(id, DOCTOR))).toBe('not_pending');
  expect(await codeOf(branch, () => branch.approvals.awaitDecision(id))).toBe('not_found');
  const anew = await pendingOf(branch.propose(asking()));
  expect(anew).not.toBe(id);
  expect(await trajectory.approvals.approve(id, DOCTOR)).toMatchObject({ ruling: 'committed' });
  expect(branch.state()).toMatchObject({ n: 1, asked: 0 });
  expect(branch.approvals.pending().map((open) => open.id)).toEqual([anew]);
  await branch.approvals.reject(anew, rejected());
  // Nor does a fork after the approval run it again.
  const after = await assize.branch('t', trajectory.head, {
    trajectoryId: 'after',
    note: '',
    writs: [worker],
  });
  expect(after.state()).toMatchObject({ asked: 5 });
  expect(await codeOf(after, () => after.approvals.approve(id, DOCTOR))).toBe('not_pending');
  expect(await stateOf(store)).toMatchObject({ n: 1, asked: 5 });
});

test('concurrent siblings are adjudicated once; approval runs the pending one', async () => {
  const { store, trajectory, reopened } = await begun(apart);
  const calls = [
    intent('add', { by: 1 }, worker, { idempotencyKey: '1' }),
    asking(),
    intent('add', { by: 2 }, worker, { idempotencyKey: '2' }),
    intent('keep', { value: 'kept' }, worker, { idempotencyKey: '3' }),
  ];
  const first = await Promise.all(calls.map((call) => trajectory.propose(call)));
  expect(first.map(({ ruling }) => ruling)).toEqual([
    'committed',
    'escalated',
    'committed',
    'committed',
  ]);
  const resumed = await reopened();
  const id = await pendingOf(first[1] as Ruling);
  const approved = await resumed.approvals.approve(id, DOCTOR);
  // Resumed as a whole, as frameworks do: all calls again, here and there.
  for (const one of [resumed, trajectory]) {
    const again = await Promise.all(calls.map((call) => one.propose(call)));
    expect(again).toEqual(first.map((ruling, n) => (n === 1 ? approved : ruling)));
  }
  expect(await commitsOf(store)).toBe(4);
  expect(await stateOf(store)).toMatchObject({ n: 3, asked: 5, approved: 5, data: 'kept' });
  expect(hashText(canonicalize(resumed.state()))).toBe(hashText(await soundState(store, 't')));
});
