import { Stack, Title } from '@mantine/core';
import type { ReactNode } from 'react';

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
        {title}
      </Title>
      <Stack gap="xs">{children}</Stack>
    </section>
  );
}
