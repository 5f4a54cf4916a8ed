/**
 * Vulnerability verification (seed 000 §3.2.2), the phase before disclosure: is a candidate finding
 * a genuine vulnerability? Agents submit, reproduce, rate and report, each confined to one finding.
 * A human always gives the answer.
 *
 * Guarantees: an expert has verified every reported finding on exactly the present evidence. The
 * expert has the finding assigned, within the limit of the expert's queue, and is not its
 * submitter. The same candidate is one finding, and its evidence has one verdict.
 *
 * Not promised: speed, because every finding waits for its expert; and that experts are right.
 */
import { defineDomain } from 'assize/internal/kernel';
import { actions } from './actions.ts';
import { EXPERT, isExpert } from './experts.ts';
import { verificationInitial } from './initial.ts';
import { processes, roles } from './roles.ts';
import { rules } from './rules.ts';
import { verificationState } from './schema.ts';

export type { VerificationActions } from './actions.ts';
export { verificationInitial } from './initial.ts';
export type { Finding, Verdict, VerificationState } from './schema.ts';

export const verification = defineDomain({
  name: 'verification',
  version: '1',
  state: verificationState,
  initial: verificationInitial(),
  processes,
  roles,
  actions,
  invariants: rules,
  counselors: { [EXPERT]: isExpert },
  // While a decision is pending, proposals about other findings continue.
  freeze: 'footprint',
});
