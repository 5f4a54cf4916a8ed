import { useRef } from 'react';
import { Failed } from '../../parts/states.tsx';
import { useEntriesBetween } from './entries-query.ts';
import { EntryList, ROW_PX } from './entry-list.tsx';
import { useScaledRows } from './scaled-rows.ts';
import type { TimelineAddress } from './timeline-address.ts';
import { useTail } from './use-tail.ts';

interface AllProps {
  readonly trajectory: string;
  readonly head: number;
  readonly address: TimelineAddress;
}

/** Every entry of a trajectory. Its pages are loaded where the reader looks. */
export function AllEntries({ trajectory, head, address }: AllProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const tail = useTail(head, scroller);
  const { top } = tail;
  const rows = useScaledRows(scroller, top + 1, ROW_PX);
  const oldest = top - (rows.items.at(-1)?.index ?? 0);
  const newest = top - (rows.items[0]?.index ?? 0);
  const loaded = useEntriesBetween(trajectory, oldest, newest, head);
  const entries = {
    count: top + 1,
    seqAt: (index: number) => top - index,
    indexOf: (seq: number) => (seq <= top ? top - seq : undefined),
    entryOf: (seq: number) => loaded.entries.get(seq),
  };
  return (
    <>
      {loaded.error !== null && <Failed error={loaded.error} retry={loaded.retry} />}
      <EntryList {...{ address, entries, rows, scroller, tail }} />
    </>
  );
}
