import { Text, type TextProps } from '@mantine/core';
import { type ReactNode, type RefObject, useEffect, useLayoutEffect, useRef } from 'react';

interface CutTextProps extends TextProps {
  readonly children: ReactNode;
  /** The most lines. Default: 1. */
  readonly lines?: number;
}

/** Text of few lines. Where it does not fit, the pointer reads all of it. */
export function CutText({ lines = 1, children, ...looks }: CutTextProps) {
  const text = useCutTitle<HTMLSpanElement>();
  return (
    <Text
      component="span"
      ref={text}
      {...(lines === 1 ? { truncate: true, display: 'block' } : { lineClamp: lines })}
      {...looks}
    >
      {children}
    </Text>
  );
}

/**
 * An element whose title is its whole text while the text is cut. The text has no invisible
 * character, because `Inert` has replaced them.
 */
export function useCutTitle<E extends HTMLElement>(): RefObject<E | null> {
  const element = useRef<E>(null);
  useEffect(() => {
    const observed = element.current as E;
    resized.observe(observed);
    return () => resized.unobserve(observed);
  }, []);
  useLayoutEffect(() => titled(element.current as E));
  return element;
}

/** One observer for all rows of a list. */
const resized = new ResizeObserver((entries) => {
  for (const { target } of entries) titled(target as HTMLElement);
});

function titled(element: HTMLElement): void {
  const { scrollWidth, clientWidth, scrollHeight, clientHeight } = element;
  if (scrollWidth > clientWidth || scrollHeight > clientHeight) element.title = element.textContent;
  else element.removeAttribute('title');
}
