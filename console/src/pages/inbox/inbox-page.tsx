import { Box, Button, Group, SegmentedControl, Text, VisuallyHidden } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { useMemo, useState } from 'react';
import { useLocation, useParams, useSearchParams } from 'wouter';
import { useMe } from '../../api/queries.ts';
import { Empty, Failed, Loading } from '../../parts/states.tsx';
import { ApprovalDetail } from './approval-detail.tsx';
import { ApprovalList } from './approval-list.tsx';
import { useApprovals } from './approvals-query.ts';
import { DecideMany } from './decide-many.tsx';
import { useDecidedElsewhere } from './decided-elsewhere.ts';
import { groupApprovals } from './group-approvals.ts';
import classes from './inbox-page.module.css';

/** The proposals that wait: a list, and the one that is decided now. */
export function InboxPage() {
  const { id } = useParams<{ readonly id?: string }>();
  const [, navigate] = useLocation();
  const [search, setSearch] = useSearchParams();
  const isAll = search.get('show') === 'all';
  const approvals = useApprovals(!isAll);
  const me = useMe();
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
  const groups = useMemo(
    () => groupApprovals(approvals.data?.pages.flatMap((page) => page.approvals) ?? []),
    [approvals.data],
  );
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
  const move = (by: number) => {
    const at = shown.findIndex((one) => one.id === id);
    const next = shown[Math.min(Math.max(at + by, 0), shown.length - 1)];
    if (next !== undefined) open(next.id);
  };
  useHotkeys([
    ['j', () => move(1)],
    ['k', () => move(-1)],
    ['x', () => id !== undefined && mark([id], !marked.has(id))],
    ['Escape', () => open(undefined)],
  ]);

  return (
    <div className={classes.page} data-open={id !== undefined || undefined}>
      <VisuallyHidden component="h1">Inbox</VisuallyHidden>
      <section className={classes.list} aria-label="Waiting proposals">
        <Group justify="space-between" p="sm" wrap="nowrap" className={classes.head}>
          <Text fw={700} size="lg" aria-hidden>
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
        {markedNow.length > 0 && <DecideMany approvals={markedNow} onDone={() => setMarked(new Set())} />}
        {approvals.error !== null && <Failed error={approvals.error} retry={() => void approvals.refetch()} />}
        {approvals.isPending && <Loading what="proposals" />}
        {approvals.data !== undefined && shown.length === 0 && (
          <Empty title="Nothing waits">
            {isAll
              ? 'No proposal waits for a person. A new one appears here at once.'
              : `No proposal waits for ${me.data?.name ?? 'you'}. A new one appears here at once.`}
          </Empty>
        )}
        <ApprovalList groups={groups} openId={id} marked={marked} onOpen={open} onMark={mark} />
        {approvals.hasNextPage && (
          <Box p="sm">
            <Button size="xs" variant="default" fullWidth onClick={() => void approvals.fetchNextPage()}>
              Show more
            </Button>
          </Box>
        )}
      </section>
      <section className={classes.detail} aria-label="Proposal">
        {id === undefined ? (
          <Empty title="Choose a proposal">
            Keys: j and k move, a approves, r rejects, e amends, x marks for a decision about many.
          </Empty>
        ) : (
          <ApprovalDetail key={id} id={id} onBack={() => open(undefined)} onDecided={() => move(1)} />
        )}
      </section>
    </div>
  );
}
