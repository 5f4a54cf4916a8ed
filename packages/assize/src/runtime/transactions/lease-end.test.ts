import { MemoryStore } from '@assize/testing/memory';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Membership } from '#ledger';
import { SharedCoordinator } from './coordination/shared-coordinator.ts';

test.each([0, 1, 2, 3, 4])(
  'without answers a member loses work at lease end, not at a poll: %i',
  async (fifths) => {
    vi.useFakeTimers({
      toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout', 'performance'],
    });
    onTestFinished(() => void vi.useRealTimers());
    const store = new MemoryStore({ shared: true });
    const leaseMs = 1_000;
    const membership = await store.joinEffects!({ leaseMs });
    let isHung = false;
    const exchange: Membership['exchange'] = (...given) =>
      isHung ? new Promise(() => undefined) : membership.exchange(...given);
    const beside = await SharedCoordinator.join({
      membership: { ...membership, exchange },
      store,
      leaseMs,
      isOrdered: true,
    });
    await vi.advanceTimersByTimeAsync(400 + 40 * fifths);
    await beside.begin([]);
    isHung = true;
    await vi.advanceTimersByTimeAsync(leaseMs - 1);
    expect(beside.lost.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(beside.lost.reason).toMatchObject({
      code: 'lease_lost',
      cause: { message: 'the store did not answer for 1000 ms, the length of the lease' },
    });
    await membership.release();
  },
);
