import { Stack, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Inert } from '../../parts/inert-text.tsx';
import classes from './entry-panel.module.css';

/** A titled part of an entry's panel. */
export function Part({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <section>
      <Title order={3} size="h6" mb={6}>
        {title}
      </Title>
      <Stack gap="xs">{children}</Stack>
    </section>
  );
}

/** Named facts, one a line. */
export function Facts({ children }: { readonly children: ReactNode }) {
  return <dl className={classes.facts}>{children}</dl>;
}

export function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{typeof children === 'string' ? <Inert>{children}</Inert> : children}</dd>
    </>
  );
}
