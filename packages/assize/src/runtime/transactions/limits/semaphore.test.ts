import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../../../tests/support/cases.ts';
import { Semaphore } from './semaphore.ts';

const turn = (): Promise<void> => Promise.resolve();

test('entries are limited and in order; failures or early exits block no other', async () => {
  const visit = fc.record({
    turns: fc.nat(4),
    leavesAfter: fc.option(fc.nat(3), { nil: undefined }),
    fails: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 3 }),
      fc.array(visit, { maxLength: 12 }),
      async (max, visits) => {
        const door = new Semaphore(max);
        const entered: number[] = [];
        let [inside, most] = [0, 0];
        const visiting = visits.map(({ turns, leavesAfter, fails }, n) =>
          door.run(async (leave) => {
            entered.push(n);
            inside += 1;
            most = Math.max(most, inside);
            let isInside = true;
            const out = (): void => {
              if (isInside) inside -= 1;
              isInside = false;
            };
            for (let at = 0; at < turns; at++) {
              if (at === leavesAfter) {
                out();
                leave();
              }
              await turn();
            }
            out();
            if (fails) throw new Error(`${n}`);
            return n;
          }),
        );
        const ended = await Promise.allSettled(visiting);
        expect(
          ended.map((end) => (end.status === 'fulfilled' ? end.value : end.reason.message)),
        ).toEqual(visits.map(({ fails }, n) => (fails ? `${n}` : n)));
        expect(entered).toEqual(visits.map((_, n) => n));
        expect(most).toBeLessThanOrEqual(max);
        // The semaphore admits as many visits as before.
        let again = 0;
        const held = Array.from({ length: max }, () => door.run(async () => void again++));
        expect(again).toBe(max);
        await Promise.all(held);
      },
    ),
    { numRuns: cases(200) },
  );
});
