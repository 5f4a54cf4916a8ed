/**
 * Generated runs: a hidden rule is found, a walk that counts call by call agrees, and runs without
 * a rule give almost none.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../../tests/support/cases.ts';
import {
  HIDDEN,
  randomFrom,
  randomRuns,
  runsUnder,
} from '../../tests/support/mining/generated-runs.ts';
import { naiveCount } from '../../tests/support/mining/naive-count.ts';
import { judgeRule, type MinedRule, type MiningRun, mine } from './index.ts';

describe('a hidden rule', () => {
  test.each(HIDDEN.map((hidden) => [hidden.rule.kind, hidden] as const))(
    '%s is found despite noise',
    (_, hidden) => {
      for (let seed = 0; seed < 20; seed++) {
        const found = mine(runsUnder(hidden, seed, 300, 0.02), { exceptions: 0.1 });
        expect(found.map(({ rule }) => rule)).toContainEqual(closeTo(hidden.rule));
      }
    },
  );

  test.each(HIDDEN.map((hidden) => [hidden.rule.kind, hidden] as const))(
    '%s is not found where half break it',
    (_, hidden) => {
      for (let seed = 0; seed < 5; seed++) {
        const found = mine(runsUnder(hidden, seed, 120, 0.5));
        expect(found.map(({ rule }) => rule)).not.toContainEqual(closeTo(hidden.rule));
      }
    },
  );
});

/** A rule with the numbers that runs can show: a maximum is at most the hidden one. */
function closeTo(rule: MinedRule): unknown {
  if (rule.kind === 'bound')
    return { ...rule, max: expect.closeTo(rule.max, -Math.log10(rule.max / 10)) };
  if (rule.kind === 'approval')
    return { ...rule, from: { ...rule.from, min: expect.closeTo(1_000, -2.3) } };
  return rule;
}

test('a naive walk counts the same support and counter-examples', () => {
  const kinds = new Set<string>();
  fc.assert(
    fc.property(
      fc.nat(),
      fc.constantFrom(...HIDDEN),
      fc.integer({ min: 10, max: 60 }),
      (seed, hidden, count) => {
        const runs = runsUnder(hidden, seed, count, 0.1);
        const found = mine(runs, { exceptions: 0.2, chance: 0.5, minSupport: 2 });
        for (const candidate of found) {
          const naive = naiveCount(candidate.rule, runs);
          expect(candidate).toMatchObject({
            support: naive.support,
            counter_example_count: naive.broken.length,
          });
          expect(candidate.counter_examples.map(({ run, call }) => `${run} ${call}`)).toEqual(
            naive.broken.slice(0, 20),
          );
          expect(candidate.confidence).toBeCloseTo(1 - naive.broken.length / naive.support.calls);
          kinds.add(candidate.kind);
        }
      },
    ),
    { numRuns: cases(400) },
  );
  expect(kinds.size).toBeGreaterThan(3);
});

test('any rule is counted alike in any runs', () => {
  fc.assert(
    fc.property(fc.nat(), fc.constantFrom(...HIDDEN), (seed, { rule }) => {
      const runs = randomRuns(seed, 30);
      const judged = judgeRule(rule, runs);
      const naive = naiveCount(rule, runs);
      expect([judged.support, judged.counter_example_count]).toEqual([
        naive.support,
        naive.broken.length,
      ]);
    }),
    { numRuns: cases(400) },
  );
});

test('runs without a rule give almost no rule', () => {
  const found = Array.from({ length: 60 }, (_, seed) => mine(randomRuns(seed, 80)));
  // Each set of runs gives a rule with a probability of at most 0.05. More than 8 sets of 60 do so
  // with a probability below 0.5 %.
  expect(found.filter((rules) => rules.length > 0).length).toBeLessThanOrEqual(8);
});

test('bell-shaped amounts without a limit have no maximum in nearly all cases', () => {
  const bells = (seed: number): MiningRun[] => {
    const random = randomFrom(seed);
    const bell = (): number =>
      Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    return Array.from({ length: 200 }, (_, run) => ({
      id: `run-${run}`,
      calls: [
        {
          tool: 'bank/pay',
          args: { cents: Math.max(1, Math.round(5_000 + 1_500 * bell())) },
          ruling: 'committed',
        },
      ],
    }));
  };
  const found = Array.from({ length: 60 }, (_, seed) => mine(bells(seed), { kinds: ['bound'] }));
  expect(found.filter((rules) => rules.length > 0).length).toBeLessThanOrEqual(8);
});

test('rules of one half of the runs hold in the other half', () => {
  let calls = 0;
  let broken = 0;
  for (const [seed, hidden] of HIDDEN.entries()) {
    const runs = runsUnder(hidden, seed, 240, 0);
    for (const { rule } of mine(runs.slice(0, 120))) {
      const later = judgeRule(rule, runs.slice(120));
      calls += later.support.calls;
      broken += later.counter_example_count;
    }
  }
  expect(calls).toBeGreaterThan(1_000);
  expect(broken / calls).toBeLessThan(0.02);
});

test('the order of kinds and a second run change nothing', () => {
  const runs = runsUnder(HIDDEN[4]!, 3, 60, 0);
  const found = mine(runs);
  expect(mine(structuredClone(runs) as MiningRun[])).toEqual(found);
  expect(
    mine(runs, {
      kinds: ['rate', 'ordering', 'apart', 'never', 'approval', 'prefix', 'values', 'bound'],
    }),
  ).toEqual(found);
});

test('names that calls invent in every call do not fill the memory', () => {
  const named = (call: number): Record<string, string> =>
    Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`name-${call}-${i}`, 'same']));
  const runs = Array.from({ length: 50 }, (_, run) => ({
    id: `run-${run}`,
    calls: Array.from({ length: 10 }, (_, i) => ({
      tool: i % 2 === 0 ? 'a/b' : 'c/d',
      args: named(run * 10 + i),
      ruling: 'committed' as const,
    })),
  }));
  const rule = { kind: 'ordering', tool: 'c/d', needs: 'a/b' };
  expect(mine(runs, { kinds: ['ordering'] }).map((found) => found.rule)).toEqual([rule]);
});
