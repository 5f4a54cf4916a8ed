import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Case } from './cases.ts';
import type { Verdict } from './judge.ts';
import { faultyRules, MUTANTS } from './mutants.ts';
import { Reality } from './reality.ts';
import { RULE_SETS, type RuleSet } from './rule-sets.ts';
import { whyNoSandbox } from './runner.ts';
import { reachedOf } from './verdicts.ts';
import { waysRound } from './ways.ts';

// Would the comparison with what happens find broken rules, or a reader that overlooks something?

/** Every so many ways are tried. */
const STEP = 5;
/** A test runs at most this many of the calls that only its mutant lets through. */
const RUN_MAX = 8;
const why = whyNoSandbox();
const title =
  why === undefined ? 'a fault is found' : 'a fault is found (absent without bubblewrap)';

/** Calls that are few, and that some of the faults are about. */
const isNeeded = ({ family, call }: Case): boolean =>
  family === 'tools' ||
  (/^(?:readers|migrations|outside)$/.test(family) && /[<>]/.test(String(call.input['command'])));

describe.skipIf(why !== undefined)(title, () => {
  let reality: Reality;
  let verdicts: readonly Verdict[][];
  const company = RULE_SETS.find(({ name }) => name === 'company') as RuleSet;

  beforeAll(async () => {
    reality = new Reality(
      waysRound().filter(
        (each, i) => each.writes === undefined && (i % STEP === 0 || isNeeded(each)),
      ),
    );
    verdicts = await reality.judge([
      { rules: company.text },
      ...MUTANTS.map((mutant) => ({
        rules: faultyRules(mutant, company.text),
        ...(mutant.parts !== undefined && { fault: mutant.fault }),
      })),
    ]);
  });

  afterAll(() => reality?.remove());

  test.each(MUTANTS.map(({ fault }, i) => [fault, i + 1] as const))(
    'if something %s',
    async (_, judge) => {
      const passed = [...reality.placed.keys()].filter(
        (place) =>
          verdicts[place]?.[0]?.was !== 'allow' && verdicts[place]?.[judge]?.was === 'allow',
      );
      const effects = await reality.run(passed.slice(0, RUN_MAX));
      const reached = [...effects.values()].flatMap((seen) => reachedOf(seen, company));
      expect(
        reached,
        JSON.stringify(passed.map((place) => reality.placed[place]?.call)),
      ).not.toEqual([]);
    },
  );
});
