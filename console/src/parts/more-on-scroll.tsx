import { useEffect, useRef } from 'react';
import { ShowMore } from './show-more.tsx';

interface MoreProps {
  /** Whether the next items are being loaded, or failed to load. */
  readonly isPaused: boolean;
  readonly onMore: () => void;
}

/** The distance in pixels from the end of a list at which it is continued. */
const AHEAD = 800;

/** The end of a list that has more items. They are loaded when the list is scrolled near to it. */
export function MoreOnScroll({ isPaused, onMore }: MoreProps) {
  const end = useRef<HTMLDivElement>(null);
  const latest = useRef(onMore);
  latest.current = onMore;
  useEffect(() => {
    if (isPaused || end.current === null) return;
    // A new observer reports immediately, so a short page is followed by the next one.
    const observer = new IntersectionObserver(
      (seen) => {
        if (seen.some(({ isIntersecting }) => isIntersecting)) latest.current();
      },
      { root: scrollerOf(end.current), rootMargin: `0px 0px ${AHEAD}px 0px` },
    );
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [isPaused]);
  return (
    <div ref={end}>
      <ShowMore onMore={onMore} />
    </div>
  );
}

/** The element around another one that scrolls, or null for the page. */
function scrollerOf({ parentElement }: Element): Element | null {
  if (parentElement === null) return null;
  const { overflowY } = getComputedStyle(parentElement);
  return overflowY === 'auto' || overflowY === 'scroll' ? parentElement : scrollerOf(parentElement);
}
