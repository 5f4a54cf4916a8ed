import { Text, type TextProps } from '@mantine/core';
import type { PointerEvent, ReactNode } from 'react';

interface CutTextProps extends TextProps {
  readonly children: ReactNode;
  /** The most lines. Default: 1. */
  readonly lines?: number;
}

/** Text of few lines. Where it does not fit, the pointer reads all of it. */
export function CutText({ lines = 1, children, ...looks }: CutTextProps) {
  return (
    <Text
      component="span"
      onPointerEnter={titleIfCut}
      {...(lines === 1 ? { truncate: true, display: 'block' } : { lineClamp: lines })}
      {...looks}
    >
      {children}
    </Text>
  );
}

/**
 * Makes the whole text of an element its title while the text is cut. The text has no invisible
 * character, because `Inert` has replaced them.
 */
export function titleIfCut({ currentTarget: element }: PointerEvent<HTMLElement>): void {
  const { scrollWidth, clientWidth, scrollHeight, clientHeight } = element;
  if (scrollWidth > clientWidth || scrollHeight > clientHeight) element.title = element.textContent;
  else element.removeAttribute('title');
}
