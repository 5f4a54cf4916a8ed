import { expect, onTestFinished, test } from 'vitest';
import { currentTracer, installTracer, type Step, type Tracer, traced } from './index.ts';

function noting(): Tracer & { readonly steps: string[] } {
  const steps: string[] = [];
  return {
    steps,
    step: (step, run) => {
      steps.push(step.name);
      return run();
    },
    interval: ({ name }) => void steps.push(name),
    traceparent: () => undefined,
    isRecorded: true,
  };
}

test('a step is made for a tracer only', async () => {
  let made = 0;
  const step = (): Step<number> => ({ name: `step ${++made}`, facts: {} });
  expect(await traced(step, async () => 5)).toBe(5);
  expect(made).toBe(0);
  const tracer = noting();
  const stop = installTracer(tracer);
  onTestFinished(stop);
  expect(await traced(step, async () => 6)).toBe(6);
  stop();
  expect(await traced(step, async () => 7)).toBe(7);
  expect(tracer.steps).toEqual(['step 1']);
});

test('a step that cannot be described rejects instead of throwing', async () => {
  onTestFinished(installTracer(noting()));
  const step = (): Step<number> => {
    throw new RangeError('no run');
  };
  await expect(traced(step, async () => 5)).rejects.toThrow('no run');
});

test('a process has one tracer, and a late stop ends no other', () => {
  const stop = installTracer(noting());
  expect(() => installTracer(noting())).toThrow(
    expect.objectContaining({ code: 'misuse', message: expect.stringContaining('has a tracer') }),
  );
  stop();
  const second = noting();
  onTestFinished(installTracer(second));
  stop();
  expect(currentTracer()).toBe(second);
});
