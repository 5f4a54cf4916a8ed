import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { calls, decisions } from '../../api/changed-by.ts';
import { api, dataOf } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';

export type Transaction = components['schemas']['EffectTransaction'];
export type WholeTransaction = components['schemas']['EffectTransactionWhole'];
export type Effect = components['schemas']['Effect'];
export type EffectCall = components['schemas']['EffectCall'];
export type StoredText = components['schemas']['StoredText'];
export type LeftInState = NonNullable<
  components['schemas']['ResolvedTransaction']['left_in_state']
>;
export type EffectDecision = components['schemas']['EffectDecision'];

/** The transactions that the list shows. */
export type Shown = 'all' | 'open' | 'ended' | 'doubt';

const PAGE = '100';

/** Transactions, the latest first, a page after the other. The first page has all open ones. */
export function useEffectTransactions(shown: Shown, trajectory: string | undefined) {
  return useInfiniteQuery({
    queryKey: ['log', 'effects', shown, trajectory ?? ''],
    // A call that comes into doubt is a question for a person.
    meta: shown === 'doubt' ? decisions : calls,
    queryFn: ({ pageParam: cursor }) =>
      dataOf(
        api.GET('/v1/effects', {
          params: {
            query: {
              ...(trajectory !== undefined && { trajectory }),
              ...(shown === 'doubt' && { needs_human: 'true' }),
              ...((shown === 'all' || shown === 'ended') && { all: 'true', limit: PAGE }),
              ...(cursor !== '' && { cursor }),
            },
          },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  });
}

export function useEffectTransaction(epoch: string) {
  return useQuery({
    queryKey: ['log', 'effect', epoch],
    meta: calls,
    queryFn: () => dataOf(api.GET('/v1/effects/{epoch}', { params: { path: { epoch } } })),
  });
}

/** Records a decision about one effect. What depends on the log is loaded again afterwards. */
export function useResolveEffect(epoch: string, n: number) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: EffectDecision) =>
      dataOf(
        api.POST('/v1/effects/{epoch}/{n}/resolve', {
          params: { path: { epoch, n: `${n}` } },
          body,
        }),
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: ['log'] }),
  });
}
