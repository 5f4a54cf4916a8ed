import { describe, expect, test } from 'vitest';
import { watchedDomain } from '../../../../../tests/support/models/watched-domain.ts';
import { Clinic } from '../../../tests/support/domains/udt-clinic.ts';
import { udt } from './index.ts';
import { udtInitial } from './initial.ts';

const P = 'dana';

/** Day 112 of her enrolment, with a presumptive positive `p1`. */
async function afterRelapse(): Promise<Clinic> {
  const clinic = await Clinic.open();
  await clinic.done('enroll', P, { program_phase: 'maintenance', enrolled_at: '2025-12-01' });
  await clinic.sample(P, 'p1', { type: 'presumptive', day: '2026-03-26', result: 'positive' });
  return clinic;
}

test('the invariants stand in the order that decisions.md gives', () => {
  expect(udt.rules.map(({ id }) => id)).toEqual([
    'CONFIRM_BY_DEFINITIVE',
    'RELAPSE_RESPONSE_IS_HUMAN',
    'TIER_DERIVED',
    'CLAIM_TIER_CURRENT',
    'DEFINITIVE_WINDOW',
    'ONE_CLAIM_PER_TEST',
    'ORDER_HAS_RATIONALE',
  ]);
});

describe('orders', () => {
  test('a presumptive test does not confirm a presumptive test', async () => {
    const clinic = await afterRelapse();
    const order = { order: 'x', rationale: 'confirm p1', confirms: 'p1' } as const;
    expect(await clinic.propose('order_test', P, { ...order, type: 'presumptive' })).toMatchObject({
      ruling: 'rejected',
      invariantId: 'CONFIRM_BY_DEFINITIVE',
    });
    expect(await clinic.propose('order_test', P, { ...order, type: 'definitive' })).toMatchObject({
      ruling: 'committed',
    });
  });

  test('a confirmation order names a presumptive test of the same patient', async () => {
    const clinic = await afterRelapse();
    await clinic.done('enroll', 'eli', { program_phase: 'intake', enrolled_at: '2026-03-01' });
    const confirm = (patient: string, confirms: string) =>
      clinic.propose('order_test', patient, {
        order: 'x',
        type: 'definitive',
        rationale: 'confirm',
        confirms,
      });
    expect(await confirm('eli', 'p1')).toMatchObject({ invariantId: 'CONFIRM_BY_DEFINITIVE' });
    expect(await confirm(P, 'p2')).toMatchObject({ invariantId: 'CONFIRM_BY_DEFINITIVE' });
    await clinic.sample(P, 'd1', { type: 'definitive', day: '2026-03-27' });
    expect(await confirm(P, 'd1')).toMatchObject({ invariantId: 'CONFIRM_BY_DEFINITIVE' });
  });

  test('an order says why', async () => {
    const clinic = await afterRelapse();
    for (const rationale of ['', '   ', '\n']) {
      expect(
        await clinic.propose('order_test', P, { order: 'x', type: 'presumptive', rationale }),
      ).toMatchObject({
        ruling: 'rejected',
        invariantId: 'ORDER_HAS_RATIONALE',
      });
    }
  });

  test('are never refused for coverage', async () => {
    const clinic = await afterRelapse();
    for (const order of ['d1', 'd2', 'd3', 'd4']) {
      await clinic.sample(P, order, { type: 'definitive', day: '2026-03-26', result: 'negative' });
    }
    expect(Object.keys(clinic.state.tests[P] ?? {})).toHaveLength(5);
  });
});

describe('the tier', () => {
  test('is derived from the tests, not from the argument of an agent', async () => {
    const clinic = await afterRelapse();
    clinic.on('2026-04-26');
    expect(
      await clinic.propose('track_tier', P, { as_of: '2026-04-26', tier: '90+' }),
    ).toMatchObject({
      ruling: 'rejected',
      invariantId: 'TIER_DERIVED',
    });
    expect(
      await clinic.propose('track_tier', P, { as_of: '2026-04-26', tier: '31-89' }),
    ).toMatchObject({
      ruling: 'committed',
    });
    expect(clinic.state.patients[P]).toMatchObject({ consecutive_days: 31, as_of: '2026-04-26' });
  });

  test('is not tracked back, nor ahead of time', async () => {
    const clinic = await afterRelapse();
    for (const as_of of ['2026-03-25', '2026-03-27']) {
      expect(await clinic.propose('track_tier', P, { as_of, tier: '0-30' })).toMatchObject({
        reason: 'precondition_failed',
      });
    }
  });
});

describe('the response to a relapse', () => {
  const respond = (clinic: Clinic) =>
    clinic.propose('respond_to_relapse', P, {
      relapse: 'r1',
      test: 'p1',
      response: 'residential treatment',
    });

  test('stops this decision and the results it rests on, and nothing else', async () => {
    const clinic = await afterRelapse();
    await clinic.done('enroll', 'eli', { program_phase: 'intake', enrolled_at: '2026-03-01' });
    await clinic.sample(P, 'd1', { type: 'definitive', day: '2026-03-26' });
    await clinic.sample('eli', 'd1', { type: 'definitive', day: '2026-03-26' });
    expect(await respond(clinic)).toMatchObject({ ruling: 'escalated', channel: 'md' });

    await clinic.done('submit_claim', P, {
      claim: 'c1',
      test: 'd1',
      date: '2026-03-26',
      tier: '0-30',
    });
    await clinic.done('record_result', 'eli', { test: 'd1', result: 'negative' });
    const length = clinic.trajectory.length;
    expect(
      await clinic.propose('record_result', P, { test: 'd1', result: 'negative' }),
    ).toMatchObject({
      ruling: 'frozen',
    });
    expect(clinic.trajectory.length).toBe(length);
  });

  test('can be refused by the doctor, and then nothing is recorded as decided', async () => {
    const clinic = await afterRelapse();
    const ruling = await respond(clinic);
    if (ruling.ruling !== 'escalated') throw new Error('it must wait for a doctor');
    const refusal = { principal: 'md:okafor', method: 'test', reason: 'see the patient first' };
    expect(await clinic.trajectory.approvals.reject(ruling.pending, refusal)).toMatchObject({
      ruling: 'rejected',
      reason: 'counselor_rejected',
    });
    expect(clinic.state.relapses).toEqual({});
  });

  test('is to a positive test', async () => {
    const clinic = await afterRelapse();
    await clinic.sample(P, 'd1', { type: 'definitive', day: '2026-03-26', result: 'negative' });
    for (const test of ['d1', 'nothing']) {
      expect(
        await clinic.propose('respond_to_relapse', P, { relapse: 'r1', test, response: 'none' }),
      ).toMatchObject({
        reason: 'precondition_failed',
      });
    }
  });

  test('of a doctor may void the positive: the tier is restored for later claims', async () => {
    const clinic = await afterRelapse();
    await clinic.sample(P, 'd1', { type: 'definitive', day: '2026-03-26', result: 'negative' });
    await clinic.sample(P, 'd2', { type: 'definitive', day: '2026-03-27', result: 'negative' });
    await clinic.done('submit_claim', P, {
      claim: 'c1',
      test: 'd1',
      date: '2026-03-26',
      tier: '0-30',
    });
    const ruling = await clinic.propose('set_aside_positive', P, {
      relapse: 'r1',
      test: 'p1',
      reason: 'poppy seeds',
    });
    expect(ruling).toMatchObject({ ruling: 'escalated', invariantId: 'RELAPSE_RESPONSE_IS_HUMAN' });
    if (ruling.ruling !== 'escalated') return;
    expect(clinic.state.patients[P]).toMatchObject({ tier: '0-30' });

    await clinic.trajectory.approvals.approve(ruling.pending, {
      principal: 'md:okafor',
      method: 'test',
    });
    expect(clinic.state.patients[P]).toMatchObject({
      last_positive: null,
      consecutive_days: 116,
      tier: '90+',
    });
    expect(clinic.state.tests[P]?.['p1']).toMatchObject({
      result: 'positive',
      set_aside: { by: 'md:okafor' },
    });
    // The earlier claim stays as it was adjudicated.
    expect(clinic.state.claims[P]?.['c1']).toMatchObject({ tier: '0-30' });
    await clinic.done('submit_claim', P, {
      claim: 'c2',
      test: 'd2',
      date: '2026-03-27',
      tier: '90+',
    });
  });
});

describe('a record that makes no sense', () => {
  test.each([
    ['enroll', { program_phase: 'intake', enrolled_at: '2026-03-26' }],
    ['order_test', { order: 'p1', type: 'presumptive', rationale: 'again' }],
    ['collect_sample', { test: 'p1', collected_at: '2026-03-26' }],
    ['collect_sample', { test: 'never-ordered', collected_at: '2026-03-26' }],
    ['collect_sample', { test: 'ordered', collected_at: '2026-03-27' }],
    ['collect_sample', { test: 'ordered', collected_at: '2025-11-30' }],
    ['record_result', { test: 'ordered', result: 'negative' }],
    ['record_result', { test: 'p1', result: 'negative' }],
  ] as const)('%s %j is refused', async (action, args) => {
    const clinic = await afterRelapse();
    await clinic.done('order_test', P, {
      order: 'ordered',
      type: 'definitive',
      rationale: 'monitoring',
    });
    expect(await clinic.propose(action, P, args)).toMatchObject({ reason: 'precondition_failed' });
  });

  test('an unenrolled patient is not served', async () => {
    const clinic = await Clinic.open();
    const rulings = [
      await clinic.propose('order_test', P, {
        order: 'o',
        type: 'presumptive',
        rationale: 'why not',
      }),
      await clinic.propose('submit_claim', P, {
        claim: 'c',
        test: 'o',
        date: '2025-12-01',
        tier: '0-30',
      }),
      await clinic.propose('track_tier', P, { as_of: '2025-12-01', tier: '0-30' }),
    ];
    expect(rulings).toMatchObject(rulings.map(() => ({ reason: 'precondition_failed' })));
    expect(clinic.state).toEqual(udtInitial());
  });

  test('a claim needs a sample, and carries the day of its collection', async () => {
    const clinic = await afterRelapse();
    const claim = { claim: 'c1', tier: '0-30' } as const;
    expect(
      await clinic.propose('submit_claim', P, { ...claim, test: 'none', date: '2026-03-26' }),
    ).toMatchObject({
      invariantId: 'CLAIM_TIER_CURRENT',
    });
    // Otherwise a test of the 26th could be claimed for a day on which it would be covered.
    expect(
      await clinic.propose('submit_claim', P, { ...claim, test: 'p1', date: '2026-03-30' }),
    ).toMatchObject({
      invariantId: 'CLAIM_TIER_CURRENT',
    });
  });

  test('a negative that turns out to be positive is recorded', async () => {
    const clinic = await afterRelapse();
    await clinic.sample(P, 'd1', { type: 'definitive', day: '2026-03-27', result: 'negative' });
    await clinic.done('record_result', P, { test: 'd1', result: 'positive' });
    expect(clinic.state.patients[P]).toMatchObject({ last_positive: '2026-03-27' });
  });
});

describe('confinement', () => {
  test('each role sees the slice that Table 1 gives it, of its own patient', async () => {
    const clinic = await afterRelapse();
    await clinic.done('enroll', 'eli', { program_phase: 'intake', enrolled_at: '2026-03-01' });
    const seen = (role: string) =>
      Object.keys(clinic.trajectory.slice(role, { patient: P }) as object);
    expect(seen('LabOrder')).toEqual(['events', 'orders']);
    expect(seen('Billing')).toEqual(['claims', 'events']);
    expect(seen('Clinical')).toEqual(['events', 'orders', 'patients', 'relapses', 'tests']);
    expect(clinic.trajectory.slice('Clinical', { patient: P })).toMatchObject({
      patients: { [P]: {} },
    });
    expect(clinic.trajectory.slice('Clinical', { patient: P })).not.toHaveProperty('patients.eli');
  });
});

test('a proposal about one patient judges nothing of any other', async () => {
  const { domain, judged } = watchedDomain(udt);
  const clinic = await Clinic.open({ domain });
  for (const patient of Array.from({ length: 50 }, (_, i) => `p${i}`).concat(P)) {
    await clinic.done('enroll', patient, {
      program_phase: 'maintenance',
      enrolled_at: '2025-12-01',
    });
    await clinic.sample(patient, 'd1', {
      type: 'definitive',
      day: '2026-03-23',
      result: 'negative',
    });
    await clinic.done('submit_claim', patient, {
      claim: 'c1',
      test: 'd1',
      date: '2026-03-23',
      tier: '90+',
    });
  }
  judged.clear();
  await clinic.sample(P, 'p1', { type: 'presumptive', day: '2026-03-26', result: 'positive' });
  await clinic.sample(P, 'd2', { type: 'definitive', day: '2026-03-26', confirms: 'p1' });
  await clinic.propose('submit_claim', P, {
    claim: 'c2',
    test: 'd2',
    date: '2026-03-26',
    tier: '90+',
  });
  expect([...judged]).toEqual([P]);
});
