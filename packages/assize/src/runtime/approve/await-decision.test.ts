import { getEventListeners } from 'node:events';
import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test, vi } from 'vitest';
import { hashText } from '#canon';
import type { LedgerStore } from '#ledger';
import type { Clock } from '#oracle';
import { granted, task } from '../../../../../tests/support/ledger/delegations.ts';
import { deskOf, FaultyStore, payloads } from '../../../../../tests/support/ledger/desk.ts';
import {
  codeOf,
  doctor,
  pendingOf,
  severalOf,
} from '../../../../../tests/support/ledger/multi-approval.ts';
import {
  HandClock,
  intent,
  runtimeOver,
  START,
  writFor,
} from '../../../../../tests/support/ledger/runtime.ts';
import type { AssizeOptions } from '../options.ts';
import type { FinalRuling } from '../records/ruling.ts';
import type { Trajectory } from '../trajectory.ts';
import { POLL_MS } from '../writer/await-options.ts';
import { WakeSignal } from '../writer/listeners/signal.ts';

const worker = writFor('agent');
const desk = deskOf();
const two = severalOf(2);
const MINUTE = 60_000;

/** A pause that lasts until the test ends it. */
class HandPause {
  readonly asked: [from: number, to: number][] = [];
  readonly #open = new Set<() => void>();

  readonly pause = (from: number, to: number, signal?: AbortSignal): Promise<void> => {
    this.asked.push([from, to]);
    return new Promise((resolve) => {
      const over = (): void => {
        this.#open.delete(over);
        resolve();
      };
      this.#open.add(over);
      signal?.addEventListener('abort', over);
    });
  };

  get resting(): number {
    return this.#open.size;
  }

  pass(): void {
    for (const over of [...this.#open]) over();
  }
}

interface Process {
  readonly trajectory: Trajectory;
  readonly pauses: HandPause;
}

async function processOver(
  store: LedgerStore,
  clock: Clock,
  options: Partial<AssizeOptions> = {},
): Promise<Process> {
  const pauses = new HandPause();
  const assize = runtimeOver(store, [desk, two], {
    ...options,
    ports: { clock, pause: pauses.pause, ...options.ports },
    approvals: { timeoutMs: 10 * MINUTE, ...options.approvals },
  });
  const there = await assize.trajectories();
  const trajectory =
    there.length > 0
      ? await assize.open('t')
      : await assize.create(two, { trajectoryId: 't', writs: [worker] });
  return { trajectory, pauses };
}

async function begun(options: Partial<AssizeOptions> = {}) {
  const store = new FaultyStore(new MemoryStore());
  const clock = new HandClock();
  return { store, clock, ...(await processOver(store, clock, options)) };
}

const ask = (trajectory: Trajectory): Promise<string> =>
  pendingOf(trajectory.propose(intent('ask', { amount: 5 }, worker, { idempotencyKey: 'k' })));

/** Resolves when everything that needs no time has run. */
const quiet = (): Promise<void> =>
  new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

/** The current result of a promise, if any. */
function watched(promise: Promise<FinalRuling>): { now: FinalRuling | Error | undefined } {
  const seen: { now: FinalRuling | Error | undefined } = { now: undefined };
  promise.then(
    (ruling) => (seen.now = ruling),
    (error) => (seen.now = error),
  );
  return seen;
}

describe('awaitDecision', () => {
  test('returns the commit of this process without polling the clock', async () => {
    const { trajectory, pauses } = await begun();
    const first = await ask(trajectory);
    const seen = watched(trajectory.approvals.awaitDecision(first));
    await quiet();
    const second = await pendingOf(trajectory.approvals.approve(first, doctor('a')));
    await quiet();
    expect(seen.now).toBeUndefined();
    const ruling = await trajectory.approvals.approve(second, doctor('b'));
    await quiet();
    expect(seen.now).toEqual(ruling);
    expect(pauses.resting).toBe(0);
  });

  test('returns the rejection, or records the expiry when due and returns it', async () => {
    const { trajectory } = await begun();
    const id = await ask(trajectory);
    const seen = watched(trajectory.approvals.awaitDecision(id));
    const ruling = await trajectory.approvals.reject(id, doctor('a', { reason: 'no' }) as never);
    await quiet();
    expect(seen.now).toEqual(ruling);

    const other = await begun();
    const waits = await ask(other.trajectory);
    const expiring = watched(other.trajectory.approvals.awaitDecision(waits));
    await quiet();
    expect(other.pauses.asked.at(-1)).toEqual([...POLL_MS]);
    other.clock.forward(10 * MINUTE - 100);
    other.pauses.pass();
    await quiet();
    expect(other.pauses.asked.at(-1)).toEqual([100, 100]);
    other.clock.forward(100);
    other.pauses.pass();
    await quiet();
    expect(expiring.now).toMatchObject({ ruling: 'rejected', reason: 'expired' });
    expect((await payloads(other.store, 't')).at(-1)).toMatchObject({
      resolves: waits,
      reason: 'expired',
    });
  });

  test('holds no more after a thousand polls than after one, and none at the end', async () => {
    const rests = vi.spyOn(WakeSignal.prototype, 'wait');
    const stop = new AbortController();
    const most = { resting: 0, listening: 0 };
    let looks = 0;
    const pause = async (): Promise<void> => {
      const wakers = rests.mock.contexts.at(-1) as WakeSignal;
      most.resting = Math.max(most.resting, wakers.size);
      most.listening = Math.max(most.listening, getEventListeners(stop.signal, 'abort').length);
      if (++looks === 1_000) stop.abort(new Error('long enough'));
    };
    const { trajectory } = await begun({ ports: { pause } });
    await expect(
      trajectory.approvals.awaitDecision(await ask(trajectory), { signal: stop.signal }),
    ).rejects.toThrow('long enough');
    expect({ looks, ...most }).toEqual({ looks: 1_000, resting: 1, listening: 1 });
    const wakers = rests.mock.contexts.at(-1) as WakeSignal;
    expect([wakers.size, getEventListeners(stop.signal, 'abort').length]).toEqual([0, 0]);
    rests.mockRestore();
  });

  test('returns the decision of another process after the next poll', async () => {
    const { store, clock, trajectory, pauses } = await begun();
    const first = await ask(trajectory);
    const seen = watched(trajectory.approvals.awaitDecision(first));
    const other = await processOver(store, clock);
    const second = await pendingOf(other.trajectory.approvals.approve(first, doctor('a')));
    const ruling = await other.trajectory.approvals.approve(second, doctor('b'));
    await quiet();
    expect(seen.now).toBeUndefined();
    // One poll, and then a pause: nothing is read in between.
    expect(pauses.resting).toBe(1);
    pauses.pass();
    await quiet();
    expect(seen.now).toEqual(ruling);
  });

  test('immediately returns an earlier decision, also in a new process', async () => {
    const { store, clock, trajectory } = await begun();
    const first = await ask(trajectory);
    const second = await pendingOf(trajectory.approvals.approve(first, doctor('a')));
    const ruling = await trajectory.approvals.approve(second, doctor('b'));
    for (const { trajectory: one, pauses } of [
      { trajectory, pauses: new HandPause() },
      await processOver(store, clock),
    ]) {
      expect(await one.approvals.awaitDecision(first)).toEqual(ruling);
      expect(await one.approvals.awaitDecision(second)).toEqual(ruling);
      expect(pauses.asked).toEqual([]);
    }
  });

  test('many wait for one, and each is answered', async () => {
    const { trajectory } = await begun();
    const first = await ask(trajectory);
    const all = Array.from({ length: 50 }, () => trajectory.approvals.awaitDecision(first));
    const second = await pendingOf(trajectory.approvals.approve(first, doctor('a')));
    all.push(trajectory.approvals.awaitDecision(second));
    const ruling = await trajectory.approvals.approve(second, doctor('b'));
    expect(await Promise.all(all)).toEqual(all.map(() => ruling));
  });

  test('stops on its signal, before or during the wait, and leaves no timer', async () => {
    const { trajectory, pauses } = await begun();
    const id = await ask(trajectory);
    const reason = new Error('enough');
    await expect(
      trajectory.approvals.awaitDecision(id, { signal: AbortSignal.abort(reason) }),
    ).rejects.toBe(reason);
    const controller = new AbortController();
    const waiting = trajectory.approvals.awaitDecision(id, { signal: controller.signal });
    await quiet();
    expect(pauses.resting).toBe(1);
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    expect(pauses.resting).toBe(0);
    expect(trajectory.approvals.pending()).toHaveLength(1);
  });

  test('stops at the time it is given', async () => {
    const { trajectory, clock, pauses } = await begun();
    const id = await ask(trajectory);
    const until = '2026-03-23T09:00:00.050000Z';
    expect(
      await codeOf(trajectory, () => trajectory.approvals.awaitDecision(id, { until: START })),
    ).toBe('still_pending');
    const waiting = watched(trajectory.approvals.awaitDecision(id, { until }));
    await quiet();
    expect(pauses.asked.at(-1)).toEqual([50, 50]);
    clock.forward(50);
    pauses.pass();
    await quiet();
    expect(waiting.now).toMatchObject({
      code: 'still_pending',
      evidence: { id, until },
      retryable: true,
    });
  });

  test('of an id that never was pending is refused, for any value', async () => {
    const { store, trajectory } = await begun();
    const id = await ask(trajectory);
    const root = (await store.entries('t'))[0]?.id;
    for (const none of [hashText('none'), root, '', 't', undefined, null, {}, id.toUpperCase()]) {
      expect(
        await codeOf(trajectory, () => trajectory.approvals.awaitDecision(none as string)),
      ).toBe('not_found');
      expect(await codeOf(trajectory, () => trajectory.approvals.statusOf(none as string))).toBe(
        'not_found',
      );
    }
  });

  test('reports a proposal that a final answer made void', async () => {
    const store = new MemoryStore();
    const assize = runtimeOver(store, [desk], { ports: { pause: new HandPause().pause } });
    const parent = await assize.create(desk, { trajectoryId: 't', writs: [granted] });
    const child = await parent.delegations.delegate(task({ childTrajectoryId: 'c' }));
    const writ = child.delegations.origin?.writ as never;
    const id = await pendingOf(child.propose(intent('ask', { amount: 1 }, writ)));
    const waiting = watched(child.approvals.awaitDecision(id));
    await quiet();
    await child.delegations.answer();
    await quiet();
    expect(waiting.now).toMatchObject({ code: 'concluded' });
    expect(await child.approvals.statusOf(id)).toEqual({ status: 'void', answer: child.head });
    const again = await runtimeOver(store, [desk]).open('c');
    expect(await again.approvals.statusOf(id)).toEqual({ status: 'void', answer: child.head });
  });
});

describe('statusOf', () => {
  test('follows the approvals of several people, and gives a frozen copy', async () => {
    const { trajectory } = await begun();
    const first = await ask(trajectory);
    const open = await trajectory.approvals.statusOf(first);
    expect(open).toMatchObject({
      status: 'pending',
      id: first,
      payload: { kind: 'pending_approval' },
    });
    expect(() => Object.assign((open as { payload: object }).payload, { channel: 'none' })).toThrow(
      TypeError,
    );
    expect(await trajectory.approvals.statusOf(first)).toMatchObject({
      payload: { channel: 'md' },
    });
    const second = await pendingOf(trajectory.approvals.approve(first, doctor('a')));
    expect(await trajectory.approvals.statusOf(first)).toMatchObject({
      status: 'pending',
      id: second,
    });
    const ruling = await trajectory.approvals.approve(second, doctor('b'));
    for (const id of [first, second])
      expect(await trajectory.approvals.statusOf(id)).toEqual({ status: 'resolved', ruling });
  });

  test('reflects durable entries: a lost approval has resolved nothing', async () => {
    const { store, trajectory } = await begun();
    const first = await ask(trajectory);
    const answer = Promise.withResolvers<void>();
    store.commits = 0;
    store.plan = new Map([[1, 'unknown, lost']]);
    store.before = () => answer.promise;
    const approving = trajectory.approvals.approve(first, doctor('a')).catch((error) => error);
    const asked = trajectory.approvals.statusOf(first);
    answer.resolve();
    expect(await approving).toMatchObject({ code: 'commit_unknown' });
    expect(await asked).toMatchObject({ status: 'pending', id: first });
  });

  test('reads one entry for each step, however long the ledger is', async () => {
    const below = new MemoryStore();
    const { trajectory } = await processOver(below, new HandClock());
    const ids: string[] = [];
    for (let n = 0; n < 30; n++) {
      const id = await pendingOf(trajectory.propose(intent('ask', { amount: 1 }, worker)));
      ids.push(id);
      await trajectory.approvals.reject(id, doctor('a', { reason: 'no' }) as never);
    }
    const read: unknown[] = [];
    const entries = below.entries.bind(below);
    below.entries = (name, options) => {
      read.push(options);
      return entries(name, options);
    };
    for (const id of ids)
      expect(await trajectory.approvals.statusOf(id)).toMatchObject({ status: 'resolved' });
    expect(read).toEqual(ids.map((_, n) => ({ from: 2 * n + 2, limit: 1 })));
  });
});
