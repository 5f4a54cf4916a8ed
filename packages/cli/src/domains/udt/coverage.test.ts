import type { Ruling } from 'assize';
import { describe, expect, test } from 'vitest';
import { Clinic } from '../../../tests/support/domains/udt-clinic.ts';
import { addDays } from './days.ts';
import { udtInitial } from './initial.ts';
import type { Tier, UdtState } from './schema.ts';

// Days are counted from enrolment, day 0. A claim is for the test of its day, the
// definitive one if there are two, and expects a ruling: `ok`, or the invariant that refuses it.
type Sample = 'presumptive' | 'presumptive+' | 'definitive' | 'definitive+' | 'definitive-';
type Step =
  | readonly [day: number, sample: Sample]
  | readonly [day: number, 'claim', tier: Tier, expected: string];

const ENROLLED = '2026-01-01';
const P = 'dana';

async function live(steps: readonly Step[], initial: UdtState = udtInitial()): Promise<string[]> {
  const clinic = await Clinic.open({ initial });
  clinic.on(ENROLLED);
  await clinic.done('enroll', P, { program_phase: 'intake', enrolled_at: ENROLLED });
  const rulings: string[] = [];
  const testOf = new Map<number, string>();
  let today = 0;
  for (const [index, [day, what, tier]] of steps.entries()) {
    // The clock never goes back, even if a step names an earlier day.
    today = Math.max(today, day);
    clinic.on(addDays(ENROLLED, today));
    const date = addDays(ENROLLED, day);
    if (what === 'claim') {
      const claim = { claim: `c${index}`, test: testOf.get(day) ?? 'none', date, tier };
      rulings.push(wordOf(await clinic.propose('submit_claim', P, claim)));
    } else {
      const id = `t${index}`;
      await collect(clinic, id, date, what);
      if (what.startsWith('definitive') || !testOf.has(day)) testOf.set(day, id);
    }
  }
  return rulings;
}

async function collect(clinic: Clinic, id: string, date: string, sample: Sample): Promise<void> {
  const type = sample.startsWith('definitive') ? 'definitive' : 'presumptive';
  await clinic.done('order_test', P, { order: id, type, rationale: 'monitoring' });
  await clinic.done('collect_sample', P, { test: id, collected_at: date });
  if (sample.endsWith('+')) await clinic.done('record_result', P, { test: id, result: 'positive' });
  if (sample.endsWith('-')) await clinic.done('record_result', P, { test: id, result: 'negative' });
}

function wordOf(ruling: Ruling): string {
  if (ruling.ruling === 'committed') return 'ok';
  return ruling.ruling === 'rejected' ? (ruling.invariantId ?? ruling.detail) : ruling.ruling;
}

const cases: readonly (readonly [name: string, steps: readonly Step[]])[] = [
  [
    '0-30: the sixth day after a covered test is refused, the seventh is covered',
    [
      [1, 'definitive'],
      [1, 'claim', '0-30', 'ok'],
      [7, 'definitive'],
      [7, 'claim', '0-30', 'DEFINITIVE_WINDOW'],
      [8, 'definitive'],
      [8, 'claim', '0-30', 'ok'],
    ],
  ],
  [
    'a test that was not covered does not use up a window',
    [
      [1, 'definitive'],
      [1, 'claim', '0-30', 'ok'],
      [5, 'definitive'],
      [5, 'claim', '0-30', 'DEFINITIVE_WINDOW'],
      [6, 'definitive'],
      // Neither the refused claim of day 5 nor the unclaimed test of day 6 affects day 8.
      [8, 'definitive'],
      [8, 'claim', '0-30', 'ok'],
    ],
  ],
  [
    'two tests on one day are two tests',
    [
      [1, 'definitive'],
      [1, 'claim', '0-30', 'ok'],
      [1, 'definitive'],
      [1, 'claim', '0-30', 'DEFINITIVE_WINDOW'],
    ],
  ],
  [
    'day 30 is 0-30, day 31 is 31-89',
    [
      [30, 'definitive'],
      [30, 'claim', '31-89', 'CLAIM_TIER_CURRENT'],
      [30, 'claim', '0-30', 'ok'],
      [31, 'definitive'],
      [31, 'claim', '0-30', 'CLAIM_TIER_CURRENT'],
      [31, 'claim', '31-89', 'ok'],
    ],
  ],
  [
    'day 89 is 31-89, day 90 is 90+',
    [
      [89, 'definitive'],
      [89, 'claim', '90+', 'CLAIM_TIER_CURRENT'],
      [89, 'claim', '31-89', 'ok'],
      [90, 'definitive'],
      [90, 'claim', '31-89', 'CLAIM_TIER_CURRENT'],
      [90, 'claim', '90+', 'ok'],
    ],
  ],
  [
    'the same borders after a positive test',
    [
      [10, 'presumptive+'],
      [40, 'definitive'],
      [40, 'claim', '0-30', 'ok'],
      [41, 'definitive'],
      [41, 'claim', '0-30', 'CLAIM_TIER_CURRENT'],
      [41, 'claim', '31-89', 'ok'],
    ],
  ],
  [
    'and the upper ones',
    [
      [10, 'presumptive+'],
      [99, 'definitive'],
      [99, 'claim', '31-89', 'ok'],
      [100, 'definitive'],
      [100, 'claim', '31-89', 'CLAIM_TIER_CURRENT'],
      [100, 'claim', '90+', 'ok'],
    ],
  ],
  [
    '31-89: three in 30 days; the first leaves the window on the 30th day after it',
    [
      [35, 'definitive'],
      [35, 'claim', '31-89', 'ok'],
      [36, 'definitive'],
      [36, 'claim', '31-89', 'ok'],
      [40, 'definitive'],
      [40, 'claim', '31-89', 'ok'],
      [64, 'definitive'],
      [64, 'claim', '31-89', 'DEFINITIVE_WINDOW'],
      [65, 'definitive'],
      [65, 'claim', '31-89', 'ok'],
    ],
  ],
  [
    '90+: three in 90 days; the first leaves the window on the 90th day after it',
    [
      [100, 'definitive'],
      [100, 'claim', '90+', 'ok'],
      [101, 'definitive'],
      [101, 'claim', '90+', 'ok'],
      [102, 'definitive'],
      [102, 'claim', '90+', 'ok'],
      [189, 'definitive'],
      [189, 'claim', '90+', 'DEFINITIVE_WINDOW'],
      [190, 'definitive'],
      [190, 'claim', '90+', 'ok'],
    ],
  ],
  [
    'what another tier covered counts in the window of this one',
    [
      [30, 'definitive'],
      [30, 'claim', '0-30', 'ok'],
      [31, 'definitive'],
      [31, 'claim', '31-89', 'ok'],
      [32, 'definitive'],
      [32, 'claim', '31-89', 'ok'],
      [33, 'definitive'],
      [33, 'claim', '31-89', 'DEFINITIVE_WINDOW'],
    ],
  ],
  [
    'a positive resets the tier on its own day, whichever sample came first',
    [
      [100, 'definitive'],
      [100, 'presumptive+'],
      [100, 'claim', '90+', 'CLAIM_TIER_CURRENT'],
      [100, 'claim', '0-30', 'ok'],
    ],
  ],
  [
    'a positive of the day after does not',
    [
      [100, 'definitive'],
      [101, 'presumptive+'],
      [100, 'claim', '0-30', 'CLAIM_TIER_CURRENT'],
      [100, 'claim', '90+', 'ok'],
    ],
  ],
  [
    'a definitive test that is positive itself resets the tier too',
    [
      [100, 'definitive+'],
      [100, 'claim', '90+', 'CLAIM_TIER_CURRENT'],
      [100, 'claim', '0-30', 'ok'],
    ],
  ],
  [
    'a negative definitive test does not restore the tier that an unconfirmed positive reset',
    [
      [100, 'presumptive+'],
      [101, 'definitive-'],
      [101, 'claim', '90+', 'CLAIM_TIER_CURRENT'],
      [101, 'claim', '0-30', 'ok'],
    ],
  ],
  [
    'presumptive tests have no window of their own and use up none',
    [
      [1, 'definitive'],
      [1, 'claim', '0-30', 'ok'],
      [2, 'presumptive'],
      [2, 'claim', '0-30', 'ok'],
      [3, 'presumptive'],
      [3, 'claim', '0-30', 'ok'],
      [8, 'definitive'],
      [8, 'claim', '0-30', 'ok'],
    ],
  ],
  [
    'claims in reverse order of days: a window of seven days holds one',
    [
      [1, 'definitive'],
      [5, 'definitive'],
      [8, 'definitive'],
      [8, 'claim', '0-30', 'ok'],
      [5, 'claim', '0-30', 'DEFINITIVE_WINDOW'],
      [1, 'claim', '0-30', 'ok'],
    ],
  ],
  [
    'a claim for an earlier day, in a tier with room, is in the window of a later one',
    [
      [97, 'definitive'],
      [98, 'definitive'],
      [100, 'presumptive+'],
      [104, 'definitive'],
      [104, 'claim', '0-30', 'ok'],
      [98, 'claim', '90+', 'DEFINITIVE_WINDOW'],
      [97, 'claim', '90+', 'ok'],
    ],
  ],
  [
    '90+ in reverse order: three in 90 days',
    [
      [99, 'definitive'],
      [100, 'definitive'],
      [101, 'definitive'],
      [150, 'definitive'],
      [189, 'definitive'],
      [189, 'claim', '90+', 'ok'],
      [150, 'claim', '90+', 'ok'],
      [101, 'claim', '90+', 'ok'],
      [100, 'claim', '90+', 'DEFINITIVE_WINDOW'],
      [99, 'claim', '90+', 'ok'],
    ],
  ],
  [
    'a test is claimed once',
    [
      [1, 'definitive'],
      [1, 'claim', '0-30', 'ok'],
      [1, 'claim', '0-30', 'ONE_CLAIM_PER_TEST'],
      [2, 'presumptive'],
      [2, 'claim', '0-30', 'ok'],
      [2, 'claim', '0-30', 'ONE_CLAIM_PER_TEST'],
    ],
  ],
  [
    'no positive ever: days count from enrolment',
    [
      [0, 'definitive'],
      [0, 'claim', '0-30', 'ok'],
      [120, 'definitive'],
      [120, 'claim', '90+', 'ok'],
    ],
  ],
];

describe('which claims are covered', () => {
  for (const [name, steps] of cases) {
    test(name, async () => {
      const expected = steps.flatMap((step) => (step[1] === 'claim' ? [step[3]] : []));
      expect(await live(steps)).toEqual(expected);
    });
  }

  test('the middle tier is a setting', async () => {
    const steps: Step[] = [
      [40, 'definitive'],
      [40, 'claim', '31-89', 'ok'],
      [53, 'definitive'],
      [53, 'claim', '31-89', 'DEFINITIVE_WINDOW'],
      [54, 'definitive'],
      [54, 'claim', '31-89', 'ok'],
    ];
    const rulings = await live(steps, udtInitial({ middle: { tests: 1, days: 14 } }));
    expect(rulings).toEqual(['ok', 'DEFINITIVE_WINDOW', 'ok']);
  });

  test('a limit that the regulation fixes is not a setting', async () => {
    const initial = udtInitial();
    const generous = {
      ...initial,
      coverage: { ...initial.coverage, '0-30': { tests: 7, days: 7 } },
    };
    await expect(Clinic.open({ initial: generous })).rejects.toMatchObject({
      code: 'invalid_state',
    });
  });
});

describe('late results', () => {
  test('a late positive judges no older claim again, but every later one', async () => {
    const clinic = await Clinic.open();
    await clinic.done('enroll', P, { program_phase: 'maintenance', enrolled_at: '2025-12-01' });
    await clinic.sample(P, 'early', { type: 'presumptive', day: '2026-03-20' });
    await clinic.sample(P, 'd1', { type: 'definitive', day: '2026-03-22', result: 'negative' });
    await clinic.sample(P, 'd2', { type: 'definitive', day: '2026-03-23', result: 'negative' });
    const first = { claim: 'c1', test: 'd1', date: '2026-03-22' } as const;
    const second = { claim: 'c2', test: 'd2', date: '2026-03-23' } as const;
    await clinic.done('submit_claim', P, { ...first, tier: '90+' });

    clinic.on('2026-03-25');
    await clinic.done('record_result', P, { test: 'early', result: 'positive' });
    expect(clinic.state.patients[P]).toMatchObject({
      last_positive: '2026-03-20',
      consecutive_days: 3,
      tier: '0-30',
    });
    expect(clinic.state.claims[P]?.['c1']).toMatchObject({ tier: '90+' });
    expect(await clinic.propose('submit_claim', P, { ...second, tier: '90+' })).toMatchObject({
      invariantId: 'CLAIM_TIER_CURRENT',
    });
    expect(await clinic.propose('submit_claim', P, { ...second, tier: '0-30' })).toMatchObject({
      invariantId: 'DEFINITIVE_WINDOW',
    });
  });

  test('a result that arrives out of order moves the last positive only forward', async () => {
    const clinic = await Clinic.open();
    await clinic.done('enroll', P, { program_phase: 'maintenance', enrolled_at: '2025-12-01' });
    await clinic.sample(P, 'first', { type: 'presumptive', day: '2026-03-02' });
    await clinic.sample(P, 'second', {
      type: 'presumptive',
      day: '2026-03-10',
      result: 'positive',
    });
    await clinic.done('record_result', P, { test: 'first', result: 'positive' });
    expect(clinic.state.patients[P]).toMatchObject({
      last_positive: '2026-03-10',
      as_of: '2026-03-10',
    });
  });

  test('a claim is adjudicated without its test’s result if there is none yet', async () => {
    const clinic = await Clinic.open();
    await clinic.done('enroll', P, { program_phase: 'maintenance', enrolled_at: '2025-12-01' });
    await clinic.sample(P, 'd1', { type: 'definitive', day: '2026-03-20' });
    await clinic.done('submit_claim', P, {
      claim: 'c1',
      test: 'd1',
      date: '2026-03-20',
      tier: '90+',
    });
    await clinic.done('record_result', P, { test: 'd1', result: 'positive' });
    expect(clinic.state.patients[P]).toMatchObject({ tier: '0-30' });
  });
});
