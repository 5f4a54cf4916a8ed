import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DEFAULT_LIMITS, type Limits } from './limits.ts';
import { RateLimiter } from './rate-limiter.ts';

function limiterWith(limits: Partial<Limits> = {}) {
  const time = { ms: 0 };
  return { time, limiter: new RateLimiter({ ...DEFAULT_LIMITS, ...limits }, () => time.ms) };
}

function enters(limiter: RateLimiter, principal: string): boolean {
  try {
    limiter.enter(principal)();
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: 'too_fast', retryable: true });
    return false;
  }
}

test('in any time no principal has more than its rate and its burst', () => {
  const step = fc.record({ ms: fc.nat({ max: 2_000 }), principal: fc.constantFrom('a', 'b') });
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 300 }),
      fc.integer({ min: 1, max: 5 }),
      (steps, rate) => {
        const { time, limiter } = limiterWith({ requestsPerSecond: rate });
        const passed: Record<string, number[]> = { a: [], b: [] };
        for (const { ms, principal } of steps) {
          time.ms += ms;
          if (enters(limiter, principal)) passed[principal]?.push(time.ms);
        }
        for (const times of Object.values(passed))
          for (const [i, from] of times.entries())
            for (const [j, to] of times.entries())
              if (j >= i)
                expect(j - i + 1).toBeLessThanOrEqual(
                  rate * 4 + ((to - from) / 1_000) * rate + 1e-6,
                );
      },
    ),
  );
});

test('a principal that waits as long as the answer says is not refused', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 50 }), (rate) => {
      const { time, limiter } = limiterWith({ requestsPerSecond: rate });
      for (let n = 0; n < rate * 4; n++) expect(enters(limiter, 'a')).toBe(true);
      expect(enters(limiter, 'a')).toBe(false);
      expect(enters(limiter, 'b')).toBe(true);
      time.ms += 1_000;
      expect(enters(limiter, 'a')).toBe(true);
    }),
  );
});

test('requests in progress and streams are counted alone, and each end once', () => {
  const { limiter } = limiterWith({ concurrency: 2, streams: 1 });
  const [one, two] = [limiter.enter('a'), limiter.enter('a')];
  expect(() => limiter.enter('a')).toThrow(expect.objectContaining({ code: 'too_fast' }));
  one();
  one();
  const three = limiter.enter('a');
  expect(() => limiter.enter('a')).toThrow(expect.objectContaining({ code: 'too_fast' }));
  two();
  three();
  const stream = limiter.openStream('a');
  expect(() => limiter.openStream('a')).toThrow(
    expect.objectContaining({
      code: 'too_many_open',
      message: expect.stringContaining('open event streams, the most allowed'),
    }),
  );
  limiter.openStream('b')();
  stream();
  stream();
  limiter.openStream('a');
  expect(() => limiter.openStream('a')).toThrow(
    expect.objectContaining({
      code: 'too_many_open',
      message: expect.stringContaining('open event streams, the most allowed'),
    }),
  );
});

test('a forgotten principal gains nothing; one with a stream is remembered', () => {
  const { time, limiter } = limiterWith({ requestsPerSecond: 1, streams: 1 });
  limiter.openStream('a');
  for (let n = 0; n < 4; n++) enters(limiter, 'a');
  time.ms += 120_001;
  enters(limiter, 'b');
  expect(() => limiter.openStream('a')).toThrow(
    expect.objectContaining({
      code: 'too_many_open',
      message: expect.stringContaining('open event streams, the most allowed'),
    }),
  );
  const passed = Array.from({ length: 6 }, () => enters(limiter, 'a'));
  expect(passed.filter(Boolean)).toHaveLength(4);
});
