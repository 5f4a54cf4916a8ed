import { Anchor, Group, Text, Title, VisuallyHidden } from '@mantine/core';
import { visibleWords } from 'assize/internal/views/visible.ts';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Card } from '../../api/queries.ts';
import { CutText } from '../../parts/cut-text.tsx';
import { EntryLink } from '../../parts/entry-link.tsx';
import { World } from '../../parts/halted.tsx';
import { Inert, Words } from '../../parts/inert-text.tsx';
import { Ago } from '../../parts/instant.tsx';
import listed from '../../parts/rows.module.css';
import { Section } from '../../parts/section.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import { wordsOf } from '../effects/effect-list.tsx';
import { columnsOf } from '../inbox/common-sum.ts';
import classes from '../incidents/incidents-page.module.css';
import { useEndsSoon, useNeeds } from './needs-query.ts';

/** The rows of a section. A link leads to the others. */
const ROWS = 5;

/** The first page: all that waits for the person, with the links that settle it. */
export default function NeedsPage() {
  const { isReader, isOperator, waiting, inDoubt, approvals, effects, notices, runs } = useNeeds();
  const ends = useEndsSoon();
  const isMore = approvals.data?.next !== undefined;
  return (
    <div className={classes.page}>
      <Title order={1} size="h4" mb="md">
        Needs you
      </Title>
      {approvals.isPending && <Loading what="what waits" />}
      <Need title="Waiting" all="/inbox" found={approvals} rows={waiting} isMore={isMore}>
        {(card) => (
          <Row key={card.id} href={card.page} title={card.title} card={card} at={card.at}>
            <Inert>{card.requester}</Inert> in <World id={card.trajectory_id} />
          </Row>
        )}
      </Need>
      {isReader && (
        <Need title="In doubt" all="/effects?show=doubt" found={effects} rows={inDoubt}>
          {(one) => (
            <Row
              key={one.epoch}
              href={`/effects/${one.epoch}?show=doubt`}
              title={wordsOf(one)}
              at={one.at}
            >
              <Inert>{one.principal}</Inert> in <World id={one.trajectory_id} />
            </Row>
          )}
        </Need>
      )}
      {isOperator && (
        <Need title="Failed notices" all="/audit" found={notices} rows={notices.data ?? []}>
          {({ id, receiver, shown_as, entry_id, at, error }) => (
            <li key={`${receiver} ${id}`} className={listed.row}>
              <Text size="sm" className="wraps">
                To <Inert>{shown_as}</Inert> about <EntryLink id={entry_id} />,{' '}
                <Inert>{`${error.code}: ${error.detail}`}</Inert>, <Ago at={at} />
              </Text>
            </li>
          )}
        </Need>
      )}
      {isOperator && (
        <Need title="Stuck runs" found={runs} rows={runs.data ?? []}>
          {({ trajectory_id: id, agents, updated }) => (
            <Row key={id} href={`/agents/${encodeURIComponent(id)}`} title={id} at={updated}>
              <Inert>{agents}</Inert>: no worker takes it
            </Row>
          )}
        </Need>
      )}
      <Need title="Ends soon" found={approvals} rows={ends}>
        {({ href, title, about, at }) => (
          <Row key={`${href} ${title}`} href={href} title={title} at={at}>
            {about}
          </Row>
        )}
      </Need>
    </div>
  );
}

interface NeedProps<One> {
  readonly title: string;
  /** The address of the whole list. */
  readonly all?: string;
  readonly found: {
    readonly error: unknown;
    readonly isPending: boolean;
    readonly refetch: () => unknown;
  };
  readonly rows: readonly One[];
  readonly isMore?: boolean;
  readonly children: (one: One) => ReactNode;
}

/** A section with its number. One without rows is a quiet line. */
function Need<One>({ title, all, found, rows, isMore = false, children }: NeedProps<One>) {
  if (found.error !== null)
    return <Failed error={found.error} retry={() => void found.refetch()} />;
  if (rows.length === 0)
    return (
      <Text size="sm" c="dimmed" mb="sm">
        {title}: {found.isPending ? '…' : 'none'}
      </Text>
    );
  return (
    <Section
      title={`${title} ${rows.length}${isMore ? '+' : ''}`}
      actions={
        all !== undefined && (
          <Anchor component={Link} href={all} size="sm" underline="always">
            All
            <VisuallyHidden> of {title}</VisuallyHidden>
          </Anchor>
        )
      }
    >
      <ul className={listed.rows}>
        {rows.slice(0, ROWS).map(children)}
        {all === undefined && rows.length > ROWS && (
          <li className={listed.row}>and {rows.length - ROWS} more</li>
        )}
      </ul>
    </Section>
  );
}

interface RowProps {
  readonly href: string;
  readonly title: string;
  /** Of a proposal, whose amount has a column of its own. */
  readonly card?: Card;
  readonly at?: string | undefined;
  readonly children: ReactNode;
}

function Row({ href, title, card, at, children }: RowProps) {
  const { amounts, words } = card === undefined ? { amounts: '', words: title } : columnsOf(card);
  return (
    <li className={listed.row}>
      <Group justify="space-between" gap="0 12px" wrap="nowrap">
        <CutText size="sm">
          <Anchor
            component={Link}
            href={href}
            aria-label={visibleWords(title)}
            size="sm"
            fw={600}
            underline="hover"
          >
            <Words>{words}</Words>
          </Anchor>
        </CutText>
        {amounts !== '' && (
          <Text size="sm" fw={600} ml="auto" className={listed.aside}>
            {amounts}
          </Text>
        )}
        {at !== undefined && (
          <Text size="xs" c="dimmed" className={listed.aside}>
            <Ago at={at} />
          </Text>
        )}
      </Group>
      <CutText size="xs" c="dimmed">
        {children}
      </CutText>
    </li>
  );
}
