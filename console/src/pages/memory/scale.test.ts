import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OPEN_END, OPEN_START } from '../../parts/times.ts';
import { scaleOf } from './scale.ts';

const instant = fc
  .integer({ min: 0, max: 4_000_000_000 })
  .map((seconds) => new Date(seconds * 1_000).toISOString().replace('Z', '000Z'));
const period = fc
  .tuple(fc.oneof(instant, fc.constant(OPEN_START)), fc.oneof(instant, fc.constant(OPEN_END)))
  .filter(([from, to]) => from < to)
  .map(([from, to]) => ({ from, to }));

test('a later instant is never before an earlier one, and all are on the axis', () => {
  fc.assert(
    fc.property(fc.array(period, { minLength: 1 }), fc.array(instant), (periods, more) => {
      const { steps, at } = scaleOf(periods);
      const all = [...more, ...periods.flatMap(({ from, to }) => [from, to])].sort();
      const places = all.map(at);
      expect(places).toEqual(places.toSorted((a, b) => a - b));
      expect(Math.min(...places)).toBeGreaterThanOrEqual(0);
      expect(Math.max(...places)).toBeLessThanOrEqual(steps);
      for (const { from, to } of periods) expect(at(from)).toBeLessThan(at(to));
    }),
  );
});

test('ticks that differ have different labels', () => {
  fc.assert(
    fc.property(fc.array(period, { minLength: 1 }), (periods) => {
      const labels = scaleOf(periods).ticks.map(({ date, time }) => `${date} ${time}`);
      expect(new Set(labels).size).toBe(labels.length);
    }),
  );
});
