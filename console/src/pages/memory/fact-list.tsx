import { Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { CutText } from '../../parts/cut-text.tsx';
import { Inert } from '../../parts/inert-text.tsx';
import { Empty } from '../../parts/states.tsx';
import { periodText } from '../../parts/times.ts';
import classes from './memory-page.module.css';

/** The part of a fact that lists show. */
interface ListedFact {
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
  readonly valid_from: string;
  readonly valid_to: string;
}

interface RowProps {
  readonly fact: ListedFact;
  readonly href: string;
  readonly isCurrent?: boolean;
  /** Text beside the object, such as a score. */
  readonly children?: ReactNode;
}

/** A fact as a row that leads to its key. */
export function FactRow({
  fact: { subject, predicate, object, valid_from, valid_to },
  ...props
}: RowProps) {
  const { href, isCurrent = false, children } = props;
  return (
    <li>
      <Link
        href={href}
        className={classes.row as string}
        aria-current={isCurrent ? 'true' : undefined}
      >
        <Group justify="space-between" gap="xs" wrap="nowrap">
          <CutText size="sm" fw={600} lines={2}>
            <Inert>{object}</Inert>
          </CutText>
          {children}
        </Group>
        <Text size="xs" c="dimmed" component="span" display="block">
          <Inert>{subject}</Inert> · <Inert>{predicate}</Inert> · {periodText(valid_from, valid_to)}
        </Text>
      </Link>
    </li>
  );
}

/** The place of a list without facts. */
export function NoFacts() {
  return (
    <Empty title="Nothing is recalled">
      No fact matches as of these times. Try “True at any time”.
    </Empty>
  );
}
