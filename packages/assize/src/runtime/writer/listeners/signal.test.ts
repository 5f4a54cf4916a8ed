import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../../../tests/support/cases.ts';
import { WakeSignal } from './signal.ts';

test('wakes each remaining waiter once, and then forgets the waiters', () =>
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.constant('wake' as const), fc.constant('rest' as const), fc.nat(9))),
      (steps) => {
        const wakers = new WakeSignal();
        const slept: { woken: number; leave: () => void }[] = [];
        let resting = new Set<object>();
        const expected = new Map<object, number>();
        for (const step of steps) {
          if (step === 'rest') {
            const one = { woken: 0, leave: () => {} };
            one.leave = wakers.wait(() => one.woken++);
            slept.push(one);
            resting.add(one);
          } else if (step === 'wake') {
            for (const one of resting) expected.set(one, 1);
            resting = new Set();
            wakers.notifyAll();
          } else if (slept[step] !== undefined) {
            slept[step].leave();
            resting.delete(slept[step]);
          }
          expect(wakers.size).toBe(resting.size);
        }
        expect(slept.map(({ woken }) => woken)).toEqual(slept.map((one) => expected.get(one) ?? 0));
      },
    ),
    { numRuns: cases(300) },
  ));

test('a waiter that waits again while being woken is woken the next time', () => {
  const wakers = new WakeSignal();
  const woken: string[] = [];
  wakers.wait(() => {
    woken.push('first');
    wakers.wait(() => woken.push('again'));
  });
  wakers.notifyAll();
  expect([woken, wakers.size]).toEqual([['first'], 1]);
  wakers.notifyAll();
  expect([woken, wakers.size]).toEqual([['first', 'again'], 0]);
});
