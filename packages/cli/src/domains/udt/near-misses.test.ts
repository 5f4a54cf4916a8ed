/**
 * David's scenario (Agentic Redux §3.1) with one circumstance changed at a time: the refused claims
 * for the second definitive test, the refusing rule, and the accepted claims.
 */
import { expect, test } from 'vitest';
import { Clinic, type SampleOptions } from '../../../tests/support/domains/udt-clinic.ts';
import type { Tier } from './schema.ts';

interface Story {
  readonly enrolled?: string;
  /** The first definitive test, negative and claimed in the tier of its day. Null: no test. */
  readonly first?: { readonly day: string; readonly tier: Tier } | null;
  /** The presumptive test, its result, and whether it is known before the claim. */
  readonly presumptive?:
    | { readonly day: string; readonly result: 'positive' | 'negative' }
    | 'late'
    | null;
  /** The second definitive test. */
  readonly second?: string;
}

const DAVID = {
  enrolled: '2025-12-01',
  first: { day: '2026-03-23', tier: '90+' },
  presumptive: { day: '2026-03-26', result: 'positive' },
  second: '2026-03-26',
} as const;

const COVERED = 'committed';
const STALE = 'CLAIM_TIER_CURRENT';
const FULL = 'DEFINITIVE_WINDOW';

type SampleOf = Omit<SampleOptions, 'result'> & {
  readonly test: string;
  readonly result?: 'positive' | 'negative';
};

/** The result of the claim in each tier. */
type Claims = Readonly<Partial<Record<Tier, string>>>;

const table: readonly (readonly [what: string, story: Story, claims: Claims])[] = [
  ['as it was', {}, { '90+': STALE, '31-89': STALE, '0-30': FULL }],
  [
    'the presumptive test is negative',
    { presumptive: { day: '2026-03-26', result: 'negative' } },
    { '0-30': STALE, '90+': COVERED },
  ],
  ['there is no presumptive test', { presumptive: null }, { '0-30': STALE, '90+': COVERED }],
  [
    'its result is not there when the claim is made',
    { presumptive: 'late' },
    { '0-30': STALE, '90+': COVERED },
  ],
  [
    'it is of the day after: the tier of the 26th is as it was',
    { presumptive: { day: '2026-03-27', result: 'positive' } },
    { '0-30': STALE, '90+': COVERED },
  ],
  [
    'it is of the day before',
    { presumptive: { day: '2026-03-25', result: 'positive' } },
    { '90+': STALE, '0-30': FULL },
  ],
  [
    'it is of the day of the first test, whose claim stands',
    { presumptive: { day: '2026-03-23', result: 'positive' } },
    { '90+': STALE, '0-30': FULL },
  ],
  ['nothing was covered before', { first: null }, { '90+': STALE, '0-30': COVERED }],

  ['day 6 after the covered test', { second: '2026-03-29' }, { '90+': STALE, '0-30': FULL }],
  ['day 7 after it', { second: '2026-03-30' }, { '90+': STALE, '0-30': COVERED }],
  [
    'the first test six days before the relapse',
    { first: { day: '2026-03-20', tier: '90+' } },
    { '0-30': FULL },
  ],
  [
    'the first test seven days before it',
    { first: { day: '2026-03-19', tier: '90+' } },
    { '0-30': COVERED },
  ],

  ['day 30 after the relapse', { second: '2026-04-25' }, { '31-89': STALE, '0-30': COVERED }],
  ['day 31 after it', { second: '2026-04-26' }, { '0-30': STALE, '31-89': COVERED }],
  ['day 89 after it', { second: '2026-06-23' }, { '90+': STALE, '31-89': COVERED }],
  ['day 90 after it', { second: '2026-06-24' }, { '31-89': STALE, '90+': COVERED }],

  [
    'no relapse, day 30 after enrolment',
    { enrolled: '2026-02-24', first: { day: '2026-03-02', tier: '0-30' }, presumptive: null },
    { '31-89': STALE, '0-30': COVERED },
  ],
  [
    'no relapse, day 31 after enrolment',
    { enrolled: '2026-02-23', first: { day: '2026-03-02', tier: '0-30' }, presumptive: null },
    { '0-30': STALE, '31-89': COVERED },
  ],
  [
    'no relapse, day 89 after enrolment',
    { enrolled: '2025-12-27', first: { day: '2026-03-23', tier: '31-89' }, presumptive: null },
    { '90+': STALE, '31-89': COVERED },
  ],
  [
    'no relapse, day 90 after enrolment',
    { enrolled: '2025-12-26', first: { day: '2026-03-23', tier: '31-89' }, presumptive: null },
    { '31-89': STALE, '90+': COVERED },
  ],
];

test.each(table)('%s', async (_, changed, claims) => {
  const { enrolled, first, presumptive, second } = { ...DAVID, ...changed };
  const clinic = await Clinic.open();
  clinic.on(enrolled);
  await clinic.done('enroll', 'david', { program_phase: 'maintenance', enrolled_at: enrolled });
  const presumed = presumptive === 'late' ? { day: second, result: undefined } : presumptive;
  // In the order of the days; on one day in this order.
  const samples = [
    ...(first === null
      ? []
      : [{ test: 'd1', type: 'definitive', day: first.day, result: 'negative' } as const]),
    ...(presumed === null ? [] : [{ test: 'p1', type: 'presumptive', ...presumed } as const]),
    { test: 'd2', type: 'definitive', day: second } as const,
  ].sort((a, b) => Number(a.day > b.day) - Number(a.day < b.day));
  for (const { test: id, type, day, result } of samples as readonly SampleOf[]) {
    await clinic.sample('david', id, { type, day, ...(result === undefined ? {} : { result }) });
    if (id === 'd1' && first !== null)
      await clinic.done('submit_claim', 'david', {
        claim: 'c1',
        test: 'd1',
        date: day,
        tier: first.tier,
      });
  }
  const rulings: Partial<Record<Tier, string>> = {};
  for (const tier of Object.keys(claims) as Tier[]) {
    const ruling = await clinic.propose('submit_claim', 'david', {
      claim: 'c2',
      test: 'd2',
      date: second,
      tier,
    });
    rulings[tier] =
      ruling.ruling === 'rejected' ? (ruling.invariantId ?? ruling.detail) : ruling.ruling;
  }
  expect(rulings).toEqual(claims);
});
