import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CEILINGS } from './ceilings.ts';
import type { Effects } from './effects.ts';
import { type Everyday, everydayCalls } from './everyday.ts';
import { Reality } from './reality.ts';
import { RULE_SETS } from './rule-sets.ts';
import { whyNoSandbox } from './runner.ts';
import { countsOf, effectsToSee, type Finding, findingsOf, tableOf } from './verdicts.ts';
import { SEED, waysRound } from './ways.ts';

// Rules are compared with what happens: each call that rules let through runs in a sandbox, and
// each everyday call. A call that reached what the rules deny or ask about is a fault. An everyday
// call that was asked about, and reached nothing, is needless.

const why = whyNoSandbox();
const title = why === undefined ? 'calls that ran' : 'calls that ran (absent without bubblewrap)';

describe.skipIf(why !== undefined)(title, () => {
  const everyday = everydayCalls();
  const ways = waysRound();
  let reality: Reality;
  let effects: ReadonlyMap<number, Effects>;
  let findings: ReadonlyMap<string, readonly Finding[]>;

  beforeAll(async () => {
    reality = new Reality([...ways, ...everyday]);
    const verdicts = await reality.judge(RULE_SETS.map(({ text }) => ({ rules: text })));
    effects = await reality.run(effectsToSee(reality, verdicts));
    findings = findingsOf(reality, RULE_SETS, verdicts, effects);
  });

  afterAll(() => reality?.remove());

  test.each(RULE_SETS.map(({ name }) => name))('keep to the ceilings under %s', (name) => {
    const own = findings.get(name) ?? [];
    console.log(tableOf(name, own));
    const counts = countsOf(own);
    const ceilings = CEILINGS[name] ?? { fault: {}, needless: {} };
    for (const kind of ['fault', 'needless'] as const)
      for (const [family, count] of Object.entries(counts[kind]))
        expect(count, `${kind} in ${family}`).toBeLessThanOrEqual(ceilings[kind][family] ?? 0);
  });

  test('everyday calls do what is written beside them', () => {
    const wrong = reality.placed.flatMap(({ at }, place) => {
      const seen = effects.get(place);
      if (at.everyday !== true || seen === undefined || seen.exit === 'SIGKILL') return [];
      return isExpected((at as Everyday).expect, seen) ? [] : [[at.call, seen]];
    });
    expect(wrong).toEqual([]);
  });
});

test('there are a thousand ways round, others with another seed', () => {
  const ways = waysRound().map((each) => JSON.stringify(each));
  expect(new Set(ways).size).toBeGreaterThan(1_900);
  const others = new Set(waysRound(SEED + 1).map((each) => JSON.stringify(each)));
  expect(ways.filter((each) => !others.has(each)).length).toBeGreaterThan(200);
});

/** Whether the effects are those of the kind. Git keeps its own files in order as it reads. */
function isExpected(expect: Everyday['expect'], { changed, sent, pushed, ran }: Effects): boolean {
  if (ran.length > 0) return false;
  if (expect === 'network') return true;
  if (sent.length > 0 || pushed.length > 0) return false;
  const own = changed.filter((place) => !/^h2\/proj\/\.git(?:\/|$)/.test(place));
  if (expect === 'edits' || expect === 'tests' || expect === 'git')
    return own.every((place) => place.startsWith('h2/proj/'));
  return own.length === 0;
}
