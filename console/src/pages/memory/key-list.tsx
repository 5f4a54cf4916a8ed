import { Badge, Group, Text } from '@mantine/core';
import { memo, useEffect, useRef } from 'react';
import { Link } from 'wouter';
import { Inert } from '../../parts/inert-text.tsx';
import classes from './memory-page.module.css';
import type { Key, KeyCount } from './memory-queries.ts';

interface ListProps {
  readonly keys: readonly KeyCount[];
  readonly open: Partial<Key>;
  readonly hrefOf: (key: Key) => string;
}

/** Subjects with their predicates, each with the number of its versions. */
export function KeyList({ keys, open, hrefOf }: ListProps) {
  return (
    <ul className={classes.rows}>
      {keys.map((key) => (
        <KeyRow
          key={JSON.stringify([key.subject, key.predicate])}
          of={key}
          href={hrefOf(key)}
          isOpen={key.subject === open.subject && key.predicate === open.predicate}
        />
      ))}
    </ul>
  );
}

interface RowProps {
  readonly of: KeyCount;
  readonly href: string;
  readonly isOpen: boolean;
}

/** Only the rows that change are drawn again: a list may have thousands. */
const KeyRow = memo(function KeyRow({
  of: { subject, predicate, versions, lost },
  href,
  isOpen,
}: RowProps) {
  const row = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isOpen) row.current?.scrollIntoView({ block: 'nearest' });
  }, [isOpen]);
  return (
    <li ref={row}>
      <Link
        href={href}
        className={classes.row as string}
        aria-current={isOpen ? 'true' : undefined}
      >
        <Group justify="space-between" gap="xs" wrap="nowrap">
          <Text size="sm" fw={600} component="span">
            <Inert>{subject}</Inert>
          </Text>
          {lost > 0 && (
            <Badge size="xs" variant="default" tt="none" className={classes.lost}>
              {lost} lost
            </Badge>
          )}
        </Group>
        <Group justify="space-between" gap="xs" wrap="nowrap">
          <Text size="sm" component="span">
            <Inert>{predicate}</Inert>
          </Text>
          <Text size="xs" c="dimmed" component="span" className={classes.count}>
            {versions === 1 ? '1 version' : `${versions} versions`}
          </Text>
        </Group>
      </Link>
    </li>
  );
});
