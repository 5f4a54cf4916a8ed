import { visible, visibleJson } from 'assize/internal/views/visible.ts';
import classes from './json-text.module.css';

/** A JSON value as indented text, in which each invisible character is an escape. */
export function JsonText({ value, label }: { readonly value: unknown; readonly label: string }) {
  return (
    <section aria-label={visible(label)}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls a long text */}
      <pre className={classes.text} tabIndex={0}>
        {visibleJson(value)}
      </pre>
    </section>
  );
}
