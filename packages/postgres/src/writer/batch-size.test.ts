import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AdaptiveBatchSize } from './batch-size.ts';

/** Milliseconds. */
interface World {
  readonly callers: number;
  /** The fixed duration of a call. */
  readonly call: number;
  readonly written: number;
  /** The preparation time of the process for each answered caller. */
  readonly made: number;
}

type Paced = Pick<
  AdaptiveBatchSize,
  'asking' | 'answered' | 'sent' | 'called' | 'made' | 'enough' | 'take'
>;

/**
 * The rate of writes per millisecond. The callers ask again as soon as they are answered, and
 * `pace` chooses the jobs of a call.
 */
function rate({ callers, call, written, made }: World, pace: Paced): number {
  let now = 0;
  let waiting = 1;
  let outside = callers - 1;
  let done = 0;
  let since = 0;
  for (let calls = 0; calls < 3_000; calls++) {
    if (calls === 1_000) [done, since] = [0, now];
    const size = pace.take(waiting);
    waiting -= size;
    pace.asking(waiting + size);
    pace.sent(size);
    const ms = call + written * size;
    // During the write, the process prepares the requests of the other callers.
    now += Math.max(ms, made * outside);
    waiting += outside;
    pace.asking(waiting + size);
    pace.called(Math.max(ms, made * outside), size);
    pace.answered(waiting + size);
    done += size;
    outside = size;
    pace.made(made * size, size);
    if (waiting >= pace.enough) continue;
    now += made * outside;
    waiting += outside;
    outside = 0;
  }
  return done / (now - since);
}

const nothing = (): void => undefined;

function always(enough: number): Paced {
  const take = (waiting: number): number => (waiting <= enough + 1 ? waiting : enough);
  return {
    asking: nothing,
    answered: nothing,
    sent: nothing,
    called: nothing,
    made: nothing,
    enough,
    take,
  };
}

const worlds = fc.record({
  callers: fc.integer({ min: 1, max: 128 }),
  call: fc.double({ min: 0.2, max: 2, noNaN: true }),
  written: fc.double({ min: 0.01, max: 1, noNaN: true }),
  made: fc.double({ min: 0.001, max: 1, noNaN: true }),
});

const whole = (world: World): number => rate(world, always(Number.POSITIVE_INFINITY));
const halves = (world: World): number =>
  rate(world, always(Math.max(1, Math.floor(world.callers / 2))));

test('it is not slower than one batch of all', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      expect(rate(world, new AdaptiveBatchSize())).toBeGreaterThan(whole(world) * 0.95);
    }),
    { numRuns: 300 },
  );
});

test('where more is made than a call takes, it is as fast as halves', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      const { callers, call, written, made } = world;
      fc.pre(callers >= 4 && made * callers > 2 * (call + written));
      expect(rate(world, new AdaptiveBatchSize())).toBeGreaterThan(halves(world) * 0.95);
      expect(halves(world)).toBeGreaterThan(whole(world));
    }),
    { numRuns: 300 },
  );
});

test('without preparation time all requests are written in one batch', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      const pace = new AdaptiveBatchSize();
      rate({ ...world, made: 0 }, pace);
      expect(pace.enough).toBe(Number.POSITIVE_INFINITY);
    }),
  );
});

test('a process pause or an instant call does not distort the batch size', () => {
  const world = { callers: 16, call: 1, written: 0.1, made: 0.03 };
  const pace = new AdaptiveBatchSize();
  rate(world, pace);
  pace.made(28_800_000, 1);
  pace.called(0.01, 16);
  expect(rate(world, pace)).toBeGreaterThan(whole(world) * 0.95);
});

test('a probe call for one request is not repeated immediately after it failed', () => {
  const pace = new AdaptiveBatchSize();
  pace.asking(16);
  pace.called(1, 16);
  for (let calls = 0; calls < 100 && pace.enough !== 1; calls++) {
    pace.sent(16);
    pace.made(16, 16);
  }
  expect(pace.enough).toBe(1);
  pace.sent(1);
  expect(pace.enough).not.toBe(1);
});
