/**
 * Urine drug tests under AHCCCS: Agentic Redux §3.1, with docs/decisions/019-shipped-domains.md.
 * Three agents each see one part (the orders, the claims, the patient's abstinence) and propose.
 * Their view may be stale; the record is not.
 *
 * Guarantees: every committed claim names the tier that was on record for its day when it was made,
 * and stays within the tests that the tier covers. No response to a relapse stands without a
 * doctor's decision. A positive counts from the moment its result is recorded, and no result is
 * ever refused for its meaning.
 *
 * Not promised: that the payer agrees. README.md names the source of each rule and the open
 * questions.
 */
import { defineDomain } from 'assize/internal/kernel';
import { actions } from './actions.ts';
import { isDoctor, MD } from './doctor.ts';
import { udtInitial } from './initial.ts';
import { processes, roles } from './roles.ts';
import { rules } from './rules.ts';
import { udtState } from './schema.ts';

export type { UdtActions } from './actions.ts';
export { type CoverageQuestion, type CoverageReport, coverageOn } from './coverage-on.ts';
export { MIDDLE_TIER, udtInitial } from './initial.ts';
export type {
  Claim,
  Coverage,
  Order,
  Patient,
  Relapse,
  Tier,
  UdtState,
  UdtTest,
} from './schema.ts';

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
  // A doctor's decision about one patient does not block tests and claims of other patients.
  freeze: 'footprint',
});
