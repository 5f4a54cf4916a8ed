import { MemoryStore } from '@assize/testing/memory';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { LedgerStore } from '#ledger';
import { fixedClock, systemClock } from '#oracle';
import type { Assize, AssizeOptions, RuntimeError, Trajectory } from '#runtime';
import { deskOf, payloads } from '../../../../../../tests/support/ledger/desk.ts';
import { intent, runtimeOver, writFor } from '../../../../../../tests/support/ledger/runtime.ts';

const MINUTE = 60_000;
const desk = deskOf();
const worker = writFor('worker');

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['Date', 'setTimeout', 'clearTimeout'],
    now: new Date('2026-05-01T00:00:00Z'),
  });
});
afterEach(() => void vi.useRealTimers());

function runtime(store: LedgerStore, more: Partial<AssizeOptions> = {}): Assize {
  return runtimeOver(store, [desk], {
    approvals: { timeoutMs: 10 * MINUTE },
    ...more,
    ports: { clock: systemClock, ...more.ports },
  });
}

/** Time goes on, and the work that then begins ends. */
async function later(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  for (let n = 0; n < 100; n++) await new Promise((done) => setImmediate(done));
}

async function asked(assize: Assize, trajectoryId: string): Promise<Trajectory> {
  const trajectory = await assize.create(desk, { trajectoryId, writs: [worker] });
  expect(await trajectory.propose(intent('ask', { amount: 1 }, worker))).toMatchObject({
    ruling: 'escalated',
  });
  return trajectory as unknown as Trajectory;
}

async function expiries(store: LedgerStore, trajectoryId: string): Promise<string[]> {
  const all = await payloads(store as MemoryStore, trajectoryId);
  return all
    .filter((one) => one.kind === 'rejection' && one.reason === 'expired')
    .map(({ at }) => at.slice(11, 16));
}

describe('an approval that expires on a quiet trajectory', () => {
  test('is recorded when it happens, open or released, and listeners hear', async () => {
    const store = new MemoryStore();
    const resolved: string[] = [];
    const assize = runtime(store, {
      approvals: {
        timeoutMs: 10 * MINUTE,
        onResolved: ({ trajectoryId }) => resolved.push(trajectoryId),
      },
    });
    await asked(assize, 'a');
    await later(5 * MINUTE);
    await asked(assize, 'b');
    assize.release('b');
    await later(5 * MINUTE - 10);
    expect([await expiries(store, 'a'), await expiries(store, 'b')]).toEqual([[], []]);
    await later(20);
    expect([await expiries(store, 'a'), await expiries(store, 'b'), resolved]).toEqual([
      ['00:10'],
      [],
      ['a'],
    ]);
    await later(5 * MINUTE);
    expect([await expiries(store, 'b'), resolved]).toEqual([['00:15'], ['a', 'b']]);
  });

  test('has one entry, though several runtimes wait for it', async () => {
    const store = new MemoryStore();
    await asked(runtime(store), 'a');
    for (let n = 0; n < 3; n++) await runtime(store).open('a');
    await later(30 * MINUTE);
    expect(await expiries(store, 'a')).toEqual(['00:10']);
  });

  test('is left alone by a closed runtime', async () => {
    const store = new MemoryStore();
    const assize = runtime(store);
    await asked(assize, 'a');
    await assize.close();
    await later(30 * MINUTE);
    expect(await expiries(store, 'a')).toEqual([]);
  });

  test('is left to the next proposal with a clock of the options', async () => {
    const store = new MemoryStore();
    const clock = fixedClock('2026-05-01T00:00:00.000000Z', 10 * MINUTE * 1_000);
    await asked(runtime(store, { ports: { clock } }), 'a');
    await later(30 * MINUTE);
    expect(await expiries(store, 'a')).toEqual([]);
  });

  test('is recorded in a halted trajectory after the resume', async () => {
    const store = new MemoryStore();
    const trajectory = await asked(runtime(store), 'a');
    const input = {
      reason: 'r',
      writ: writFor('boss', { actions: ['assize.halt'], scopes: ['halt:**'] }),
    };
    await trajectory.halt(input);
    await later(20 * MINUTE);
    expect(await expiries(store, 'a')).toEqual([]);
    await trajectory.resume(input);
    await later(MINUTE);
    expect(await expiries(store, 'a')).toEqual(['00:20']);
  });

  test('is recorded after a failure of the store that is reported once', async () => {
    const store = new MemoryStore();
    let isDown = false;
    const failing = new Proxy(store, {
      get: (target, name) => {
        const member = Reflect.get(target, name, target) as unknown;
        if (typeof member !== 'function') return member;
        if (name === 'commit' && isDown)
          return async () => Promise.reject(new Error('the disk is full'));
        return member.bind(target);
      },
    });
    const told: RuntimeError[] = [];
    await asked(runtime(failing, { onNotificationFailed: (error) => told.push(error) }), 'a');
    isDown = true;
    await later(12 * MINUTE);
    expect(told.map(({ code, message }) => [code, message])).toEqual([
      ['background_failed', 'An expiry in a is not recorded yet: the disk is full'],
    ]);
    isDown = false;
    await later(MINUTE);
    expect(await expiries(store, 'a')).toHaveLength(1);
  });
});
