import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { api, dataOf } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';
import { spanOf } from '../../parts/time-words.ts';

export type FoundEntry = components['schemas']['FoundEntry'];

/** The filters of the page, as its address has them. An empty one filters nothing. */
export const FILTERS = [
  'when',
  'principal',
  'decided_by',
  'ruling',
  'trajectory',
  'rule',
  'tool',
  'amount',
  'text',
] as const;
export type Filters = Readonly<Record<(typeof FILTERS)[number], string>>;

/** The entries of all trajectories that the filters choose, the newest first. */
export function useActivity(filters: Filters) {
  const { when, ruling, ...others } = filters;
  const given = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== ''));
  return useInfiniteQuery({
    queryKey: ['log', 'activity', filters],
    // A reader who went down the list keeps it as it is.
    meta: { changedBy: (_, data) => ((data as Pages | undefined)?.pages.length ?? 0) < 2 },
    placeholderData: keepPreviousData,
    queryFn: ({ pageParam: before, signal }) =>
      dataOf(
        api.GET('/v1/entries', {
          params: {
            query: {
              ...given,
              ...(ruling !== '' && { ruling: ruling as FoundEntry['ruling'] }),
              ...(when !== '' && spanOf(when, new Date())),
              ...(before !== '' && { before }),
            },
          },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  });
}

interface Pages {
  readonly pages: readonly unknown[];
}
