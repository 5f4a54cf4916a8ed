import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Metrics } from './metrics.ts';

const LINE =
  /^(?:# (?:TYPE|HELP) [a-z_]+ .+|[a-z_]+(?:\{[a-z]+="[^"\n]*"(?:,[a-z]+="[^"\n]*")*\})? [0-9.e+-]+)$/;

test('each line is a comment or a sample, and counts add up', () => {
  const request = fc.record({
    route: fc.constantFrom('proposals.create', 'other'),
    status: fc.constantFrom(200, 403, 500),
    ms: fc.double({ min: 0, max: 20_000, noNaN: true }),
  });
  fc.assert(
    fc.property(fc.array(request), (requests) => {
      const metrics = new Metrics();
      for (const { route, status, ms } of requests) metrics.request(route, status, ms);
      metrics.ruling('committed');
      metrics.gauge({ name: 'assize_open', help: 'Open streams.', read: () => 3 });
      const text = metrics.text();
      expect(text.endsWith('\n')).toBe(true);
      const lines = text.trimEnd().split('\n');
      for (const line of lines) expect(line).toMatch(LINE);
      const total = lines.filter((line) => line.startsWith('assize_requests_total{'));
      expect(total.reduce((sum, line) => sum + Number(line.split(' ')[1]), 0)).toBe(
        requests.length,
      );
      for (const route of ['proposals.create', 'other']) {
        const buckets = lines.filter((line) =>
          line.startsWith(`assize_request_seconds_bucket{route="${route}"`),
        );
        const counts = buckets.map((line) => Number(line.split(' ')[1]));
        expect(counts).toEqual([...counts].sort((a, b) => a - b));
        expect(counts.at(-1) ?? 0).toBe(requests.filter((one) => one.route === route).length);
      }
      expect(lines).toContain('assize_open 3');
      expect(lines).toContain('assize_rulings_total{ruling="committed"} 1');
    }),
  );
});

test('each kind of metric has its type before its samples, once', () => {
  const metrics = new Metrics();
  metrics.request('a.b', 200, 1);
  metrics.gauge({ name: 'assize_open', help: 'Open streams.', read: () => 0 });
  const lines = metrics.text().split('\n');
  for (const name of [
    'assize_requests_total',
    'assize_rulings_total',
    'assize_request_seconds',
    'assize_open',
  ]) {
    const types = lines.filter((line) => line.startsWith(`# TYPE ${name} `));
    expect(types).toHaveLength(1);
    const sample = lines.findIndex((line) => line.startsWith(name));
    if (sample >= 0) expect(lines.indexOf(types[0] as string)).toBeLessThan(sample);
  }
});
