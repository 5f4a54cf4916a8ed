import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { TimeLimit, withSignal } from './time-limit.ts';

/**
 * The limit has no timer left. The number of timers shows nothing, because others in the process
 * have timers too.
 */
function expectNoTimer(limit: TimeLimit): void {
  const stop = vi.spyOn(limit, 'stop');
  vi.advanceTimersByTime(10_000);
  expect(stop).not.toHaveBeenCalled();
  stop.mockRestore();
}

const late = (reason: unknown): Error => new Error(`late: ${(reason as Error).message}`);
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const never = (): Promise<never> => new Promise(() => undefined);

describe('a time limit', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('lets timely results and errors through', async () => {
    const limit = new TimeLimit(50);
    expect(await limit.run(async () => 'made', late)).toBe('made');
    for (const fail of [() => Promise.reject(new Error('no')), raise])
      await expect((async () => new TimeLimit(50).run(fail, late))()).rejects.toThrow('no');
    expect(limit.signal.aborted).toBe(false);
  });

  test('ends at its time and notifies the running call', async () => {
    const limit = new TimeLimit(50);
    const made = limit.run(never, late);
    vi.advanceTimersByTime(49);
    expect(limit.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    await expect(made).rejects.toThrow('late: It took 50 ms');
    expect(limit.signal.reason).toMatchObject({ name: 'TimeoutError' });
  });

  test.each([0, 20, 48])(
    'counts computation before a wait, %i ms of 50, and before the call',
    async (ms) => {
      const limit = new TimeLimit(50);
      vi.advanceTimersByTime(1);
      const made = limit.run(() => {
        vi.advanceTimersByTime(ms);
        return never();
      }, late);
      vi.advanceTimersByTime(48 - ms);
      expect(limit.signal.aborted).toBe(false);
      vi.advanceTimersByTime(1);
      expect(limit.signal.aborted).toBe(true);
      await expect(made).rejects.toThrow('late: It took 50 ms');
    },
  );

  test('accepts a late computed result, but starts and awaits nothing more', async () => {
    const computed = <T>(made: T): T => {
      vi.advanceTimersByTime(300);
      return made;
    };
    for (const make of [() => computed('made'), async () => computed('made')]) {
      const limit = new TimeLimit(50);
      expect(await limit.run(make, late)).toBe('made');
      const next = vi.fn();
      expect(() => limit.run(next, late)).toThrow('late: It took 50 ms');
      expect([next.mock.calls.length, limit.signal.aborted]).toEqual([0, true]);
      limit.end();
    }
    const limit = new TimeLimit(50);
    const made = limit.run(() => computed(never()), late);
    vi.advanceTimersByTime(1);
    expect(limit.signal.aborted).toBe(true);
    await expect(made).rejects.toThrow('late: It took 50 ms');
  });

  describe('with an error filter for calls that have not started', () => {
    const heeds = (error: unknown): boolean => (error as Error).message === 'no turn';

    test.each([
      ['hears it', 'no turn', async () => Promise.reject(new Error('no turn'))],
      [
        'hears it no later',
        'late: enough',
        () => wait(1).then(() => Promise.reject(new Error('no turn'))),
      ],
      ['hears nothing else', 'late: enough', async () => Promise.reject(new Error('whatever'))],
      ['takes no answer', 'late: enough', async () => 'made'],
    ])('%s', async (_, told, says) => {
      const outer = new AbortController();
      const limit = new TimeLimit(50, outer.signal);
      const whenTold = new Promise((resolve) => limit.signal.addEventListener('abort', resolve));
      const heard = expect(limit.run(() => whenTold.then(says), late, heeds)).rejects.toThrow(told);
      outer.abort(new Error('enough'));
      await vi.advanceTimersByTimeAsync(2);
      await heard;
    });

    test('hears no error if the limit had ended before', () => {
      const limit = new TimeLimit(50, AbortSignal.abort(new Error('enough')));
      expect(() => limit.run(never, late, heeds)).toThrow('late: enough');
    });
  });

  test('ends on an outer signal, before or during the call', async () => {
    const outer = new AbortController();
    const limit = new TimeLimit(50, outer.signal);
    const made = limit.run(never, late);
    outer.abort(new Error('enough'));
    await expect(made).rejects.toThrow('late: enough');
    expect(() => new TimeLimit(50, outer.signal).run(never, late)).toThrow('late: enough');
  });

  test('does not wait for a value that is there immediately, unless it is late', () => {
    const outer = new AbortController();
    const limit = new TimeLimit(50, outer.signal);
    expect(limit.run(() => 'made', late)).toBe('made');
    expectNoTimer(limit);
    const stopped = new TimeLimit(50, outer.signal);
    expect(() => stopped.run(() => outer.abort(new Error('enough')), late)).toThrow('late: enough');
  });

  test('awaits any thenable', async () => {
    const limit = new TimeLimit(50);
    const made = {
      // biome-ignore lint/suspicious/noThenProperty: some libraries return this, not a promise
      then: (resolve: (value: string) => void) => void setTimeout(() => resolve('made'), 40),
    };
    const waiting = limit.run(() => made as unknown as Promise<string>, late);
    expect(waiting).toBeInstanceOf(Promise);
    await Promise.resolve();
    vi.advanceTimersByTime(40);
    expect(await waiting).toBe('made');
    limit.end();
    expectNoTimer(limit);
  });

  test('that has ended keeps no timer and no listener', () => {
    const outer = new AbortController();
    const limit = new TimeLimit(50, outer.signal);
    void limit.run(never, late);
    limit.end();
    expectNoTimer(limit);
    outer.abort();
    expect(limit.signal.aborted).toBe(false);
  });
});

test('a time limit that is awaited keeps the process alive until it ends', async () => {
  const timers = (): number =>
    process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  const limit = new TimeLimit(60_000);
  const made = limit.run(never, late);
  expect(timers()).toBe(before + 1);
  limit.stop(new Error('enough'));
  await expect(made).rejects.toThrow('late: enough');
  limit.end();
  expect(timers()).toBe(before);
});

describe('a call with heartbeats', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('is over when nothing was heard of it for so long, and no sooner', async () => {
    const limit = new TimeLimit(1_000);
    limit.watchIdle(50);
    const made = limit.run(never, late);
    for (let i = 0; i < 10; i++) {
      vi.advanceTimersByTime(49);
      limit.heartbeat();
    }
    vi.advanceTimersByTime(49);
    expect(limit.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    await expect(made).rejects.toThrow('late: It took 50 ms without activity');
    expect(limit.signal.reason).toMatchObject({ name: 'TimeoutError' });
    limit.end();
    expectNoTimer(limit);
  });

  test('ends at its total time, despite heartbeats', async () => {
    const limit = new TimeLimit(100);
    limit.watchIdle(50);
    const made = limit.run(never, late);
    for (let i = 0; i < 99; i++) {
      vi.advanceTimersByTime(1);
      limit.heartbeat();
    }
    expect(limit.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    await expect(made).rejects.toThrow('late: It took 100 ms');
  });

  test('is over by it as soon as something is heard, where no timer could tell', async () => {
    const limit = new TimeLimit(100);
    limit.watchIdle(50);
    const made = limit.run(never, late);
    // Like a body that calls again and again without a pause.
    vi.clearAllTimers();
    vi.advanceTimersByTime(99);
    limit.heartbeat();
    expect(limit.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    limit.heartbeat();
    expect(limit.signal.aborted).toBe(true);
    await expect(made).rejects.toThrow('late: It took 100 ms');
  });

  test('is not silent while it waits for others, one inside of another', () => {
    const limit = new TimeLimit(1_000);
    limit.watchIdle(50);
    Promise.resolve(limit.run(never, late)).catch(() => undefined);
    limit.pause();
    limit.pause();
    vi.advanceTimersByTime(200);
    limit.resume();
    vi.advanceTimersByTime(200);
    expect(limit.signal.aborted).toBe(false);
    limit.resume();
    vi.advanceTimersByTime(49);
    expect(limit.signal.aborted).toBe(false);
    vi.advanceTimersByTime(51);
    expect(limit.signal.aborted).toBe(true);
  });

  test('may be so from somewhere in the middle to somewhere in the middle', () => {
    const limit = new TimeLimit(1_000);
    Promise.resolve(limit.run(never, late)).catch(() => undefined);
    vi.advanceTimersByTime(200);
    limit.watchIdle(50);
    vi.advanceTimersByTime(49);
    limit.stopWatchingIdle();
    vi.advanceTimersByTime(750);
    expect(limit.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(limit.signal.aborted).toBe(true);
  });
});

describe('a call with a signal', () => {
  test('passes timely results and errors through and leaves no listener', async () => {
    const { signal } = new AbortController();
    expect(await withSignal(signal, () => 'immediate')).toBe('immediate');
    expect(await withSignal(signal, async () => 'made')).toBe('made');
    await expect(withSignal(signal, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(() => withSignal(signal, raise)).toThrow('no');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('may return any thenable, also from another realm', async () => {
    // biome-ignore lint/suspicious/noThenProperty: the value is a thenable
    const foreign = { then: () => undefined } as never as Promise<never>;
    const over = new AbortController();
    const made = withSignal(over.signal, () => foreign);
    over.abort(new Error('enough'));
    await expect(made).rejects.toThrow('enough');
  });

  test('fails if the signal is aborted first, before or during the call', async () => {
    const over = new AbortController();
    const made = withSignal(over.signal, never);
    over.abort(new Error('enough'));
    await expect(made).rejects.toThrow('enough');
    await expect(withSignal(over.signal, never)).rejects.toThrow('enough');
  });
});

function raise(): never {
  throw new Error('no');
}
