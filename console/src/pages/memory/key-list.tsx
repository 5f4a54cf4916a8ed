import { Badge, Group, Text } from '@mantine/core';
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
      {keys.map(({ subject, predicate, versions, lost }) => {
        const isOpen = subject === open.subject && predicate === open.predicate;
        return (
          <li key={JSON.stringify([subject, predicate])}>
            <Link
              href={hrefOf({ subject, predicate })}
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
      })}
    </ul>
  );
}
