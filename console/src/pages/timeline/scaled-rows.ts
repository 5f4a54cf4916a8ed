import { observeElementOffset, useVirtualizer, type VirtualItem } from '@tanstack/react-virtual';
import { type RefObject, useCallback, useRef, useState } from 'react';

/** Browsers draw no element that is much higher. */
const HEIGHT_MAX = 16_000_000;

export interface ScaledRows {
  readonly items: readonly VirtualItem[];
  /** The height of the content. A very long list shares it out. */
  readonly height: number;
  /** The place of a row in the content now. */
  readonly topOf: (item: VirtualItem) => number;
  /** Scrolls until the row is in sight: as little as possible, or until it is in the middle. */
  readonly show: (index: number, where?: 'centre') => void;
}

/**
 * The rows in sight of a list of any length. A list that is too high for a browser scrolls faster
 * than its content is high.
 */
export function useScaledRows(
  scroller: RefObject<HTMLElement | null>,
  count: number,
  rowHeight: number,
): ScaledRows {
  const total = count * rowHeight;
  const height = Math.min(total, HEIGHT_MAX);
  const scaleIn = ({ clientHeight: view }: { readonly clientHeight: number }) =>
    total > height ? (total - view) / (height - view) : 1;
  const latest = useRef(scaleIn);
  latest.current = scaleIn;
  const [, setOffset] = useState(0);
  const rows = useVirtualizer<HTMLElement, Element>({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 8,
    observeElementOffset: (instance, report) =>
      observeElementOffset(instance, (offset, isScrolling) => {
        const scale = instance.scrollElement === null ? 1 : latest.current(instance.scrollElement);
        report(offset * scale, isScrolling);
        // Between two rows the content of a scaled list moves too.
        if (scale > 1) setOffset(offset);
      }),
  });
  const show = useCallback(
    (index: number, where?: 'centre') => {
      const element = scroller.current;
      if (element === null) return;
      const size = element.clientHeight;
      const begin = index * rowHeight;
      const scale = latest.current(element);
      const now = element.scrollTop * scale;
      const isAbove = begin < now;
      const isBelow = begin + rowHeight > now + size;
      if (!isAbove && !isBelow) return;
      const nearest = isAbove ? begin : begin + rowHeight - size;
      const wanted = where === 'centre' ? begin - (size - rowHeight) / 2 : nearest;
      element.scrollTop = Math.max(0, wanted) / scale;
    },
    [scroller, rowHeight],
  );
  const element = scroller.current;
  const shift = element === null ? 0 : element.scrollTop * (scaleIn(element) - 1);
  return { items: rows.getVirtualItems(), height, topOf: (item) => item.start - shift, show };
}
