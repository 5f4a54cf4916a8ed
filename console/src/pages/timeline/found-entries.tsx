import { Button, Group, Text } from '@mantine/core';
import { useEffect, useMemo, useRef, useState } from 'react';
import { Empty, Failed, Loading } from '../../parts/states.tsx';
import { type Filter, useNewer, useSearch } from './entries-query.ts';
import { EntryList, ROW_PX } from './entry-list.tsx';
import { useScaledRows } from './scaled-rows.ts';
import type { TimelineAddress } from './timeline-address.ts';
import { useTail } from './use-tail.ts';

/** Rows below those in sight that are found ahead. */
const AHEAD = 20;

interface FoundProps {
  readonly trajectory: string;
  readonly head: number;
  readonly filter: Filter;
  readonly address: TimelineAddress;
}

/** The entries that a filter chooses. Older ones are searched as the reader goes down. */
export function FoundEntries({ trajectory, head, filter, address }: FoundProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const tail = useTail(head, scroller);
  const [start, setStart] = useState(head);
  const older = useSearch(trajectory, filter, start);
  const newer = useNewer(trajectory, filter, start, tail.top);
  // More new entries than one page: the search begins again at the top, so that none is missing.
  const hasGap = !newer.isPlaceholderData && newer.data?.next !== undefined;
  useEffect(() => {
    if (hasGap) setStart(tail.top);
  }, [hasGap, tail.top]);
  const found = useMemo(() => {
    const newest = tail.top > start ? (newer.data?.entries ?? []) : [];
    return [...newest, ...(older.data?.pages.flatMap((page) => page.entries) ?? [])];
  }, [older.data, newer.data, tail.top, start]);
  const indexes = useMemo(() => new Map(found.map(({ seq }, index) => [seq, index])), [found]);
  const rows = useScaledRows(scroller, found.length, ROW_PX);
  const search = useGoingOn(older, (rows.items.at(-1)?.index ?? 0) + AHEAD > found.length);
  const entries = {
    count: found.length,
    seqAt: (index: number) => found[index]?.seq ?? 0,
    indexOf: (seq: number) => indexes.get(seq),
    entryOf: (seq: number) => found[indexes.get(seq) ?? -1],
  };
  const error = older.error ?? newer.error;
  if (error !== null) return <Failed error={error} retry={() => void older.refetch()} />;
  const reached = older.data?.pages.at(-1)?.next;
  return (
    <EntryList {...{ address, entries, rows, scroller, tail }}>
      {reached === undefined && older.isFetching && <Loading what="entries" />}
      {reached !== undefined && (search.isGoingOn || search.isStopped) && (
        <Group p="md" justify="center" role="status">
          <Text size="sm">Searched down to the entry {reached}.</Text>
          <Button size="xs" variant="default" onClick={search.toggle}>
            {search.isStopped ? 'Search older entries' : 'Stop'}
          </Button>
        </Group>
      )}
      {older.data !== undefined && !older.hasNextPage && found.length === 0 && (
        <Empty title="No entry matches">
          <Button
            size="xs"
            variant="default"
            onClick={() => address.set({ ruling: undefined, text: undefined })}
          >
            Clear the filters
          </Button>
        </Empty>
      )}
    </EntryList>
  );
}

interface GoingOn {
  readonly isGoingOn: boolean;
  readonly isStopped: boolean;
  readonly toggle: () => void;
}

/** Searches on, page by page, while rows are wanted and until the reader stops it. */
function useGoingOn(older: ReturnType<typeof useSearch>, isWanted: boolean): GoingOn {
  const { error, hasNextPage, isFetching, fetchNextPage } = older;
  const [isStopped, setStopped] = useState(false);
  const isGoingOn = isWanted && hasNextPage && !isStopped && error === null;
  useEffect(() => {
    if (isGoingOn && !isFetching) void fetchNextPage();
  }, [isGoingOn, isFetching, fetchNextPage]);
  return { isGoingOn, isStopped: isStopped && hasNextPage, toggle: () => setStopped(!isStopped) };
}
