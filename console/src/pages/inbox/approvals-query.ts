import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { decisions } from '../../api/changed-by.ts';
import { api, dataOf } from '../../api/client.ts';
import type { paths } from '../../api/openapi.d.ts';
import type { Approval, Card } from '../../api/queries.ts';
import { isDecidingHere } from './decided-elsewhere.ts';

const PAGE = '200';
/** The pages that are read at once, so that counts and sums are of all. */
const PAGES_AT_ONCE = 10;

interface Waiting {
  readonly cards: readonly Card[];
  readonly faults: readonly { readonly trajectory_id: string; readonly detail: string }[];
  /** Whether more wait than were read. */
  readonly hasMore: boolean;
}

/** The open approvals in short: all of them, or the first 2,000. */
export function useWaiting(isMine: boolean) {
  return useQuery({
    queryKey: ['log', 'approvals', isMine],
    meta: decisions,
    queryFn: () => waitingNow(isMine),
    refetchInterval: ({ state }) => msToExpiry(state.data?.cards ?? []),
  });
}

async function waitingNow(isMine: boolean): Promise<Waiting> {
  const mine = isMine && { mine: 'true' as const };
  const cards: Card[] = [];
  const faults = new Map<string, Waiting['faults'][number]>();
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_AT_ONCE; page++) {
    const query = { limit: PAGE, view: 'card' as const, ...mine, ...(cursor && { cursor }) };
    const found = await dataOf(api.GET('/v1/approvals', { params: { query } }));
    cards.push(...(found.cards ?? []));
    for (const fault of found.faults ?? []) faults.set(fault.trajectory_id, fault);
    cursor = found.next;
    if (cursor === undefined) break;
  }
  return { cards, faults: [...faults.values()], hasMore: cursor !== undefined };
}

/** Some of the open approvals with their whole arguments. */
export function useWhole(ids: readonly string[]) {
  return useQuery({
    queryKey: ['whole', ids],
    queryFn: async () => {
      const asked = new Set(ids);
      const whole: Approval[] = [];
      for (
        let cursor: string | undefined = '';
        cursor !== undefined && whole.length < asked.size;
      ) {
        const query = { limit: PAGE, ...(cursor !== '' && { cursor }) };
        const page: { readonly approvals: Approval[]; readonly next?: string | undefined } =
          await dataOf(api.GET('/v1/approvals', { params: { query } }));
        whole.push(...page.approvals.filter(({ id }) => asked.has(id)));
        cursor = page.next;
      }
      return whole;
    },
  });
}

/** The longest time that a timer of a browser can wait. */
const TIMER_MS_MAX = 2 ** 31 - 1;
/** Clocks differ, and an expired proposal is listed until its time is over at the server too. */
const AFTER_EXPIRY_MS = 1_000;

/** The time until the first of them has expired. An expiry is not an entry at first. */
function msToExpiry(cards: readonly Card[]): number | false {
  const times = cards.flatMap(({ expires }) =>
    expires === undefined ? [] : [Date.parse(expires)],
  );
  if (times.length === 0) return false;
  const left = times.reduce((first, time) => Math.min(first, time)) - Date.now();
  return Math.min(Math.max(left, 0) + AFTER_EXPIRY_MS, TIMER_MS_MAX);
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
