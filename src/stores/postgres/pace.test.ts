import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Pace } from './pace.ts';

/** Milliseconds. */
interface World {
  readonly callers: number;
  /** What a call takes by itself, and for each that is in it. */
  readonly call: number;
  readonly written: number;
  /** What the process takes for each that was answered until it asks again. */
  readonly made: number;
}

/** How many are written in a millisecond, by callers who ask again as soon as they are answered, with at most so many in a call. */
function rate(
  { callers, call, written, made }: World,
  pace: Pick<Pace, 'asking' | 'answered' | 'called' | 'made' | 'most'>,
): number {
  let now = 0;
  let waiting = 1;
  let outside = callers - 1;
  let done = 0;
  let since = 0;
  for (let calls = 0; calls < 3_000; calls++) {
    if (calls === 1_000) [done, since] = [0, now];
    const size = Math.min(waiting, pace.most);
    waiting -= size;
    pace.asking(waiting + size);
    const began = now;
    const ms = call + written * size;
    // While the server writes those, what others ask for is made.
    now += Math.max(ms, made * outside);
    waiting += outside;
    pace.asking(waiting + size);
    pace.answered(waiting + size);
    pace.called(now - began, size);
    done += size;
    outside = size;
    pace.made(made * size, size);
    if (waiting >= pace.most) continue;
    now += made * outside;
    waiting += outside;
    outside = 0;
  }
  return done / (now - since);
}

const always = (most: number): Parameters<typeof rate>[1] => ({
  asking: () => undefined,
  answered: () => undefined,
  called: () => undefined,
  made: () => undefined,
  most,
});

const worlds = fc.record({
  callers: fc.integer({ min: 1, max: 128 }),
  call: fc.double({ min: 0.2, max: 2, noNaN: true }),
  written: fc.double({ min: 0.01, max: 1, noNaN: true }),
  made: fc.double({ min: 0.001, max: 1, noNaN: true }),
});

test('it is never much slower than all at once or than halves, whichever is faster', () => {
  let better = 0;
  fc.assert(
    fc.property(worlds, (world) => {
      const whole = rate(world, always(Number.POSITIVE_INFINITY));
      const halves = rate(world, always(Math.max(1, Math.floor(world.callers / 2))));
      const paced = rate(world, new Pace());
      if (halves > whole * 1.2) better++;
      expect(paced).toBeGreaterThan(Math.max(whole, halves) * 0.7);
    }),
    { numRuns: 500 },
  );
  expect(better).toBeGreaterThan(20);
});

test('who makes nothing in between is written all at once', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      const pace = new Pace();
      rate({ ...world, made: 0 }, pace);
      expect(pace.most).toBe(Number.POSITIVE_INFINITY);
    }),
  );
});
