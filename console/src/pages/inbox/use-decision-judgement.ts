import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { entriesOf } from '../../api/changed-by.ts';
import { api, dataOf } from '../../api/client.ts';
import type { Approval } from '../../api/queries.ts';
import { isReadable } from '../../parts/schema-form/unreadable.ts';

/** Milliseconds after the last change until the server is asked. */
const QUIET_MS = 250;

/** A part of a decision, as it is being written. */
export interface Draft {
  /** Other arguments for the same action. */
  readonly args?: unknown;
  readonly override?: boolean;
  readonly answers?: readonly { readonly request: string; readonly winner: string }[];
}

/**
 * The ruling that the decision would get now. An answer about an earlier draft is `isOld`. The
 * server is asked again when its ledger moves.
 */
export function useDecisionJudgement(
  { id, digest, may_decide, trajectory_id }: Approval,
  draft: Draft,
) {
  const [settled] = useDebouncedValue(draft, QUIET_MS);
  const isSettled = JSON.stringify(settled) === JSON.stringify(draft);
  const found = useQuery({
    queryKey: ['log', 'judgement', id, digest, settled],
    meta: entriesOf(trajectory_id),
    enabled: may_decide && isReadable(settled.args),
    placeholderData: keepPreviousData,
    retry: false,
    queryFn: ({ signal }) => {
      const { args, override, answers } = settled;
      const body = {
        digest,
        ...(args !== undefined && { args }),
        ...(override === true && { override }),
        ...(answers !== undefined && answers.length > 0 && { answers: [...answers] }),
      };
      return dataOf(
        api.POST('/v1/approvals/{approval}/judge', {
          params: { path: { approval: id } },
          body,
          signal,
        }),
      );
    },
  });
  const isUnreadable = !isReadable(draft.args);
  return {
    judged: isUnreadable ? undefined : found.data,
    isUnreadable,
    isOld: !isSettled || found.isPlaceholderData,
    error: found.error,
  };
}
