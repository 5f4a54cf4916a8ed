import { Tooltip, UnstyledButton } from '@mantine/core';
import classes from './term.module.css';

/** The words of this project that a reader of the console meets, each with its line. */
const TERMS: Readonly<Record<string, string>> = {
  digest: 'The hash of exactly what you see. A decision counts for that alone.',
  epoch: 'The number of a transaction of tools, in the order in which they began.',
  frontier: 'The lowest epoch that still works on a resource. Later ones wait for it.',
  writ: 'A signed grant: who may do which actions, where, until when and for how much.',
  writs: 'Signed grants: who may do which actions, where, until when and for how much.',
};

/** A word with a dotted line below it, and its explanation. Any other word as it is. */
export function Term({ children }: { readonly children: string }) {
  const line = TERMS[children.toLowerCase()];
  if (line === undefined) return children;
  return (
    <Tooltip label={line} multiline maw={280} events={{ hover: true, focus: true, touch: true }}>
      <UnstyledButton className={classes.term}>{children}</UnstyledButton>
    </Tooltip>
  );
}
