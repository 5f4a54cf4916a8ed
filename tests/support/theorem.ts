import fc from 'fast-check';
import { describe, test } from 'vitest';
import { cases } from './cases.ts';

/** What an execution has to keep to; throws where it does not. */
export type Check<Run> = (run: Run) => void | Promise<void>;

/**
 * Tests that look at the same generated executions, each of which is played once for all of them. What fails one is looked
 * for again for that test alone, so that the case that it shows is a small one.
 */
export function theorems<Input, Run>(
  title: string,
  executions: {
    readonly input: fc.Arbitrary<Input>;
    readonly play: (input: Input) => Promise<Run>;
    /** How many executions, usually. */
    readonly usual: number;
  },
  checks: Readonly<Record<string, Check<Run>>>,
): void {
  describe(title, () => {
    const failed = new Set<string>();
    const numRuns = cases(executions.usual);
    const seed = fc.readConfigureGlobal().seed ?? Math.trunc(Math.random() * 2 ** 31);
    const assert = (check: (input: Input) => Promise<void>): Promise<void> =>
      fc.assert(fc.asyncProperty(executions.input, check), { numRuns, seed });

    let played: Promise<void> | undefined;
    /** When the first of them wants it; where none is run, nothing is. */
    const playAll = (): Promise<void> => {
      played ??= assert(async (input) => {
        const run = await executions.play(input).catch(() => undefined);
        for (const [name, check] of Object.entries(checks)) {
          if (failed.has(name)) continue;
          try {
            if (run === undefined) throw new Error('it could not be played');
            await check(run);
          } catch {
            failed.add(name);
          }
        }
      });
      return played;
    };

    test.each(Object.entries(checks))(
      '%s',
      async (name, check) => {
        await playAll();
        if (failed.has(name)) await assert(async (input) => check(await executions.play(input)));
      },
      1_800_000,
    );
  });
}
