/** As in `handed-out.test.ts`, for many orders of the calls, and on every store. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../support/cases.ts';
import { onEveryStore } from '../support/ledger/stores.ts';
import { Hands } from './handed-out/hands.ts';
import { unreachedCallbacks, unreachedMethods } from './handed-out/reached.ts';
import { plans, story } from './handed-out/story.ts';

onEveryStore(({ newPlace }) => {
  test('a vandal changes no later answer, no entry and no state', async () => {
    await fc.assert(
      fc.asyncProperty(plans, async (plan) => {
        const [honest, vandal] = [new Hands(false), new Hands(true)];
        const left = await story(honest, plan, newPlace());
        const spoilt = await story(vandal, plan, newPlace());
        expect([...honest.shared]).toEqual([]);
        expect(vandal.firstDifference(honest)).toBeUndefined();
        expect(spoilt).toEqual(left);
        expect(spoilt.statesAgain).toEqual(left.states);
        expect(spoilt.faults).toEqual([]);
        expect(unreachedMethods(vandal)).toEqual([]);
        expect(unreachedCallbacks(vandal)).toEqual([]);
      }),
      { numRuns: cases(8) },
    );
  });
});
