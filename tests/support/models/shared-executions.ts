import fc from 'fast-check';
import { describe, test } from 'vitest';
import { cases } from '../cases.ts';

/** A property that an execution must satisfy. The check throws if it does not hold. */
export type Check<Run> = (run: Run) => void | Promise<void>;

/**
 * Tests that check the same generated executions. Each one is played once for all tests. A
 * failure is searched again for its test alone, so the reported case is small.
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
    /**
     * The requested test, and the function that continues the executions. Undefined while no test
     * waits.
     */
    let asked: { readonly name: string; readonly isKnown: () => void } | undefined;
    let goOn: () => void = () => undefined;

    const playAll = (): Promise<void> =>
      assert(async (input) => {
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
        if (asked === undefined || !failed.has(asked.name)) return;
        asked.isKnown();
        await new Promise<void>((resolve) => (goOn = resolve));
      });
    /**
     * Plays until this test has failed or no execution is left. An execution that no test requests
     * any more is not played.
     */
    const playFor = async (name: string): Promise<void> => {
      if (failed.has(name)) return;
      const isKnown = new Promise<void>((resolve) => (asked = { name, isKnown: resolve }));
      played ??= playAll();
      goOn();
      await Promise.race([played, isKnown]);
    };

    test.each(Object.entries(checks))(
      '%s',
      async (name, check) => {
        await playFor(name);
        if (failed.has(name)) await assert(async (input) => check(await executions.play(input)));
      },
      1_800_000,
    );
  });
}
