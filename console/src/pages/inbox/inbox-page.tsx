import { Box, Button, Group, SegmentedControl, Text, VisuallyHidden } from '@mantine/core';
import type { HotkeyItem } from '@mantine/hooks';
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from 'react';
import { useLocation, useParams } from 'wouter';
import { type Card, useMe } from '../../api/queries.ts';
import { useChoices } from '../../parts/address-choices.ts';
import { KeyLegend } from '../../parts/key-legend.tsx';
import { useListKeys } from '../../parts/list-keys.ts';
import { SplitView } from '../../parts/split-view.tsx';
import { Empty, Failed, Loading } from '../../parts/states.tsx';
import { ApprovalList } from './approval-list.tsx';
import { type ManyResults, useAllWaiting } from './approvals-query.ts';
import { Decided } from './decided.tsx';
import { useDecidedElsewhere } from './decided-elsewhere.ts';
import { DecidedMany } from './decided-many.tsx';
import {
  type Arranged,
  groupCards,
  groupingOf,
  ordered,
  orderOf,
  searched,
} from './group-approvals.ts';

const NONE: readonly Card[] = [];

// The code of these parts loads after the list.
const loadDetail = () => import('./approval-detail.tsx');
const ApprovalDetail = lazy(loadDetail);
const DecideMany = lazy(() => import('./decide-many.tsx'));
const InboxFilters = lazy(() => import('./inbox-filters.tsx'));
/** Their height with a mark for all. */
const FILTERS_PX = 66;

/** The proposals that wait: a list, and the one that is decided now. */
export default function InboxPage() {
  const { id } = useParams<{ readonly id?: string }>();
  const [, navigate] = useLocation();
  const [search, choose] = useChoices();
  const show = search.get('show') ?? 'mine';
  const isAll = show === 'all';
  const arranged: Arranged = {
    text: search.get('text') ?? '',
    group: search.get('group') ?? '',
    order: search.get('order') ?? '',
  };
  const waiting = useAllWaiting(!isAll);
  const me = useMe();
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
  const [reason, setReason] = useState('');
  const [decided, setDecided] = useState<ManyResults>();
  const cards = waiting.data?.cards ?? NONE;
  const { text, group, order } = arranged;
  const groups = useMemo(
    () => groupCards(ordered(searched(cards, text), orderOf(order)), groupingOf(group)),
    [cards, text, group, order],
  );
  const shown = useMemo(() => groups.flatMap((one) => one.cards), [groups]);
  useDecidedElsewhere(cards);
  const markedNow = shown.filter((one) => marked.has(one.id) && one.may_decide);
  // A proposal that is opened next finds its code here. A failure shows where it is opened.
  useEffect(() => void loadDetail().catch(() => undefined), []);
  const open = (next: string | undefined) => {
    const { size } = search;
    const query =
      size === 0 ? '' : `?${new URLSearchParams([...search].filter(([name]) => name !== 'amend'))}`;
    navigate(`/inbox${next === undefined ? '' : `/${next}`}${query}`);
  };
  const mark = (ids: readonly string[], isMarked: boolean) => {
    const next = new Set(marked);
    for (const one of ids) isMarked ? next.add(one) : next.delete(one);
    setMarked(next);
  };
  const markKey: HotkeyItem = ['x', () => id !== undefined && mark([id], !marked.has(id))];
  const ids = shown.map((one) => one.id);
  const [afterDecided, setAfterDecided] = useState<string>();
  useListKeys(ids, id, open, [markKey], afterDecided);
  const openNow = useRef(id);
  useEffect(() => {
    openNow.current = id;
    return () => {
      openNow.current = undefined;
    };
  }, [id]);
  // The next proposal opens by a key or a click only, so that a second `a` approves nothing.
  const close = () => {
    // The answer came late, and the person has left the proposal.
    if (openNow.current !== id) return;
    setAfterDecided(id === undefined ? undefined : ids[ids.indexOf(id) + 1]);
    open(undefined);
  };

  const head = (
    <>
      <Group justify="space-between" wrap="nowrap">
        <Text fw={700} fz={18} aria-hidden>
          Inbox
          <Text span c="dimmed" ml={6} size="sm">
            {shown.length === cards.length ? cards.length : `${shown.length} of ${cards.length}`}
            {waiting.data?.next === undefined ? '' : '+'}
          </Text>
        </Text>
        <SegmentedControl
          size="xs"
          aria-label="Which proposals"
          value={show}
          onChange={(value) => choose({ show: value === 'mine' ? '' : value })}
          data={[
            { value: 'mine', label: 'For me' },
            { value: 'all', label: 'All' },
            { value: 'decided', label: 'Decided' },
          ]}
        />
      </Group>
      {cards.length > 1 && show !== 'decided' && (
        <Suspense fallback={<Box h={FILTERS_PX} />}>
          <InboxFilters {...{ arranged, cards, shown, marked }} onChange={choose} onMark={mark} />
        </Suspense>
      )}
      {markedNow.length > 0 && id !== undefined && (
        <Button mt="sm" size="xs" variant="default" onClick={() => open(undefined)}>
          Decide the {markedNow.length} marked
        </Button>
      )}
      {markedNow.length > 0 && id === undefined && (
        <Suspense>
          <DecideMany
            cards={markedNow}
            reason={reason}
            onReason={setReason}
            onDecided={(results) => {
              setMarked(new Set());
              setReason('');
              setDecided(results);
            }}
            onClear={() => setMarked(new Set())}
          />
        </Suspense>
      )}
      {decided !== undefined && (
        <DecidedMany results={decided} onClose={() => setDecided(undefined)} />
      )}
    </>
  );
  const list =
    show === 'decided' ? (
      <Decided person={me.data?.name} />
    ) : (
      <>
        {waiting.error !== null && (
          <Failed error={waiting.error} retry={() => void waiting.refetch()} />
        )}
        {(waiting.data?.faults ?? []).map(({ trajectory_id, detail }) => (
          <Failed key={trajectory_id} error={new Error(`${trajectory_id}: ${detail}`)} />
        ))}
        {waiting.isPending && <Loading what="proposals" />}
        {cards.length > 0 && shown.length === 0 && <Empty title="Nothing matches" />}
        {waiting.data !== undefined && cards.length === 0 && (
          <Empty title="Nothing waits">
            {isAll
              ? 'No proposal waits for a person. New ones appear here immediately.'
              : `No proposal waits for ${me.data?.name ?? 'you'}. New ones appear here immediately.`}
          </Empty>
        )}
        <ApprovalList
          {...{ groups, marked }}
          head={groupingOf(group)}
          openId={id}
          onOpen={open}
          onMark={mark}
        />
      </>
    );
  return (
    <>
      <VisuallyHidden component="h1">Inbox</VisuallyHidden>
      <SplitView
        head={head}
        list={list}
        listLabel="Waiting proposals"
        detailLabel="Proposal"
        isOpen={id !== undefined}
        backLabel="Inbox"
        onBack={() => open(undefined)}
        detail={
          id === undefined ? (
            <Empty title="Choose a proposal">
              It shows exactly what runs after your decision.
              <KeyLegend
                keys={[
                  ['next and previous', 'j', 'k'],
                  ['to the button that approves', 'a'],
                  ['amend', 'e'],
                  ['reject', 'r'],
                  ['mark, to decide many together', 'x'],
                  ['back to the list', 'Esc'],
                ]}
              />
            </Empty>
          ) : (
            <Suspense fallback={<Loading what="the proposal" />}>
              <ApprovalDetail key={id} id={id} onDecided={close} />
            </Suspense>
          )
        }
      />
    </>
  );
}
