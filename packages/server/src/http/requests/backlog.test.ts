import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Backlog } from './backlog.ts';

const LIMIT = 12;

/** Whether a principal got in; its proposals end with the returned function. */
function entered(backlog: Backlog, principal: string, proposals: number): (() => void) | undefined {
  try {
    return backlog.enter(principal, proposals);
  } catch (error) {
    expect(error).toMatchObject({ code: 'too_busy', retryable: true });
    return undefined;
  }
}

test('below the limit no principal is refused, above it none within its share', () => {
  const step = fc.record({
    principal: fc.constantFrom('a', 'b', 'c'),
    proposals: fc.integer({ min: 1, max: 5 }),
    ends: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const backlog = new Backlog(LIMIT, () => 0);
      const running: {
        readonly principal: string;
        readonly proposals: number;
        readonly end: () => void;
      }[] = [];
      const sumOf = (of: typeof running) => of.reduce((sum, { proposals }) => sum + proposals, 0);
      for (const { principal, proposals, ends } of steps) {
        if (ends && running.length > 0) running.shift()?.end();
        const own = sumOf(running.filter((each) => each.principal === principal));
        const principals = new Set([...running.map((each) => each.principal), principal]).size;
        const fits = sumOf(running) + proposals <= LIMIT;
        const isInShare = own === 0 || own + proposals <= LIMIT / principals;
        const end = entered(backlog, principal, proposals);
        expect(end !== undefined).toBe(fits || isInShare);
        if (end !== undefined) running.push({ principal, proposals, end });
        expect(backlog.size).toBe(sumOf(running));
      }
      for (const { end } of running) end();
      expect(backlog.size).toBe(0);
    }),
  );
});

test('a principal must wait as long as the proposals in progress take', () => {
  let ms = 0;
  const backlog = new Backlog(100, () => ms);
  const ends = Array.from({ length: 100 }, () => backlog.enter('a', 1));
  const wait = () => {
    try {
      return backlog.enter('a', 1);
    } catch (error) {
      return (error as { readonly evidence: { readonly retry_after: number } }).evidence
        .retry_after;
    }
  };
  expect(wait()).toBe(1);
  // Fifty answers in five seconds: ten a second.
  for (let n = 0; n < 50; n++) {
    ms += 100;
    ends.pop()?.();
    ends.push(backlog.enter('a', 1));
  }
  expect(wait()).toBe(10);
});
