import { Replayer, verifyTrajectory } from '@assize/audit';
import { expect, test } from 'vitest';
import { Clinic } from '../../../tests/support/domains/udt-clinic.ts';

// Agentic Redux §3.1: David's second definitive test in a week, just after a relapse that is not in
// Billing's slice.
test('the story of David', async () => {
  const clinic = await Clinic.open();
  await clinic.done('enroll', 'david', { program_phase: 'maintenance', enrolled_at: '2025-12-01' });

  await clinic.sample('david', 'd1', { type: 'definitive', day: '2026-03-23', result: 'negative' });
  await clinic.done('submit_claim', 'david', {
    claim: 'c1',
    test: 'd1',
    date: '2026-03-23',
    tier: '90+',
  });
  const seenByBilling = clinic.trajectory.slice('Billing', { patient: 'david' });

  await clinic.sample('david', 'p1', {
    type: 'presumptive',
    day: '2026-03-26',
    result: 'positive',
  });
  expect(clinic.state.patients['david']).toEqual({
    program_phase: 'maintenance',
    enrolled_at: '2025-12-01',
    last_positive: '2026-03-26',
    as_of: '2026-03-26',
    consecutive_days: 0,
    tier: '0-30',
  });
  // Billing's slice shows no relapse: by its slice, the claim below looks covered.
  expect(clinic.trajectory.slice('Billing', { patient: 'david' })).toEqual({
    ...(seenByBilling as object),
    events: { david: expect.any(Number) },
  });

  const relapse = await clinic.propose('respond_to_relapse', 'david', {
    relapse: 'r1',
    test: 'p1',
    response: 'counselling twice a week',
  });
  expect(relapse).toMatchObject({
    ruling: 'escalated',
    channel: 'md',
    invariantId: 'RELAPSE_RESPONSE_IS_HUMAN',
  });
  if (relapse.ruling !== 'escalated') return;

  // The order does not wait for the doctor: its paths are outside the frozen part.
  clinic.on('2026-03-26');
  await clinic.done('order_test', 'david', {
    order: 'd2',
    type: 'definitive',
    rationale: 'confirm p1',
    confirms: 'p1',
  });

  const approve = (principal: string) =>
    clinic.trajectory.approvals.approve(relapse.pending, { principal, method: 'test' });
  await expect(approve('agent:clinical')).rejects.toMatchObject({ code: 'unauthorised_counselor' });
  await expect(approve('nurse:lee')).rejects.toMatchObject({ code: 'unauthorised_counselor' });
  expect(await approve('md:okafor')).toMatchObject({ ruling: 'committed' });
  expect(clinic.state.relapses['david']?.['r1']).toEqual({
    test: 'p1',
    response: 'counselling twice a week',
    decided_by: 'md:okafor',
  });

  await clinic.done('collect_sample', 'david', { test: 'd2', collected_at: '2026-03-26' });
  const claim = { claim: 'c2', test: 'd2', date: '2026-03-26' } as const;
  expect(await clinic.propose('submit_claim', 'david', { ...claim, tier: '90+' })).toMatchObject({
    ruling: 'rejected',
    reason: 'invariant_rejected',
    invariantId: 'CLAIM_TIER_CURRENT',
  });
  expect(await clinic.propose('submit_claim', 'david', { ...claim, tier: '0-30' })).toMatchObject({
    ruling: 'rejected',
    reason: 'invariant_rejected',
    invariantId: 'DEFINITIVE_WINDOW',
  });

  await clinic.sample('david', 'd3', { type: 'definitive', day: '2026-03-29' });
  expect(
    await clinic.propose('submit_claim', 'david', {
      claim: 'c2',
      test: 'd3',
      date: '2026-03-29',
      tier: '0-30',
    }),
  ).toMatchObject({ ruling: 'rejected', invariantId: 'DEFINITIVE_WINDOW' });

  await clinic.sample('david', 'd4', { type: 'definitive', day: '2026-03-30' });
  expect(
    await clinic.propose('submit_claim', 'david', {
      claim: 'c2',
      test: 'd4',
      date: '2026-03-30',
      tier: '0-30',
    }),
  ).toMatchObject({ ruling: 'committed' });

  expect(await verifyTrajectory(new Replayer(clinic.store), clinic.trajectory.id)).toMatchObject({
    valid: true,
    entries: clinic.trajectory.length,
    open: 0,
  });
});
