import { type RefObject, useCallback, useEffect, useState } from 'react';

/** At most this far from the top, a reader follows the newest entry. */
const NEAR_PX = 8;

export interface Tail {
  /** The seq of the newest entry of the list. */
  readonly top: number;
  /** The number of entries above it. */
  readonly newer: number;
  /** Goes to the newest entry. */
  readonly follow: () => void;
}

/** The top of a list is the newest entry, unless the reader has scrolled away from it. */
export function useTail(head: number, scroller: RefObject<HTMLElement | null>): Tail {
  const [top, setTop] = useState(head);
  useEffect(() => {
    if ((scroller.current?.scrollTop ?? 0) <= NEAR_PX) setTop(head);
  }, [head, scroller]);
  const follow = useCallback(() => {
    setTop(head);
    if (scroller.current !== null) scroller.current.scrollTop = 0;
  }, [head, scroller]);
  return { top, newer: head - top, follow };
}
