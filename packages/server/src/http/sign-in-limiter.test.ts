import { expect, test } from 'vitest';
import { DEFAULT_LIMITS } from './requests/limits.ts';
import { SignInLimiter } from './sign-in-limiter.ts';

function opened(requestsPerSecond: number, concurrency = 1_000) {
  const time = { ms: 0 };
  const limiter = new SignInLimiter(
    { ...DEFAULT_LIMITS, requestsPerSecond, concurrency },
    () => time.ms,
  );
  const enters = (address: string): boolean => {
    try {
      limiter.enter(address)();
      return true;
    } catch (error) {
      expect(error).toMatchObject({ code: 'too_fast', retryable: true });
      return false;
    }
  };
  return {
    time,
    limiter,
    enters,
    passed: (count: number, address: (n: number) => string) =>
      Array.from({ length: count }, (_, n) => enters(address(n))).filter(Boolean).length,
  };
}

test('an address that sends too many is refused, and no other one', () => {
  const { time, enters, passed } = opened(5);
  expect(passed(1_000, () => '1.1.1.1')).toBe(20);
  expect(enters('2.2.2.2')).toBe(true);
  time.ms = 1_000;
  expect(passed(1_000, () => '1.1.1.1')).toBe(5);
});

test('all addresses together have twenty times as many', () => {
  const { enters, passed } = opened(1);
  const all = passed(10_000, (n) => `10.0.${n >> 8}.${n & 255}`);
  expect(all).toBe(80);
  expect(enters('2.2.2.2')).toBe(false);
});

test('what is refused for one address uses nothing of the others', () => {
  const { passed } = opened(1);
  expect(passed(10_000, () => '1.1.1.1')).toBe(4);
  expect(passed(1_000, (n) => `10.0.${n >> 8}.${n & 255}`)).toBe(76);
});

test('requests in progress end once, also those refused for all together', () => {
  const { limiter } = opened(1_000, 1);
  const leave = limiter.enter('1.1.1.1');
  expect(() => limiter.enter('1.1.1.1')).toThrow('This address already has 1 requests in progress');
  leave();
  leave();
  const ends = Array.from({ length: 200 }, (_, n) => {
    try {
      return limiter.enter(`10.0.0.${n}`);
    } catch (error) {
      expect(error).toMatchObject({
        message: expect.stringMatching(/^(The sign-in|This address) already has/),
      });
      return undefined;
    }
  });
  expect(ends.filter((end) => end !== undefined)).toHaveLength(20);
  for (const end of ends) end?.();
  // An address that was refused for all has no request in progress.
  limiter.enter('10.0.0.199')();
});
