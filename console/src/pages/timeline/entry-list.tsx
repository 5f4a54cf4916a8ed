import { Button } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { type CSSProperties, type ReactNode, type RefObject, useEffect, useRef } from 'react';
import type { EntrySummary } from './entries-query.ts';
import classes from './entry-list.module.css';
import { EntryRow } from './entry-row.tsx';
import type { ScaledRows } from './scaled-rows.ts';
import type { TimelineAddress } from './timeline-address.ts';
import type { Tail } from './use-tail.ts';

export const ROW_PX = 48;

/** The entries of a list, newest first. An entry that is not loaded yet is undefined. */
export interface Entries {
  readonly count: number;
  readonly seqAt: (index: number) => number;
  /** Undefined for an entry that the list does not have. */
  readonly indexOf: (seq: number) => number | undefined;
  readonly entryOf: (seq: number) => EntrySummary | undefined;
}

interface ListProps {
  readonly address: TimelineAddress;
  readonly entries: Entries;
  readonly rows: ScaledRows;
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly tail: Tail;
  /** Shown below the last entry. */
  readonly children?: ReactNode;
}

/** The rows in sight of a list of any length, and the keys that move in it. */
export function EntryList({ address, entries, rows, scroller, tail, children }: ListProps) {
  const { count, seqAt, indexOf, entryOf } = entries;
  useMoves(address, entries, rows);
  const index = address.seq === undefined ? undefined : indexOf(address.seq);
  useInSight(address.seq, index, rows.show);
  return (
    <div className={classes.frame}>
      {tail.newer > 0 && (
        <Button size="compact-sm" radius="xl" className={classes.newer} onClick={tail.follow}>
          ↑ {tail.newer} new
        </Button>
      )}
      <section
        className={classes.scroller}
        ref={scroller}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls the list
        tabIndex={0}
        aria-label="Entries, newest first"
      >
        <ul
          className={classes.rows}
          style={{ height: rows.height, '--digits': String(tail.top).length } as CSSProperties}
        >
          {rows.items.map((item) => {
            if (item.index >= count) return null;
            const seq = seqAt(item.index);
            return (
              <li
                key={seq}
                className={classes.item}
                style={{ transform: `translateY(${rows.topOf(item)}px)` }}
                aria-setsize={count}
                aria-posinset={item.index + 1}
              >
                <EntryRow
                  seq={seq}
                  entry={entryOf(seq)}
                  isOpen={seq === address.seq}
                  href={address.hrefOf(seq)}
                />
              </li>
            );
          })}
        </ul>
        {children}
      </section>
    </div>
  );
}

function useMoves(
  { seq, open }: TimelineAddress,
  { count, seqAt, indexOf }: Entries,
  { items }: ScaledRows,
): void {
  const goTo = (index: number) => {
    if (count > 0) open(seqAt(Math.min(Math.max(index, 0), count - 1)), seq !== undefined);
  };
  const move = (by: number) => {
    const now = seq === undefined ? undefined : indexOf(seq);
    goTo(now === undefined ? (items[0]?.index ?? 0) : now + by);
  };
  useHotkeys([
    ['j', () => move(1)],
    ['k', () => move(-1)],
    ['Home', () => goTo(0)],
    ['End', () => goTo(count - 1)],
    ['Escape', () => open(undefined)],
  ]);
}

/**
 * Keeps the open row in sight. The row that the page begins with is in the middle. New entries do
 * not scroll the list.
 */
function useInSight(
  seq: number | undefined,
  index: number | undefined,
  show: ScaledRows['show'],
): void {
  const shown = useRef<number>(undefined);
  useEffect(() => {
    if (seq === undefined || index === undefined || shown.current === seq) return;
    show(index, shown.current === undefined ? 'centre' : undefined);
    shown.current = seq;
  }, [seq, index, show]);
}
