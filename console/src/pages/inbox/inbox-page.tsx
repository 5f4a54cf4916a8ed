import { Group, SegmentedControl, Text, VisuallyHidden } from '@mantine/core';
import type { HotkeyItem } from '@mantine/hooks';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useLocation, useParams, useSearchParams } from 'wouter';
import { useMe } from '../../api/queries.ts';
import { KeyLegend } from '../../parts/key-legend.tsx';
import { useListKeys } from '../../parts/list-keys.ts';
import { ShowMore } from '../../parts/show-more.tsx';
import { SplitView } from '../../parts/split-view.tsx';
import { Empty, Failed, Loading } from '../../parts/states.tsx';
import { ApprovalDetail } from './approval-detail.tsx';
import { ApprovalList } from './approval-list.tsx';
import { type ManyResults, useApprovals } from './approvals-query.ts';
import { DecideMany } from './decide-many.tsx';
import { useDecidedElsewhere } from './decided-elsewhere.ts';
import { DecidedMany } from './decided-many.tsx';
import { groupApprovals } from './group-approvals.ts';

/** The proposals that wait: a list, and the one that is decided now. */
export function InboxPage() {
  const { id } = useParams<{ readonly id?: string }>();
  const [, navigate] = useLocation();
  const [search, setSearch] = useSearchParams();
  const isAll = search.get('show') === 'all';
  const approvals = useApprovals(!isAll);
  const me = useMe();
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
  const [decided, setDecided] = useState<ManyResults>();
  const groups = useMemo(
    () => groupApprovals(approvals.data?.pages.flatMap((page) => page.approvals) ?? []),
    [approvals.data],
  );
  const faults = approvals.data?.pages.flatMap((page) => page.faults ?? []) ?? [];
  const shown = useMemo(() => groups.flatMap((group) => group.approvals), [groups]);
  useDecidedElsewhere(shown);
  const markedNow = shown.filter((one) => marked.has(one.id) && one.may_decide);
  const open = (next: string | undefined) =>
    navigate(`/inbox${next === undefined ? '' : `/${next}`}${isAll ? '?show=all' : ''}`);
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
            {shown.length}
            {approvals.hasNextPage ? '+' : ''}
          </Text>
        </Text>
        <SegmentedControl
          size="xs"
          aria-label="Which proposals"
          value={isAll ? 'all' : 'mine'}
          onChange={(value) => setSearch(value === 'all' ? { show: 'all' } : {})}
          data={[
            { value: 'mine', label: 'For me' },
            { value: 'all', label: 'All' },
          ]}
        />
      </Group>
      {markedNow.length > 0 && (
        <DecideMany
          approvals={markedNow}
          onDecided={(results) => {
            setMarked(new Set());
            setDecided(results);
          }}
          onClear={() => setMarked(new Set())}
        />
      )}
      {decided !== undefined && (
        <DecidedMany results={decided} onClose={() => setDecided(undefined)} />
      )}
    </>
  );
  const list = (
    <>
      {approvals.error !== null && (
        <Failed error={approvals.error} retry={() => void approvals.refetch()} />
      )}
      {faults.map(({ trajectory_id, detail }) => (
        <Failed key={trajectory_id} error={new Error(`${trajectory_id}: ${detail}`)} />
      ))}
      {approvals.isPending && <Loading what="proposals" />}
      {approvals.data !== undefined && shown.length === 0 && (
        <Empty title="Nothing waits">
          {isAll
            ? 'No proposal waits for a person. A new one appears here at once.'
            : `No proposal waits for ${me.data?.name ?? 'you'}. A new one appears here at once.`}
        </Empty>
      )}
      <ApprovalList groups={groups} openId={id} marked={marked} onOpen={open} onMark={mark} />
      {approvals.hasNextPage && <ShowMore onMore={() => void approvals.fetchNextPage()} />}
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
                  ['mark, to decide many at once', 'x'],
                  ['back to the list', 'Esc'],
                ]}
              />
            </Empty>
          ) : (
            <ApprovalDetail key={id} id={id} onDecided={close} />
          )
        }
      />
    </>
  );
}
