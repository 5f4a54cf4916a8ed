/**
 * Vulnerability verification (seed 000 §3.2.2), the phase before disclosure: is a candidate finding a genuine vulnerability? Agents
 * submit, reproduce, rate and report, each confined to one finding; the answer is always a person's.
 *
 * Guarantees: nothing is reported that an expert has not verified on just the evidence that there is; the expert had it assigned,
 * within the limit of their queue, and has not submitted it; the same candidate is one finding, and its evidence has one verdict.
 * Not promised: speed, since every finding waits for its expert; and that experts are right.
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
