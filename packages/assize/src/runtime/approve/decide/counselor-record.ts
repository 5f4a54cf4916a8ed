import type { CounselorCommit } from '#kernel';
import type { CounselorRecord } from '#ledger';
import type { ApprovalInput, Resolution } from '../../records/ruling.ts';

/** The counselor of a decision as an entry records it, of the kind `as`. */
export function decidedBy(
  { principal, method, tokenBy = [] }: Resolution,
  as: string,
): CounselorRecord {
  return { principal, as, method, ...(tokenBy.length > 0 && { token_by: tokenBy }) };
}

/** The counselor of an approval, as its entry records it. */
export function counselorOf(input: ApprovalInput, commit: CounselorCommit): CounselorRecord {
  return {
    ...decidedBy(input, commit.as),
    ...(commit.overridden ? { override: true, overridden: commit.overrides } : {}),
    ...(input.reason === undefined ? {} : { reason: input.reason }),
  };
}
