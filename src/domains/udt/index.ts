/**
 * Urine drug tests under AHCCCS: seed 000 §3.1, with decisions.md §7. Three agents who each see a part (the orders, the
 * claims, the patient's abstinence) propose; what they see may be stale, the record is not.
 *
 * Guarantees: no committed claim names a tier other than the one that was on record for its day when it was made, nor
 * goes over the tests that the tier covers; no response to a relapse stands without a doctor's decision; a positive
 * counts from the moment its result is recorded, and no result is ever refused for what it means.
 * Not promised: that the payer agrees. README.md says where each rule comes from and what is open.
 */
import { defineDomain } from '#kernel';
import { actions } from './actions.ts';
import { isDoctor, MD } from './doctor.ts';
import { udtInitial } from './initial.ts';
import { processes, roles } from './roles.ts';
import { rules } from './rules.ts';
import { udtState } from './schema.ts';

export type { UdtActions } from './actions.ts';
export { type CoverageQuestion, type CoverageReport, coverageOn } from './coverage-on.ts';
export { MIDDLE_TIER, udtInitial } from './initial.ts';
export type { Claim, Coverage, Order, Patient, Relapse, Tier, UdtState, UdtTest } from './schema.ts';

export const udt = defineDomain({
  name: 'udt',
  version: '1',
  state: udtState,
  initial: udtInitial(),
  processes,
  roles,
  actions,
  invariants: rules,
  counselors: { [MD]: isDoctor },
  // While a doctor decides about one patient, everybody else's tests and claims go on.
  freeze: 'footprint',
});
