import { expect, test } from 'vitest';
import { skewOf } from '../../../../../tests/support/models/write-skew.ts';
import { Clinic } from '../../../tests/support/domains/udt-clinic.ts';
import { udt } from './index.ts';

const AT = '2026-03-26T16:00:00.000000Z';
const params = { patient: 'david' };

/** On 26 March: a covered test of the 23rd, and two samples of the day without results. */
async function clinicOfThe26th(): Promise<Clinic> {
  const clinic = await Clinic.open();
  await clinic.done('enroll', 'david', { program_phase: 'maintenance', enrolled_at: '2025-12-01' });
  await clinic.sample('david', 'd1', { type: 'definitive', day: '2026-03-23', result: 'negative' });
  await clinic.done('submit_claim', 'david', {
    claim: 'c1',
    test: 'd1',
    date: '2026-03-23',
    tier: '90+',
  });
  await clinic.sample('david', 'p1', { type: 'presumptive', day: '2026-03-26' });
  await clinic.sample('david', 'd2', { type: 'definitive', day: '2026-03-26' });
  return clinic;
}

test('Clinical’s relapse and Billing’s claim are each valid, but not together', async () => {
  const { state } = await clinicOfThe26th();
  const clinical = {
    role: { name: 'Clinical', params },
    decide: (slice: any) =>
      slice.tests.david.p1.result === undefined
        ? { action: 'record_result', args: { test: 'p1', result: 'positive' } }
        : undefined,
  };
  const billing = {
    role: { name: 'Billing', params },
    // Its slice has one claim in 90 days and no relapse.
    decide: (slice: any) => ({
      action: 'submit_claim',
      args: {
        claim: 'c2',
        test: 'd2',
        date: '2026-03-26',
        tier: Object.values<any>(slice.claims.david)[0].tier,
      },
    }),
  };
  expect(skewOf(udt, state, AT, [clinical, billing])).toEqual({
    alone: [[], []],
    // A claim recorded before the result is checked against the earlier record.
    withoutKernel: [['CLAIM_TIER_CURRENT'], []],
    withKernel: [
      ['approved', 'CLAIM_TIER_CURRENT'],
      ['approved', 'approved'],
    ],
    broken: [],
  });
});

test('two concurrent billers both claim the one remaining test', async () => {
  const clinic = await clinicOfThe26th();
  await clinic.done('record_result', 'david', { test: 'p1', result: 'positive' });
  await clinic.sample('david', 'd3', { type: 'definitive', day: '2026-03-30' });
  await clinic.sample('david', 'd4', { type: 'definitive', day: '2026-03-30' });
  const biller = (test: string) => ({
    role: { name: 'Billing', params },
    decide: (slice: any) =>
      Object.keys(slice.claims.david).length === 1
        ? {
            action: 'submit_claim',
            args: { claim: `of-${test}`, test, date: '2026-03-30', tier: '0-30' },
          }
        : undefined,
  });
  const skew = skewOf(udt, clinic.state, '2026-03-30T16:00:00.000000Z', [
    biller('d3'),
    biller('d4'),
  ]);
  expect(skew).toEqual({
    alone: [[], []],
    withoutKernel: [['DEFINITIVE_WINDOW'], ['DEFINITIVE_WINDOW']],
    withKernel: [
      ['approved', 'DEFINITIVE_WINDOW'],
      ['approved', 'DEFINITIVE_WINDOW'],
    ],
    broken: [],
  });
});
