import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { DidNothing, declareTool } from '#effects';
import type { AssizeOptions, RuntimePorts, TransactionOptions } from '#runtime';
import { runtimeOver, writFor } from '../../../../../../tests/support/ledger/runtime.ts';
import { tally } from '../../../../../../tests/support/tools/effect-sink.ts';

const OPTIONS: TransactionOptions = { writ: writFor('alice'), writes: ['test:r'] };

/** A transaction with a tool that refuses the body's call `n` times, and requests a wait. */
async function refusedWith(
  afterMs: number | undefined,
  times: number,
  more: Partial<AssizeOptions> = {},
) {
  let calls = 0;
  const pauses: [from: number, to: number][] = [];
  const busy = declareTool({
    name: 'busy',
    input: z.strictObject({}),
    class: { reversibility: 'reversible', delivery: 'externalised', sink: 'keyed' },
    writes: ['test:r'],
    execute: () => {
      if (calls++ < times)
        throw new DidNothing('it is busy', afterMs === undefined ? {} : { afterMs });
    },
    compensate: () => ({ undone: 'all' as const }),
  });
  const pause = async (from: number, to: number): Promise<void> => void pauses.push([from, to]);
  const assize = runtimeOver(new MemoryStore(), [tally], {
    tools: [busy],
    ...more,
    ports: { pause, ...more.ports },
  });
  const trajectory = await assize.create(tally, { trajectoryId: 't' });
  const run = (options: Partial<TransactionOptions> = {}) =>
    trajectory.transaction({ ...OPTIONS, ...options }, async (tx) => {
      await tx.call('busy', {});
      tx.propose({ action: 'count', role: 'counter', args: 'order' });
    });
  return { assize, run, pauses, calls: () => calls };
}

describe('a transaction that is retried because a tool did nothing', () => {
  test('pauses longer each time', async () => {
    const at = await refusedWith(undefined, 3);
    expect(await at.run()).toMatchObject({ ruling: { ruling: 'committed' }, effects: 'settled' });
    expect(at.pauses).toEqual([
      [10, 20],
      [40, 80],
      [160, 320],
    ]);
    await at.assize.close();
  });

  test('waits as long as the tool says, and not after the last try', async () => {
    const at = await refusedWith(2_000, 10);
    await expect(at.run({ retries: 2 })).rejects.toMatchObject({ code: 'tool_failed' });
    expect([at.calls(), at.pauses]).toEqual([
      3,
      [
        [2_000, 4_000],
        [2_000, 4_000],
      ],
    ]);
    await at.assize.close();
  });

  test('waits no longer than an attempt of it may take', async () => {
    const at = await refusedWith(2_000, 10);
    await expect(at.run({ deadlineMs: 1_999 })).rejects.toMatchObject({
      code: 'tool_failed',
      retryable: true,
    });
    expect([at.calls(), at.pauses]).toEqual([1, []]);
    await expect(at.run({ deadlineMs: 3_000, retries: 1 })).rejects.toMatchObject({
      code: 'tool_failed',
    });
    expect(at.pauses).toEqual([[2_000, 3_000]]);
    await at.assize.close();
  });

  test('is retried as often as it may be, if the tool asks for no time', async () => {
    const at = await refusedWith(undefined, 6);
    expect(await at.run({ deadlineMs: 5_000, retries: 6 })).toMatchObject({ effects: 'settled' });
    expect(at.pauses.slice(-2)).toEqual([
      [2_560, 5_000],
      [5_000, 5_000],
    ]);
    await at.assize.close();
  });

  test.each(['close', 'abort'] as const)('does not wait on after %s', async (how) => {
    const waits = Promise.withResolvers<void>();
    const pause: RuntimePorts['pause'] = (_, __, signal) =>
      new Promise((resolve) => {
        signal?.addEventListener('abort', () => resolve());
        waits.resolve();
      });
    const at = await refusedWith(60_000, 10, { ports: { pause } });
    const stop = new AbortController();
    const run = at.run({ signal: stop.signal });
    const done = expect(run).rejects.toMatchObject(
      how === 'close' ? { code: 'closed' } : { name: 'AbortError' },
    );
    await waits.promise;
    if (how === 'close') await at.assize.close();
    else stop.abort();
    await done;
    expect(at.calls()).toBe(1);
    if (how === 'abort') await at.assize.close();
  });
});
