import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, dataOf } from '../../api/client.ts';
import type { Approval } from '../../api/queries.ts';
import { isDecidingHere } from './decided-elsewhere.ts';

const PAGE = '100';

/** The open approvals, a page after the other. */
export function useApprovals(isMine: boolean) {
  return useInfiniteQuery({
    queryKey: ['log', 'approvals', isMine],
    queryFn: ({ pageParam: cursor }) =>
      dataOf(
        api.GET('/v1/approvals', {
          params: { query: { limit: PAGE, ...(isMine && { mine: 'true' }), ...(cursor !== '' && { cursor }) } },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  });
}

/** One decision of a person: exactly the shown proposal, by its digest. */
export interface Decision {
  readonly approval: Approval;
  readonly decision: 'approve' | 'reject';
  readonly reason: string;
  /** Other arguments for the same action. */
  readonly args?: unknown;
  readonly override?: boolean;
}

/** Decides one proposal. The list is loaded again afterwards. */
export function useDecide() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ approval, decision, reason, args, override }: Decision) => {
      isDecidingHere([approval.id]);
      const params = { path: { approval: approval.id } };
      const { digest } = approval;
      if (decision === 'reject')
        return dataOf(api.POST('/v1/approvals/{approval}/reject', { params, body: { digest, reason } }));
      const body = {
        digest,
        ...(reason !== '' && { reason }),
        ...(args !== undefined && { args }),
        ...(override === true && { override }),
      };
      return dataOf(api.POST('/v1/approvals/{approval}/approve', { params, body }));
    },
    onSettled: () => void queries.invalidateQueries({ queryKey: ['log'] }),
  });
}

/** Decides many proposals with one reason. Each has a result of its own. */
export function useDecideMany() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ items, ...rest }: Omit<Decision, 'approval'> & { readonly items: readonly Approval[] }) => {
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
