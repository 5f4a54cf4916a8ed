/**
 * A walk over the life of one patient (Agentic Redux §2.3), compared with an independent
 * implementation of the policy.
 */

import {
  domainWithout,
  type LifeCycle,
  type LifeCycleProposal,
  type LifeCycleStep,
  walkLifeCycle,
} from '@assize/testing/internal';
import { expect, test } from 'vitest';
import { udt, udtInitial } from './index.ts';
import type { Tier, UdtState } from './schema.ts';

const P = 'david';
const DAYS = ['2026-03-26', '2026-03-30'];
const TIERS: readonly Tier[] = ['0-30', '31-89', '90+'];

/** In the 90+ day tier, with a covered test of 23 March. */
const INITIAL: UdtState = {
  ...udtInitial(),
  events: { [P]: 3 },
  patients: {
    [P]: {
      program_phase: 'maintenance',
      enrolled_at: '2025-12-01',
      last_positive: null,
      as_of: '2026-03-23',
      consecutive_days: 112,
      tier: '90+',
    },
  },
  orders: { [P]: { d1: { type: 'definitive', rationale: 'monitoring' } } },
  tests: {
    [P]: { d1: { type: 'definitive', collected_at: '2026-03-23', n: 2, result: 'negative' } },
  },
  claims: { [P]: { c1: { test: 'd1', date: '2026-03-23', n: 3, tier: '90+' } } },
};

function proposals({ claims, relapses }: UdtState, at: string): LifeCycleProposal[] {
  const next = `c${Object.keys(claims[P] ?? {}).length + 1}`;
  const response = `r${Object.keys(relapses[P] ?? {}).length}`;
  const today = at.slice(0, 10);
  const role = (name: string) => ({ name, params: { patient: P } });
  const by = (
    name: string,
    action: string,
    args: LifeCycleProposal['args'],
    when = at,
  ): LifeCycleProposal => ({
    ...{ action, args, at: when },
    role: role(name),
  });
  return [
    ...DAYS.map((day) =>
      by(
        'Clinical',
        'track_tier',
        { as_of: day, tier: day < today ? '90+' : '0-30' },
        `${day}T16:00:00.000000Z`,
      ),
    ),
    by('LabOrder', 'order_test', { order: 'p1', type: 'presumptive', rationale: 'monitoring' }),
    by('LabOrder', 'order_test', {
      order: 'd2',
      type: 'definitive',
      rationale: 'confirm',
      confirms: 'p1',
    }),
    by('LabOrder', 'order_test', {
      order: 'd2',
      type: 'presumptive',
      rationale: 'confirm',
      confirms: 'p1',
    }),
    by('LabOrder', 'order_test', { order: 'd3', type: 'definitive', rationale: ' ' }),
    ...['p1', 'd2'].map((test) => by('Clinical', 'collect_sample', { test, collected_at: today })),
    by('Clinical', 'record_result', { test: 'p1', result: 'positive' }),
    by('Clinical', 'record_result', { test: 'p1', result: 'negative' }),
    ...['d1', 'p1', 'd2'].flatMap((test) =>
      TIERS.flatMap((tier) =>
        ['2026-03-23', ...DAYS].map((date) =>
          by('Billing', 'submit_claim', { claim: next, test, date, tier }),
        ),
      ),
    ),
    by('Clinical', 'respond_to_relapse', {
      relapse: response,
      test: 'p1',
      response: 'counselling',
    }),
    by('Clinical', 'set_aside_positive', { relapse: response, test: 'p1', reason: 'poppy seeds' }),
  ];
}

const LIFE: LifeCycle<UdtState> = {
  domain: udt,
  initial: INITIAL,
  at: '2026-03-26T16:00:00.000000Z',
  depth: 9,
  proposals,
  allowed,
  counselors: { md: ['md:okafor'] },
};

/** The permitted effects of each action on David, by Agentic Redux §3.1. */
function allowed(
  before: UdtState,
  { action, args, approvedBy }: LifeCycleStep,
  after: UdtState,
): string | undefined {
  const given = args as Record<string, string>;
  const tests = Object.values(after.tests[P] ?? {});
  const positive = (day: string) => {
    const days = tests.filter(
      (it) => it.result === 'positive' && it.set_aside === undefined && it.collected_at <= day,
    );
    return (
      days
        .map((it) => it.collected_at)
        .sort()
        .at(-1) ?? '2025-12-01'
    );
  };
  const tierOn = (day: string): Tier => {
    const abstinent = (Date.parse(day) - Date.parse(positive(day))) / 86_400_000;
    return abstinent <= 30 ? '0-30' : abstinent <= 89 ? '31-89' : '90+';
  };
  const record = after.patients[P];
  if (record?.tier !== tierOn(record?.as_of ?? ''))
    return 'the tier on record is not that of the tests';
  switch (action) {
    case 'order_test':
      if (given['rationale']?.trim() === '') return 'an order without a reason';
      if (given['confirms'] !== undefined && given['type'] !== 'definitive')
        return 'confirmed by an immunoassay';
      return before.tests[P]?.[given['confirms'] ?? 'd1'] === undefined
        ? 'nothing to confirm'
        : undefined;
    case 'submit_claim': {
      const { test = '', date = '', tier } = given;
      const sample = before.tests[P]?.[test];
      if (sample?.collected_at !== date) return 'a claim for another day than the sample’s';
      if (tier !== tierOn(date)) return 'a claim in another tier than that of the day';
      const earlier = Object.values(before.claims[P] ?? {});
      if (earlier.some((claim) => claim.test === test)) return 'a test claimed twice';
      const isWeek = (day: string) => Date.parse(date) - Date.parse(day) < 7 * 86_400_000;
      const used = earlier.filter(
        (it) => before.tests[P]?.[it.test]?.type === 'definitive' && isWeek(it.date),
      ).length;
      // In 90 days no more than three are ever claimed here.
      return sample.type === 'definitive' && tier === '0-30' && used >= 1
        ? 'a second definitive test in a week'
        : undefined;
    }
    case 'respond_to_relapse':
    case 'set_aside_positive':
      return approvedBy?.startsWith('md:')
        ? undefined
        : 'a response to a relapse that no doctor decided';
    case 'record_result':
      return before.tests[P]?.[given['test'] ?? '']?.result === 'positive'
        ? 'a positive is taken back'
        : undefined;
    default:
      return undefined;
  }
}

test('no step that the policy forbids, to a depth of nine', () => {
  const { counterexample, states, committed, stopped } = walkLifeCycle(LIFE);
  expect(counterexample).toBeUndefined();
  expect(states).toBeGreaterThan(1_000);
  const walked = [
    'collect_sample',
    'order_test',
    'record_result',
    'respond_to_relapse',
    'set_aside_positive',
  ];
  expect(Object.keys(committed).sort()).toEqual([...walked, 'submit_claim', 'track_tier']);
  expect(Object.keys(stopped).sort()).toEqual(udt.rules.map(({ id }) => id).sort());
});

test.each(udt.rules.map(({ id }) => id))('without %s there is one', (id) => {
  const { counterexample } = walkLifeCycle({ ...LIFE, domain: domainWithout(udt, id) });
  expect(counterexample?.why).toEqual(expect.any(String));
});
