import { Stack, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Term } from './term.tsx';

/** A titled part of a detail, below its title. */
export function Part({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ReactNode;
}) {
  return (
    <section>
      <Title order={3} size="h6" mb={6}>
        <Term>{title}</Term>
      </Title>
      <Stack gap="xs">{children}</Stack>
    </section>
  );
}
