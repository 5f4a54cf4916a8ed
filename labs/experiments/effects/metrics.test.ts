import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../tests/support/cases.ts';
import { type MetricName, Metrics, SIX_COLUMNS } from './metrics.ts';
import type { TaskResult } from './run-task.ts';

const clean: TaskResult = {
  steps: 10,
  success: true,
  faults: 0,
  retries: 0,
  recovered: 0,
  propagated: 0,
  waiting: 0,
  judged: { correct: true, expected: 10, present: 10, wrong: 0, contaminated: false },
};

function metricsOf(...results: TaskResult[]): Metrics {
  const metrics = new Metrics(1);
  for (const result of results) metrics.add(result);
  return metrics;
}

test('by hand: four tasks, one of them clean', () => {
  const metrics = metricsOf(
    clean,
    // Told of an error, and all is there: the response was lost.
    { ...clean, success: false, faults: 1, propagated: 1 },
    // Done after two tries more; something was to be seen that was taken back.
    {
      ...clean,
      faults: 2,
      retries: 2,
      recovered: 1,
      judged: { ...clean.judged, contaminated: true },
    },
    // Half of it is missing, and one is wrong.
    {
      ...clean,
      success: false,
      faults: 7,
      propagated: 5,
      waiting: 1,
      judged: {
        correct: false,
        expected: 10,
        present: 5,
        wrong: 1,
        contaminated: false,
        counts: { mails: 3 },
      },
    },
  );
  const means = { success: 50, correct: 75, contaminated: 25, completion: 87.5, corruption: 2.5 };
  for (const [metric, mean] of Object.entries(means))
    expect(metrics.mean(metric as MetricName).measured).toBe(mean);
  const sums = { propagated: 6, faults: 10, retries: 2, recovered: 1, waiting: 1 };
  for (const [metric, sum] of Object.entries(sums))
    expect(metrics.total(metric as MetricName).measured).toBe(sum);
  expect(metrics.counted('mails')).toBe(3);
  expect(metrics.counted('letters')).toBe(0);
  expect(metrics.runs).toBe(4);
});

test('the six of the paper are in its order, each under its column', () => {
  const judged = { correct: false, expected: 10, present: 8, wrong: 1, contaminated: true };
  const cells = metricsOf({ ...clean, success: false, propagated: 2, judged }).six();
  const named = Object.fromEntries(SIX_COLUMNS.map((column, i) => [column, cells[i]!.measured]));
  expect(named).toEqual({
    done: 0,
    correct: 0,
    contaminated: 100,
    'steps there': 80,
    'steps wrong': 10,
    'errors told': 2,
  });
});

test('a cell has the paper’s figure where there is one', () => {
  expect(metricsOf(clean, clean).mean('success', 92)).toEqual({
    measured: 100,
    within: 0,
    paper: 92,
  });
  expect(metricsOf(clean).total('faults', 121)).toEqual({ measured: 0, paper: 121 });
  expect(metricsOf(clean, clean).mean('success')).toEqual({ measured: 100, within: 0 });
});

test('counted naively, task by task', () => {
  const result = fc
    .record({
      n: fc.integer({ min: 1, max: 20 }),
      there: fc.nat(20),
      bad: fc.nat(20),
      success: fc.boolean(),
      faults: fc.nat(9),
    })
    .map(({ n, there, bad, success, faults }): TaskResult => {
      const present = Math.min(n, there);
      const wrong = Math.min(present, bad);
      const judged = {
        correct: present === n && wrong === 0,
        expected: n,
        present,
        wrong,
        contaminated: wrong > 0,
      };
      return { ...clean, steps: n, success, faults, judged };
    });
  fc.assert(
    fc.property(fc.array(result, { minLength: 1, maxLength: 12 }), (results) => {
      const metrics = metricsOf(...results);
      let [success, completion, corruption, faults] = [0, 0, 0, 0];
      for (const { judged, ...told } of results) {
        if (told.success) success += 100 / results.length;
        completion += (100 * judged.present) / judged.expected / results.length;
        corruption += (100 * judged.wrong) / judged.expected / results.length;
        faults += told.faults;
      }
      expect(metrics.mean('success').measured).toBeCloseTo(success);
      expect(metrics.mean('completion').measured).toBeCloseTo(completion);
      expect(metrics.mean('corruption').measured).toBeCloseTo(corruption);
      expect(metrics.sum('faults')).toBe(faults);
    }),
    { numRuns: cases(50) },
  );
});

test('of a task that is to do nothing, all steps are there', () => {
  const judged = { correct: true, expected: 0, present: 0, wrong: 0, contaminated: false };
  const metrics = metricsOf(clean, { ...clean, steps: 0, judged });
  expect([metrics.mean('completion').measured, metrics.mean('corruption').measured]).toEqual([
    100, 0,
  ]);
});

test('one run has no interval', () => {
  expect(metricsOf(clean).mean('success')).toEqual({ measured: 100 });
  expect(metricsOf(clean, clean).mean('success')).toEqual({ measured: 100, within: 0 });
});
