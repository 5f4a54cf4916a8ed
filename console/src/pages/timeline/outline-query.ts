import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { api, dataOf } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';

export type StateMember = components['schemas']['StateMember'];

const PAGE = '200';
/** Pages of earlier points are forgotten soon: a slider passes by many. */
const FORGET_MS = 30_000;

/** A value of the state after an entry: whole, or its members, a page after the other. */
export function useOutline(trajectory: string, seq: number, pointer: string, text: string) {
  return useInfiniteQuery({
    queryKey: ['outline', trajectory, seq, pointer, text],
    placeholderData: keepPreviousData,
    gcTime: FORGET_MS,
    queryFn: ({ pageParam: cursor, signal }) => {
      const query = {
        ...{ at: `${trajectory}@${seq}`, pointer, limit: PAGE },
        ...(text !== '' && { text }),
        ...(cursor !== undefined && { cursor }),
      };
      return dataOf(
        api.GET('/v1/trajectories/{trajectory}/outline', {
          params: { path: { trajectory }, query },
          signal,
        }),
      );
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next,
  });
}
