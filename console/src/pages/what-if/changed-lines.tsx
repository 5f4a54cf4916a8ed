import { Inert } from '../../parts/inert-text.tsx';
import { changedLines } from './line-changes.ts';
import classes from './what-if-page.module.css';

interface ChangedProps {
  readonly before: string;
  readonly after: string;
}

/** The lines that an edited text lacks and adds, in their order. */
export function ChangedLines(texts: ChangedProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a frame that scrolls is reached by keys
    <section className={classes.diff} aria-label="Changed lines" tabIndex={0}>
      {changedLines(texts.before, texts.after).map(({ sign, line }, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two lines may be equal
        <div key={n} data-sign={sign}>
          {sign === '+' ? <ins>+ </ins> : <del>− </del>}
          <Inert>{line}</Inert>
        </div>
      ))}
    </section>
  );
}
