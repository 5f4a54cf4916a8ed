import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { decisions } from '../../api/changed-by.ts';
import { api, dataOf } from '../../api/client.ts';
import type { paths } from '../../api/openapi.d.ts';
import type { Approval } from '../../api/queries.ts';
import { isDecidingHere } from './decided-elsewhere.ts';

const PAGE = '100';

/** The open approvals, a page after the other. */
export function useApprovals(isMine: boolean) {
  return useInfiniteQuery({
    queryKey: ['log', 'approvals', isMine],
    meta: decisions,
    queryFn: ({ pageParam: cursor }) => approvalsPage(isMine, cursor),
    refetchInterval: ({ state }) =>
      msToExpiry(state.data?.pages.flatMap((page) => page.approvals) ?? []),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  });
}

interface ApprovalsPage {
  readonly approvals: readonly Approval[];
  readonly faults?:
    | readonly { readonly trajectory_id: string; readonly detail: string }[]
    | undefined;
  readonly next?: string | undefined;
}

function approvalsPage(isMine: boolean, cursor: string): Promise<ApprovalsPage> {
  const query = {
    limit: PAGE,
    ...(isMine && { mine: 'true' as const }),
    ...(cursor !== '' && { cursor }),
  };
  return dataOf(api.GET('/v1/approvals', { params: { query } }));
}

/** The longest time that a timer of a browser can wait. */
const TIMER_MS_MAX = 2 ** 31 - 1;
/** Clocks differ, and an expired proposal is listed until its time is over at the server too. */
const AFTER_EXPIRY_MS = 1_000;

/** The time until the first of them has expired. An expiry is not an entry at first. */
function msToExpiry(approvals: readonly Approval[]): number | false {
  const times = approvals.flatMap(({ expires }) =>
    expires === undefined ? [] : [Date.parse(expires)],
  );
  if (times.length === 0) return false;
  const left = times.reduce((first, time) => Math.min(first, time)) - Date.now();
  return Math.min(Math.max(left, 0) + AFTER_EXPIRY_MS, TIMER_MS_MAX);
}

/** One decision of a person: exactly the shown proposal, by its digest. */
export interface Decision {
  readonly approval: Approval;
  readonly decision: 'approve' | 'reject';
  readonly reason: string;
  /** Other arguments for the same action. */
  readonly args?: unknown;
  readonly override?: boolean;
  /** The winners of contradictions. */
  readonly answers?: readonly { readonly request: string; readonly winner: string }[];
}

/** Decides one proposal. The list is loaded again afterwards. */
export function useDecide() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ approval, decision, reason, args, override, answers = [] }: Decision) => {
      isDecidingHere([approval.id]);
      const params = { path: { approval: approval.id } };
      const { digest } = approval;
      if (decision === 'reject')
        return dataOf(
          api.POST('/v1/approvals/{approval}/reject', { params, body: { digest, reason } }),
        );
      const body = {
        digest,
        ...(reason !== '' && { reason }),
        ...(args !== undefined && { args }),
        ...(override === true && { override }),
        ...(answers.length > 0 && { answers: [...answers] }),
      };
      return dataOf(api.POST('/v1/approvals/{approval}/approve', { params, body }));
    },
    onSettled: () => void queries.invalidateQueries({ queryKey: ['log'] }),
  });
}

type ManyAnswer =
  paths['/v1/approvals/decide']['post']['responses'][200]['content']['application/json'];
/** The results of one decision about many proposals, in their order. */
export type ManyResults = ManyAnswer['results'];

/** Decides many proposals with one reason. Each has a result of its own. */
export function useDecideMany() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({
      items,
      ...rest
    }: Omit<Decision, 'approval'> & { readonly items: readonly Approval[] }) => {
      isDecidingHere(items.map(({ id }) => id));
      return dataOf(
        api.POST('/v1/approvals/decide', {
          body: {
            decision: rest.decision,
            reason: rest.reason,
            items: items.map(({ id, digest }) => ({ id, digest })),
          },
        }),
      );
    },
    onSettled: () => void queries.invalidateQueries({ queryKey: ['log'] }),
  });
}
