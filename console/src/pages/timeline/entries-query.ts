import {
  keepPreviousData,
  useInfiniteQuery,
  useQueries,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { entriesOf } from '../../api/changed-by.ts';
import { api, dataOf } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';
import type { RulingName } from '../../parts/ruling-mark.tsx';

export type EntrySummary = components['schemas']['EntrySummary'];

const PAGE = 100;
/** After the last entry of any trajectory. */
const END = '999999999999999';
/** Pages that are out of sight are forgotten, so that a long walk takes no more memory. */
const FORGET_MS = 30_000;

/** Entries that are chosen by their ruling or by a text. */
export interface Filter {
  readonly ruling: RulingName | undefined;
  readonly text: string;
}

interface Asked {
  readonly from?: string;
  readonly before?: string;
  readonly limit?: string;
}

type Entries = Awaited<ReturnType<typeof loadEntries>>;

function loadEntries(trajectory: string, asked: Asked, filter?: Filter, signal?: AbortSignal) {
  const { ruling, text = '' } = filter ?? {};
  const query = { ...asked, ...(ruling !== undefined && { ruling }), ...(text !== '' && { text }) };
  return dataOf(
    api.GET('/v1/trajectories/{trajectory}/entries', {
      params: { path: { trajectory }, query },
      ...(signal !== undefined && { signal }),
    }),
  );
}

/** The key of the last entries of a trajectory. They show until their pages are loaded. */
const lastEntries = (trajectory: string) => ['last entries', trajectory];

/** The seq of the last entry. */
export function useHead(trajectory: string) {
  const queries = useQueryClient();
  return useQuery({
    queryKey: ['log', 'head', trajectory],
    meta: {
      changedBy: (_, seq) => seq === undefined,
      next: (seq, event) =>
        event.trajectory_id === trajectory ? Math.max(seq as number, event.seq) : seq,
    },
    queryFn: async () => {
      const last = await loadEntries(trajectory, { before: END, limit: String(PAGE) });
      queries.setQueryData(lastEntries(trajectory), last);
      return last.entries[0]?.seq ?? 0;
    },
  });
}

/** The entries of some rows, by seq. A row is absent until its page is loaded. */
export function useEntriesBetween(trajectory: string, first: number, last: number, head: number) {
  const queries = useQueryClient();
  const from = Math.floor(Math.max(0, first) / PAGE);
  const to = Math.floor(Math.max(0, last) / PAGE);
  const numbers = last < first ? [] : Array.from({ length: to - from + 1 }, (_, n) => from + n);
  return useQueries({
    queries: numbers.map((page) => {
      // A full page never changes. The last one does, whenever an entry arrives.
      const isFull = (page + 1) * PAGE <= head + 1;
      const key = ['entries', trajectory, page];
      return {
        queryKey: isFull ? key : ['log', ...key],
        meta: entriesOf(trajectory),
        queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
          loadEntries(
            trajectory,
            { from: String(page * PAGE), limit: String(PAGE) },
            undefined,
            signal,
          ),
        placeholderData: () =>
          queries.getQueryData<Entries>(['log', ...key]) ??
          queries.getQueryData<Entries>(lastEntries(trajectory)),
        gcTime: FORGET_MS,
        ...(isFull && { staleTime: Number.POSITIVE_INFINITY }),
      };
    }),
    combine: (results) => ({
      entries: new Map(
        results.flatMap(({ data }) => data?.entries ?? []).map((entry) => [entry.seq, entry]),
      ),
      error: results.find(({ error }) => error !== null)?.error ?? null,
      retry: () => void Promise.all(results.map(({ refetch }) => refetch())),
    }),
  });
}

/** The matching entries, newest first, from the seq `start` down. */
export function useSearch(trajectory: string, filter: Filter, start: number) {
  return useInfiniteQuery({
    queryKey: ['search', trajectory, filter, start],
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: FORGET_MS,
    queryFn: ({ pageParam: before, signal }) => loadEntries(trajectory, { before }, filter, signal),
    initialPageParam: String(start + 1),
    getNextPageParam: ({ next }) => next,
  });
}

/** The matching entries that came after a search began, newest first. */
export function useNewer(trajectory: string, filter: Filter, start: number, top: number) {
  return useQuery({
    queryKey: ['log', 'newer', trajectory, filter, start, top],
    meta: entriesOf(trajectory),
    enabled: top > start,
    placeholderData: keepPreviousData,
    queryFn: () =>
      loadEntries(
        trajectory,
        { from: String(start + 1), before: String(top + 1), limit: '500' },
        filter,
      ),
  });
}

/** The seq of the last commit before an entry, or 0 for the first entry of the trajectory. */
export async function lastCommitBefore(trajectory: string, seq: number): Promise<number> {
  for (let before: string | undefined = String(seq); before !== undefined; ) {
    const page: Entries = await loadEntries(
      trajectory,
      { before, limit: '1' },
      { ruling: 'committed', text: '' },
    );
    if (page.entries[0] !== undefined) return page.entries[0].seq;
    before = page.next;
  }
  return 0;
}
