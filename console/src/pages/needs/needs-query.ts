import { useQuery } from '@tanstack/react-query';
import { api, dataOf } from '../../api/client.ts';
import { useMe } from '../../api/queries.ts';
import { useEffectTransactions } from '../effects/effects-query.ts';
import { MINUTE_MS, useWaiting } from '../inbox/approvals-query.ts';
import { useRulesInForce } from '../rules/rules-query.ts';

/** The time after which a run that no worker takes is stuck, as for the gauge of the server. */
const STUCK_MS = 5 * MINUTE_MS;
/** The time before its end in which a proposal or a period is named. */
const SOON_MS = 24 * 60 * MINUTE_MS;

/** All that waits for the signed-in person, by the rights of that person. */
export function useNeeds() {
  const kinds = useMe().data?.kinds ?? [];
  const isOperator = kinds.includes('auditor') || kinds.includes('admin');
  const isReader = isOperator || kinds.includes('counselor');
  const approvals = useWaiting(true);
  const effects = useEffectTransactions('doubt', undefined);
  const notices = useQuery({
    queryKey: ['failed-notices'],
    enabled: isOperator,
    refetchInterval: MINUTE_MS,
    queryFn: async () => (await dataOf(api.GET('/v1/notices/failed'))).notices,
  });
  const runs = useQuery({
    queryKey: ['stuck-runs'],
    enabled: isOperator,
    refetchInterval: MINUTE_MS,
    queryFn: async () =>
      (await dataOf(api.GET('/v1/runs', { params: { query: { limit: '500' } } }))).runs,
    select: (all) =>
      all.filter(
        ({ status, held_until, wake_at, updated }) =>
          status === 'ready' &&
          Date.parse(held_until ?? wake_at ?? updated) < Date.now() - STUCK_MS,
      ),
  });
  const cards = approvals.data?.cards ?? [];
  const waiting = cards.filter((card) => card.of === 'proposal');
  const inDoubt = (effects.data?.pages.flatMap((page) => page.transactions) ?? []).filter(
    (one) => one.may_settle === true || (isOperator && one.may_settle !== undefined),
  );
  return { isReader, isOperator, cards, waiting, inDoubt, approvals, effects, notices, runs };
}

/** Counts for the navigation, as texts. Undefined for none. */
export function useNeedsCounts() {
  const { cards, waiting, inDoubt, approvals, notices, runs } = useNeeds();
  const calls = inDoubt.flatMap(({ effects }) => effects.filter((one) => one.needs_human)).length;
  const all = waiting.length + calls + (notices.data?.length ?? 0) + (runs.data?.length ?? 0);
  const text = (count: number) =>
    count === 0 ? undefined : `${count}${approvals.data?.next !== undefined ? '+' : ''}`;
  return {
    all: text(all),
    waiting: text(cards.length),
    inDoubt: calls === 0 ? undefined : `${calls}`,
  };
}

/** The ends within a day: of proposals that wait, and of periods in which rules only observe. */
export function useEndsSoon() {
  const { waiting } = useNeeds();
  const { data: worlds = [] } = useRulesInForce();
  const ends = [
    ...waiting.map(({ page, title, expires }) => ({
      href: page,
      title,
      about: 'the proposal expires',
      at: expires,
    })),
    ...worlds.flatMap(({ trajectory_id: id, observing, trial }) =>
      [
        { about: 'its rules stop to observe, and hold', at: observing?.until },
        { about: 'the trial of rules ends', at: trial?.until },
      ].map((one) => ({ ...one, title: id, href: `/agents/${encodeURIComponent(id)}` })),
    ),
  ];
  const last = Date.now() + SOON_MS;
  return ends
    .flatMap(({ at, ...rest }) =>
      at !== undefined && Date.parse(at) < last ? { at, ...rest } : [],
    )
    .toSorted((a, b) => (a.at < b.at ? -1 : 1));
}
