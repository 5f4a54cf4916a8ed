import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { createOracle, seededRandom } from '#oracle';
import { openStore } from '#stores';
import { cases } from '../../../../../tests/support/cases.ts';
import {
  allEntries,
  deskOf,
  FaultyStore,
  soundState,
} from '../../../../../tests/support/ledger/desk.ts';
import {
  HandClock,
  intent,
  runtimeOver,
  START,
  writFor,
} from '../../../../../tests/support/ledger/runtime.ts';
import type { ProposalInput } from '../records/intent.ts';
import type { Ruling } from '../records/ruling.ts';
import type { Trajectory } from '../trajectory.ts';

const worker = writFor('agent');
const other = writFor('other');
const desk = deskOf();
const folder = mkdtempSync(join(tmpdir(), 'assize-idempotency-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function begun(
  store = new FaultyStore(),
): Promise<{ store: FaultyStore; trajectory: Trajectory }> {
  const trajectory = await runtimeOver(store, [desk]).create(desk, {
    trajectoryId: 't',
    writs: [worker, other],
  });
  return { store, trajectory };
}

const keyed = (
  by: number,
  idempotencyKey = 'k',
  rest: Partial<ProposalInput> = {},
): ProposalInput => intent('add', { by }, worker, { idempotencyKey, ...rest });

function idOf(ruling: Ruling): string {
  return ruling.ruling === 'frozen' ? 'frozen' : ruling.entry.id;
}

const codeOf = (answer: Promise<unknown>): Promise<string> =>
  answer.then(
    () => 'an answer',
    (error) => error.code,
  );

describe('the same key and intent', () => {
  const intents: [string, ProposalInput, string][] = [
    ['committed', keyed(1), 'committed'],
    ['rejected by an invariant', keyed(99), 'rejected'],
    ['of an unknown tool', intent('none', {}, worker, { idempotencyKey: 'k' }), 'rejected'],
    ['that throws', intent('fail', {}, worker, { idempotencyKey: 'k' }), 'rejected'],
    ['escalated', intent('ask', { amount: 5 }, worker, { idempotencyKey: 'k' }), 'escalated'],
  ];
  test.each(intents)(
    '%s: one entry, the same answer, concurrently and later',
    async (_what, input, ruling) => {
      const { store, trajectory } = await begun();
      const atOnce = await Promise.all(Array.from({ length: 5 }, () => trajectory.propose(input)));
      for (const answer of atOnce) expect(answer).toMatchObject({ ruling });
      const later = ruling === 'escalated' ? [] : [await trajectory.propose(input)];
      expect(new Set([...atOnce, ...later].map(idOf)).size).toBe(1);
      expect(await allEntries(store, 't')).toHaveLength(2);
      const again = await runtimeOver(store, [desk]).open('t');
      if (ruling === 'escalated') {
        const id = trajectory.approvals.pending()[0]?.id as string;
        await again.approvals.approve(id, { principal: 'dr-who', method: 'test' });
        // The final outcome is returned: a repeated call must get the commit, and not wait forever.
        expect(await again.propose(input)).toMatchObject({
          ruling: 'committed',
          entry: { seq: 2 },
        });
      } else expect(await again.propose(input)).toEqual(atOnce[0]);
    },
  );

  test('with an observation name no longer allowed: the ruling is kept', async () => {
    const store = new MemoryStore();
    const clock = new HandClock();
    const runtime = () => runtimeOver(store, [desk], { oracle: store, ports: { clock } });
    const trajectory = await runtime().create(desk, { trajectoryId: 't', writs: [worker] });
    const elsewhere = await runtime().open('t');
    const { value, oracle_key } = await createOracle({ store, clock, mode: 'record' }).consult({
      scope: { kind: 'call', trajectory: 't', branch: null, agent: 'a', ordinal: 0 },
      request: 'r',
      call: () => 'yes',
    });
    const input = keyed(1, 'k', { observations: [{ name: 'ticket#1', value, oracle_key }] });
    const turn = { at: START, random: () => seededRandom('turn') };
    const before = await trajectory.withTurn(turn, () => trajectory.propose(input));
    expect(before).toMatchObject({ ruling: 'committed' });
    // A process that does not know it yet asks the store before it refuses.
    for (const at of [elsewhere, trajectory]) expect(await at.propose(input)).toEqual(before);
    const byValue = keyed(1, 'k2', { observations: [{ name: 'ticket#1', value }] });
    for (const at of [elsewhere, trajectory]) {
      for (const other of [
        { ...input, idempotencyKey: 'k2' },
        { ...input, idempotencyKey: undefined },
        byValue,
      ])
        expect(await codeOf(at.propose(other))).toBe('bad_intent');
      expect(await codeOf(at.withTurn(turn, () => at.propose(byValue)))).toBe('bad_intent');
    }
    expect(await allEntries(store, 't')).toHaveLength(2);
  });

  test('after many other entries, and when the ruling is on disk only', async () => {
    const store = await openStore(`sqlite:${join(folder, 'a.db')}`);
    const first = await runtimeOver(store, [desk]).create(desk, {
      trajectoryId: 't',
      writs: [worker],
    });
    const answer = await first.propose(keyed(1));
    for (let i = 0; i < 30; i++) await first.propose(intent('keep', { value: i }, worker));
    await store.close();
    const opened = await openStore(`sqlite:${join(folder, 'a.db')}`);
    const again = await runtimeOver(opened, [desk]).open('t');
    expect(await again.propose(keyed(1))).toEqual(answer);
    expect(again.length).toBe(32);
    await opened.close();
  });

  test('args that are the same value in another order are the same intent', async () => {
    const { trajectory } = await begun();
    const first = intent('keep', { value: { a: 1, b: 2 } }, worker, { idempotencyKey: 'k' });
    const second = intent('keep', { value: { b: 2, a: 1 } }, worker, { idempotencyKey: 'k' });
    expect(idOf(await trajectory.propose(first))).toBe(idOf(await trajectory.propose(second)));
  });
});

test.each(['approve', 'reject', 'expire'] as const)(
  'a repeat while its resolution is being written (%s) adds no entry',
  async (way) => {
    for (let turns = 0; turns < 24; turns++) {
      const [store, clock] = [new FaultyStore(), new HandClock()];
      const assize = runtimeOver(store, [desk], {
        ports: { clock },
        approvals: { timeoutMs: 1_000 },
      });
      const trajectory = await assize.create(desk, { trajectoryId: 't', writs: [worker] });
      const ask = (): Promise<Ruling> =>
        trajectory.propose(intent('ask', { amount: 5 }, worker, { idempotencyKey: 'k' }));
      await ask();
      const id = trajectory.approvals.pending()[0]?.id as string;
      const by = { principal: 'dr-who', method: 'test', reason: 'so be it' };
      if (way === 'expire') clock.forward(2_000);
      const resolved =
        way === 'expire'
          ? trajectory.propose(keyed(1, 'other'))
          : trajectory.approvals[way](id, by);
      for (let i = 0; i < turns; i++) await Promise.resolve();
      const again = await ask();
      await resolved;
      expect(trajectory.approvals.pending()).toEqual([]);
      // It may have been answered before it was resolved.
      expect(['escalated', way === 'approve' ? 'committed' : 'rejected']).toContain(again.ruling);
      expect(await allEntries(store, 't')).toHaveLength(way === 'expire' ? 4 : 3);
    }
  },
);

describe('the same key and another intent', () => {
  const others: [string, ProposalInput][] = [
    ['other arguments', keyed(2)],
    ['another action', intent('keep', { value: 1 }, worker, { idempotencyKey: 'k' })],
    ['another role', keyed(1, 'k', { role: 'asker' })],
    ['an observation more', keyed(1, 'k', { observations: [{ name: 'seen', value: 1 }] })],
    [
      'another writ for the same principal',
      keyed(1, 'k', { writ: writFor('agent', { nonce: 'second' }) }),
    ],
  ];
  test.each(others)('%s: an error, and nothing is recorded', async (_what, second) => {
    const { store, trajectory } = await begun();
    const first = await trajectory.propose(keyed(1));
    const entry = first.ruling === 'committed' ? first.entry.id : '';
    await expect(trajectory.propose(second)).rejects.toMatchObject({
      code: 'idempotency_conflict',
      message: `The idempotency key k was used for another intent: entry ${entry}, t seq 1. Nothing was done. Use a new key only for a different request.`,
      evidence: { entry, trajectory_id: 't', seq: 1 },
    });
    expect(await allEntries(store, 't')).toHaveLength(2);
    expect(await trajectory.propose(keyed(1))).toMatchObject({ ruling: 'committed' });
  });

  test('concurrently: one is adjudicated, the other gets a conflict', async () => {
    const { store, trajectory } = await begun();
    const codes = await Promise.all([
      codeOf(trajectory.propose(keyed(1))),
      codeOf(trajectory.propose(keyed(2))),
    ]);
    expect(codes).toEqual(['an answer', 'idempotency_conflict']);
    expect(await allEntries(store, 't')).toHaveLength(2);
  });

  test('concurrently with a repetition: the repetition gets its ruling', async () => {
    const { trajectory } = await begun();
    const first = await trajectory.propose(keyed(1));
    const [conflict, again] = await Promise.all([
      codeOf(trajectory.propose(keyed(2))),
      trajectory.propose(keyed(1)),
    ]);
    expect(conflict).toBe('idempotency_conflict');
    expect(again).toEqual(first);
  });

  test('of another principal is another key', async () => {
    const { trajectory } = await begun();
    const one = await trajectory.propose(keyed(1));
    const two = await trajectory.propose(keyed(2, 'k', { writ: other }));
    expect(
      one.ruling === 'committed' && two.ruling === 'committed' && one.entry.id !== two.entry.id,
    ).toBe(true);
  });

  test('is known to every runtime, also for rejected, pending and resolved ones', async () => {
    const { store, trajectory } = await begun();
    const asked = intent('ask', { amount: 5 }, worker, { idempotencyKey: 'asked' });
    const first = [keyed(1), keyed(99, 'refused'), asked];
    for (const input of first) await trajectory.propose(input);
    const others = [keyed(2), keyed(98, 'refused'), { ...asked, args: { amount: 6 } }];
    const expectKnown = async (): Promise<void> => {
      const again = await runtimeOver(store, [desk]).open('t');
      for (const input of others)
        expect(await codeOf(again.propose(input))).toBe('idempotency_conflict');
    };
    const before = await runtimeOver(store, [desk]).open('t');
    expect(await codeOf(before.propose(keyed(2)))).toBe('idempotency_conflict');
    await trajectory.approvals.approve(trajectory.approvals.pending()[0]!.id, {
      principal: 'dr-who',
      method: 'test',
    });
    await expectKnown();
    expect(await allEntries(store, 't')).toHaveLength(5);
    for (const { payload } of (await allEntries(store, 't')).slice(1))
      expect(payload).not.toMatch(/"(k|refused)"/);
  });

  test('concurrently in two runtimes: one is adjudicated, the other conflicts', async () => {
    const { store, trajectory } = await begun();
    const again = await runtimeOver(store, [desk]).open('t');
    const codes = await Promise.all([
      codeOf(trajectory.propose(keyed(1))),
      codeOf(again.propose(keyed(2))),
    ]);
    expect(codes.sort()).toEqual(['an answer', 'idempotency_conflict']);
    expect(await allEntries(store, 't')).toHaveLength(2);
  });
});

test('without a key every proposal is its own', async () => {
  const { store, trajectory } = await begun();
  await Promise.all([1, 2, 3].map(() => trajectory.propose(intent('add', { by: 1 }, worker))));
  expect(await soundState(store, 't')).toContain('"n":3');
});

test('an invalid key is refused', async () => {
  const { store, trajectory } = await begun();
  for (const key of ['', 7, null, {}, [], true]) {
    expect(await codeOf(trajectory.propose(keyed(1, key as string)))).toBe('bad_intent');
  }
  expect(await codeOf(trajectory.propose(keyed(1, '\ud800')))).toBe('not_json');
  expect(await allEntries(store, 't')).toHaveLength(1);
});

test('any repeats anywhere at any time give one entry per key (property)', async () => {
  const call = fc.record({
    key: fc.nat(4),
    where: fc.nat(1),
    wait: fc.boolean(),
    reopen: fc.boolean(),
  });
  const run = fc.asyncProperty(fc.array(call, { minLength: 2, maxLength: 20 }), async (calls) => {
    const { store, trajectory } = await begun();
    const places = [trajectory, await runtimeOver(store, [desk]).open('t')];
    const answers = new Map<number, Promise<Ruling>[]>();
    for (const { key, where, wait, reopen } of calls) {
      if (reopen) places[where] = await runtimeOver(store, [desk]).open('t');
      // Some of them are refused: five times three is more than ten.
      const answer = (places[where] as Trajectory).propose(keyed(3, `key-${key}`));
      answers.set(key, [...(answers.get(key) ?? []), answer]);
      if (wait) await answer;
    }
    for (const given of answers.values()) {
      const rulings = await Promise.all(given);
      for (const ruling of rulings) expect(ruling).toEqual(rulings[0]);
    }
    expect(await allEntries(store, 't')).toHaveLength(answers.size + 1);
    await soundState(store, 't');
  });
  await fc.assert(run, { numRuns: cases(200) });
});
