import type { components } from '../api/openapi.d.ts';
import classes from './ruling-mark.module.css';

export type RulingName = components['schemas']['EntrySummary']['ruling'];

interface Look {
  readonly word: string;
  readonly shape: 'circle' | 'square' | 'diamond' | 'ring';
  /** A path in a square of 16, drawn over the shape. */
  readonly sign: string;
}

const CHECK = 'M4.8 8.2 7 10.4l4.2-4.6';
const CROSS = 'M5.4 5.4l5.2 5.2M10.6 5.4l-5.2 5.2';
const QUESTION = 'M6.6 6.4c.2-1.9 2.9-1.8 2.8 0 0 1.1-1.4 1.2-1.4 2.5M8 10.9v.6';
const RIGHT = 'M5 8h6M8.6 5.6 11 8l-2.4 2.4';
const LEFT = 'M11 8H5M7.4 5.6 5 8l2.4 2.4';
const FORK = 'M6 11.5v-7M6 9c3 0 4-1 4-4';
const BAR = 'M5 8h6';
const DOT = 'M8 7.9v.2';
const KEY = 'M5.5 8h5.5M9 8v2M11 8v1.5';
const MARK = 'M8 4.8v3.9M8 11v.2';

export const RULINGS: Readonly<Record<RulingName, Look>> = {
  committed: { word: 'Committed', shape: 'circle', sign: CHECK },
  rejected: { word: 'Rejected', shape: 'square', sign: CROSS },
  escalated: { word: 'Escalated', shape: 'diamond', sign: QUESTION },
  delegated: { word: 'Delegated', shape: 'ring', sign: RIGHT },
  answered: { word: 'Answered', shape: 'ring', sign: LEFT },
  concluded: { word: 'Concluded', shape: 'ring', sign: BAR },
  begun: { word: 'Started', shape: 'ring', sign: DOT },
  branched: { word: 'Branched', shape: 'ring', sign: FORK },
  'key changed': { word: 'Key changed', shape: 'ring', sign: KEY },
  unreadable: { word: 'Unreadable', shape: 'square', sign: MARK },
};

interface MarkProps {
  readonly ruling: RulingName;
  /** Default: that of the ruling. */
  readonly word?: string | undefined;
}

/** A ruling as a shape of its own with a word. */
export function RulingMark({ ruling, word = RULINGS[ruling].word }: MarkProps) {
  const { shape, sign } = RULINGS[ruling];
  return (
    <span className={classes.mark} data-ruling={ruling}>
      <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" data-shape={shape}>
        {shape === 'square' && <rect x="1.5" y="1.5" width="13" height="13" rx="2" />}
        {shape === 'diamond' && (
          <rect x="2.7" y="2.7" width="10.6" height="10.6" rx="1.5" transform="rotate(45 8 8)" />
        )}
        {(shape === 'circle' || shape === 'ring') && <circle cx="8" cy="8" r="6.5" />}
        <path d={sign} />
      </svg>
      {word}
    </span>
  );
}
