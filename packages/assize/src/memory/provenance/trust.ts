import type { TrustProvenance } from '../fact.ts';
import { multipliedProvenance } from './polynomial.ts';
import { trustToken } from './token.ts';

/**
 * The provenance of a fact that an answer chose: it also needs the trust in the policy and the vote
 * of the judge, or in the approver (the sort T of K[X,T], TOKI §2.2).
 */
export const trustProvenance: TrustProvenance = (provenance, { policy, judge, approver }) =>
  multipliedProvenance(provenance, [
    ...(policy === undefined ? [] : [trustToken('policy', policy)]),
    ...(approver === undefined ? [] : [trustToken('approver', approver)]),
    // The judge of an approval is only its pending entry.
    ...(judge === undefined || approver !== undefined ? [] : [trustToken('judge', judge)]),
  ]);
