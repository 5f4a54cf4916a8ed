import type { CounselorCommit } from '#kernel';
import type { CounselorRecord } from '#ledger';
import type { ApprovalInput } from '../../records/ruling.ts';

/** The counselor of an approval, as its entry records it. */
export function counselorOf(input: ApprovalInput, commit: CounselorCommit): CounselorRecord {
  return {
    principal: input.principal,
    as: commit.as,
    method: input.method,
    ...(commit.overridden ? { override: true, overridden: commit.overrides } : {}),
    ...(input.reason === undefined ? {} : { reason: input.reason }),
  };
}
