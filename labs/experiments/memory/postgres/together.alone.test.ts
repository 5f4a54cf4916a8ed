import { setImmediate as othersGoOn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { runTogether } from './together.ts';

test('in each round no participant continues before all have met, at any pace', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.nat(3), { minLength: 3, maxLength: 3 }), { minLength: 1, maxLength: 6 }),
      async (pauses) => {
        const log: number[] = [];
        const made = await runTogether(pauses.length, async (who, meet) => {
          for (const [round, pause] of pauses[who]!.entries()) {
            for (let i = 0; i < pause; i++) await othersGoOn();
            log.push(round);
            await meet();
          }
          return who;
        });
        expect(log).toEqual(log.toSorted());
        expect(made).toEqual(pauses.map((_, who) => who));
      },
    ),
    { numRuns: 50 },
  );
});

test('a failure before the meeting fails all waiting participants, none hangs', async () => {
  const ended: number[] = [];
  const all = runTogether(3, async (who, meet) => {
    try {
      if (who === 1) throw new Error('the first to fail');
      await meet();
    } finally {
      ended.push(who);
    }
  });
  await expect(all).rejects.toThrow('the first to fail');
  expect(ended.toSorted()).toEqual([0, 1, 2]);
});

test('a failure while no participant waits is reported only at the end', async () => {
  const unheard = vi.fn();
  process.on('unhandledRejection', unheard);
  try {
    const all = runTogether(2, async (who) => {
      if (who === 0) throw new Error('alone');
      for (let i = 0; i < 5; i++) await othersGoOn();
    });
    await expect(all).rejects.toThrow('alone');
    expect(unheard).not.toHaveBeenCalled();
  } finally {
    process.off('unhandledRejection', unheard);
  }
});

test('a failure after the meeting fails alone, and all participants end', async () => {
  const ended: number[] = [];
  const all = runTogether(2, async (who, meet) => {
    await meet();
    if (who === 0) throw new Error('late');
    await othersGoOn();
    ended.push(who);
  });
  await expect(all).rejects.toThrow('late');
  expect(ended).toEqual([1]);
});
