import type { ReactNode } from 'react';
import classes from './facts.module.css';
import { Inert } from './inert-text.tsx';
import { Term } from './term.tsx';

/** Names with their values, in two columns. */
export function Facts({ children }: { readonly children: ReactNode }) {
  return <dl className={classes.facts}>{children}</dl>;
}

/** One name with its value. Text may come from agents. */
export function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <>
      <dt>
        <Term>{name}</Term>
      </dt>
      <dd>{typeof children === 'string' ? <Inert>{children}</Inert> : children}</dd>
    </>
  );
}
