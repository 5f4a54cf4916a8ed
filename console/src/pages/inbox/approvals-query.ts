import {
  keepPreviousData,
  queryOptions,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useMemo } from 'react';
import { decisions } from '../../api/changed-by.ts';
import { api, dataOf } from '../../api/client.ts';
import type { paths } from '../../api/openapi.d.ts';
import type { Approval, Card } from '../../api/queries.ts';
import { isDecidingHere } from './decided-elsewhere.ts';

const PAGE = '200';
/** The most further pages of the inbox, whose counts and sums are of all. */
const MORE_PAGES = 9;

interface Waiting {
  readonly cards: readonly Card[];
  readonly faults: readonly { readonly trajectory_id: string; readonly detail: string }[];
  /** Where the next page begins, if more wait than were read. */
  readonly next: string | undefined;
}

/** The first 200 open approvals, in short. Every page of the console reads them once. */
export function useWaiting(isMine: boolean) {
  return useQuery(waitingFrom(isMine));
}

/** The first 2,000. Those after the first 200 come later. */
export function useAllWaiting(isMine: boolean) {
  // The query is not spread, so that a page is not drawn again for what it does not read.
  const { data: first, error, isPending, refetch } = useWaiting(isMine);
  const next = first?.next;
  const { data: more } = useQuery({
    ...waitingFrom(isMine, next ?? '', MORE_PAGES),
    enabled: next !== undefined,
    placeholderData: keepPreviousData,
  });
  const data = useMemo(
    () => first && (next === undefined ? first : joined(first, more)),
    [first, next, more],
  );
  return { data, error, isPending, refetch };
}

/** The open approvals after a place. */
export function waitingFrom(isMine: boolean, after = '', pages = 1) {
  return queryOptions({
    queryKey: ['log', 'approvals', isMine, after, pages],
    meta: decisions,
    queryFn: () => readWaiting(isMine, after, pages),
    refetchInterval: ({ state }) => msToRefetch(state.data?.cards ?? []),
  });
}

async function readWaiting(isMine: boolean, after: string, pages: number): Promise<Waiting> {
  const mine = isMine && { mine: 'true' as const };
  let read: Waiting = { cards: [], faults: [], next: after };
  for (let page = 0; page < pages && read.next !== undefined; page++) {
    const cursor = read.next !== '' && { cursor: read.next };
    const query = { limit: PAGE, view: 'card' as const, ...mine, ...cursor };
    const found = await dataOf(api.GET('/v1/approvals', { params: { query } }));
    read = joined(read, { cards: [], faults: [], ...found, next: found.next });
  }
  return read;
}

/** A proposal that a later page has too, because others were decided meanwhile, counts once. */
function joined(one: Waiting, more: Waiting = one): Waiting {
  const ids = new Set(one.cards.map(({ id }) => id));
  const cards = [...one.cards, ...more.cards.filter(({ id }) => !ids.has(id))];
  const faults = new Map([...one.faults, ...more.faults].map((each) => [each.trajectory_id, each]));
  return { cards, faults: [...faults.values()], next: more.next };
}

/** The requests that are sent concurrently. */
const AT_ONCE = 10;

/** Empty for a proposal that is decided. */
async function oneWhole(approval: string): Promise<Approval[]> {
  const params = { path: { approval } };
  const found = await dataOf(api.GET('/v1/approvals/{approval}', { params }));
  return found.approval === undefined ? [] : [found.approval];
}

/** Some of the open approvals with their whole arguments. */
export function useWhole(ids: readonly string[]) {
  return useQuery({
    queryKey: ['whole', ids],
    queryFn: async () => {
      const whole: Approval[] = [];
      for (let at = 0; at < ids.length; at += AT_ONCE)
        whole.push(...(await Promise.all(ids.slice(at, at + AT_ONCE).map(oneWhole))).flat());
      return whole;
    },
  });
}

/** A deputy becomes due without an entry, and `mine` leaves its proposal out before. */
export const MINUTE_MS = 60_000;
/** Clocks differ, and an expired proposal is listed until its time is over at the server too. */
const AFTER_EXPIRY_MS = 1_000;

/** The time until the first of them has expired, at most. An expiry is not an entry at first. */
function msToRefetch(cards: readonly Card[]): number {
  const left = cards.map(({ expires }) =>
    expires === undefined ? MINUTE_MS : Date.parse(expires) - Date.now(),
  );
  return Math.min(Math.max(Math.min(...left), 0) + AFTER_EXPIRY_MS, MINUTE_MS);
}

/** One decision of a person: exactly the shown proposal, by its digest. */
export interface Decision {
  readonly approval: Pick<Card, 'id' | 'digest'>;
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
    }: Omit<Decision, 'approval'> & { readonly items: readonly Card[] }) => {
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
