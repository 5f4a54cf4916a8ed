import type { ReactNode } from 'react';
import classes from './fate-mark.module.css';
import type { Fate, Shape } from './fates.ts';

/** A square stays, an arrow turns back, a diamond asks, a ring waits, a disc stands for now. */
const SHAPES: Readonly<Record<Shape, ReactNode>> = {
  permanent: <rect x="1.5" y="1.5" width="9" height="9" fill="currentColor" />,
  undone: (
    <path
      d="M2.5 1.5v3.5h3.5M2.7 5A4 4 0 1 1 3 8.6"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
    />
  ),
  doubt: <path d="M6 .8 11.2 6 6 11.2.8 6z" fill="none" stroke="currentColor" strokeWidth="1.8" />,
  waiting: (
    <circle
      cx="6"
      cy="6"
      r="4"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeDasharray="3 2"
    />
  ),
  never: <path d="M2 6h8" stroke="currentColor" strokeWidth="1.8" />,
  stands: <circle cx="6" cy="6" r="4.2" fill="currentColor" />,
};

/** The fate of calls as a shape and words. */
export function FateMark({ fate, count }: { readonly fate: Fate; readonly count?: number }) {
  return (
    <span className={classes.fate}>
      <ShapeMark shape={fate.shape} />
      {count !== undefined && count > 1 ? `${count} ` : ''}
      {fate.word}
    </span>
  );
}

/** A shape beside words that say the same. */
export function ShapeMark({ shape }: { readonly shape: Shape }) {
  return (
    <svg
      className={classes.shape}
      data-shape={shape}
      width="12"
      height="12"
      viewBox="0 0 12 12"
      aria-hidden
    >
      {SHAPES[shape]}
    </svg>
  );
}
