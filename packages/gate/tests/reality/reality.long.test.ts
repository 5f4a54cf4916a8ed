import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingForSandbox } from '../../../../tests/support/sandbox-runtime.ts';
import { spread } from '../../../../tests/support/some-of.ts';
import { seededNumbers } from '../../../testing/src/faults.ts';
import type { Effects } from './effects.ts';
import { everydayCalls } from './everyday.ts';
import { type Placed, Reality } from './reality.ts';
import { RULE_SETS, type RuleSet, SANDBOXED_SETS } from './rule-sets.ts';
import { whyNoSandbox } from './runner.ts';
import { findingsInside, reachedOf, tableOf } from './verdicts.ts';
import { waysRound } from './ways.ts';

/** The test runs this many ways in the sandbox, evenly spread: each takes over 100 ms. */
const WALLED = 400;
const missing = missingForSandbox();

// Every way round runs, whatever the rules say to it: with nothing in its way, and in the sandbox
// of the rules.

const why = whyNoSandbox();
const title = why === undefined ? 'every way round' : 'every way round (absent without bubblewrap)';
const company = RULE_SETS.find(({ name }) => name === 'company') as RuleSet;

describe.skipIf(why !== undefined)(title, () => {
  let reality: Reality;
  const reaching = (effects: ReadonlyMap<number, Effects>): readonly number[] =>
    [...effects].filter(([, seen]) => reachedOf(seen, company).length > 0).map(([place]) => place);

  beforeAll(() => {
    reality = new Reality(waysRound());
  });

  afterAll(() => reality?.remove());

  test('nine of ten reach what rules stop, with nothing in their way', async () => {
    const effects = await reality.run([...reality.placed.keys()]);
    expect(reaching(effects).length).toBeGreaterThan(0.9 * reality.placed.length);
  });
});

const walled = `in the sandbox of its rules${missing.length > 0 ? ` (absent without ${missing.join(', ')})` : ''}`;

describe.skipIf(why !== undefined || missing.length > 0)(walled, () => {
  let reality: Reality;

  beforeAll(() => {
    const commands = waysRound().filter(
      ({ call, writes }) => call.tool === 'Bash' && writes === undefined,
    );
    const next = seededNumbers(Number(process.env['ASSIZE_SEED'] ?? 0));
    reality = new Reality(spread(commands, WALLED, next));
  });

  afterAll(() => reality?.remove());

  test('no way reaches what the rules stop, but copies that Git has', async () => {
    const effects = await reality.run([...reality.placed.keys()], company.text);
    const reached = [...effects].flatMap(([place, seen]) => {
      const { at, call } = reality.placed[place] as Placed;
      const what = reachedOf(seen, company).filter(
        (each) => !(KEPT_BY_GIT.test(at.past ?? '') && each === 'secret:env'),
      );
      return what.length > 0 ? [[call, what]] : [];
    });
    expect(reached).toEqual([]);
  });

  test.each(SANDBOXED_SETS)('$name: few questions, and no way round through them', async (set) => {
    const everyday = new Reality(everydayCalls());
    try {
      const asked = await findingsInside(everyday, set, (_, { was }) => was !== 'allow');
      const through = await findingsInside(reality, set);
      console.log(tableOf(set.name, [...asked, ...through]));
      expect(asked.length).toBeLessThanOrEqual(NEEDLESS * everyday.placed.length);
      expect(through).toEqual([]);
    } finally {
      everyday.remove();
    }
  });
});

/** The share of everyday calls that may be asked about without need. */
const NEEDLESS = 0.05;

/** Git keeps copies of files in its own folder, where programs may read them. */
const KEPT_BY_GIT = /^(?:staged|committed|stashed)$/;
