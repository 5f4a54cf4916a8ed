import { Badge, Checkbox, Group, Text, UnstyledButton } from '@mantine/core';
import { visibleWords } from 'assize/internal/views/visible.ts';
import { useState } from 'react';
import type { Card } from '../../api/queries.ts';
import { CutText } from '../../parts/cut-text.tsx';
import { HaltedChip } from '../../parts/halted.tsx';
import { Inert, Words } from '../../parts/inert-text.tsx';
import { Ago } from '../../parts/instant.tsx';
import { MoreOnScroll } from '../../parts/more-on-scroll.tsx';
import { StopChip } from '../../parts/stop-chip.tsx';
import classes from './approval-list.module.css';
import { columnsOf } from './common-sum.ts';
import { askedAs } from './gated-call-of.ts';
import type { CardGroup, Grouping } from './group-approvals.ts';
import { SumText } from './sum-text.tsx';

interface ListProps {
  readonly groups: readonly CardGroup[];
  /** The property that the members of a group share. */
  readonly head: Grouping;
  readonly openId: string | undefined;
  readonly marked: ReadonlySet<string>;
  readonly onOpen: (id: string) => void;
  readonly onMark: (ids: readonly string[], isMarked: boolean) => void;
}

/** The rows that are drawn at first, and each time that the list is scrolled near to its end. */
const ROWS = 10;

/** The waiting proposals. Like ones stand together under one heading. */
export function ApprovalList({ groups, head, ...row }: ListProps) {
  const [wanted, setWanted] = useState(ROWS);
  const ids = groups.flatMap(({ cards }) => cards.map(({ id }) => id));
  const drawn = Math.max(wanted, ids.indexOf(row.openId ?? '') + ROWS / 2);
  let before = 0;
  return (
    <>
      {groups.map(({ key, cards }) => {
        const rows = cards.slice(0, Math.max(0, drawn - before));
        before += cards.length;
        if (rows.length === 0) return null;
        return (
          <section key={key} aria-label={`${cards.length} of ${nameOf(cards, head)}`}>
            {cards.length > 1 && <GroupHead cards={cards} name={nameOf(cards, head)} {...row} />}
            <ul className={classes.rows}>
              {rows.map((card) => (
                <Row key={card.id} card={card} {...row} />
              ))}
            </ul>
          </section>
        );
      })}
      {drawn < ids.length && (
        <MoreOnScroll key={drawn} isPaused={false} onMore={() => setWanted(drawn + ROWS)} />
      )}
    </>
  );
}

/** The name of a group: the property that its members share. */
function nameOf([first]: readonly Card[], head: Grouping): string {
  if (first === undefined) return '';
  const { action, rule, requester, fields, trajectory_id } = first;
  if (head === 'agent') return requester;
  if (head === 'rule') return rule ?? 'no rule';
  if (head === 'like') return `${[action, rule].filter(Boolean).join(', ')} in ${trajectory_id}`;
  return fields.find(({ label }) => label === head.field)?.text ?? `no ${head.field}`;
}

function GroupHead({
  cards,
  name,
  marked,
  onMark,
}: Pick<ListProps, 'marked' | 'onMark'> & {
  readonly cards: readonly Card[];
  readonly name: string;
}) {
  const ids = cards.filter((one) => one.may_decide).map((one) => one.id);
  const count = ids.filter((id) => marked.has(id)).length;
  return (
    <Group className={classes.group} gap="xs" wrap="nowrap">
      <Checkbox
        size="xs"
        aria-label={`Mark all ${ids.length} of ${name}`}
        disabled={ids.length === 0}
        checked={count > 0 && count === ids.length}
        indeterminate={count > 0 && count < ids.length}
        onChange={(event) => onMark(ids, event.currentTarget.checked)}
      />
      <Text size="xs" fw={600}>
        {cards.length} of <Inert>{name}</Inert>
        <SumText cards={cards} />
      </Text>
    </Group>
  );
}

function Row({
  card,
  openId,
  marked,
  onOpen,
  onMark,
}: Omit<ListProps, 'groups' | 'head'> & { readonly card: Card }) {
  const { id, title, detail, requester, trajectory_id, at, approvals, approved_by } = card;
  const { may_decide, expires } = card;
  const isOpen = id === openId;
  const { amounts, words } = columnsOf(card);
  return (
    <li className={classes.row} data-open={isOpen || undefined} ref={isOpen ? showRow : undefined}>
      <Checkbox
        size="xs"
        className={classes.mark}
        aria-label={`Mark ${title} of ${requester}`}
        disabled={!may_decide}
        checked={marked.has(id)}
        onChange={(event) => onMark([id], event.currentTarget.checked)}
      />
      <div className={classes.text}>
        <Group justify="space-between" gap="xs" wrap="nowrap">
          <UnstyledButton
            className={classes.open}
            title={visibleWords(title)}
            aria-label={visibleWords(title)}
            aria-current={isOpen ? 'true' : undefined}
            onClick={() => onOpen(id)}
          >
            <CutText size="sm">
              <strong>
                <Words>{words}</Words>
              </strong>
            </CutText>
          </UnstyledButton>
          {amounts !== '' && (
            <Text size="sm" fw={600} className={classes.amount}>
              {amounts}
            </Text>
          )}
        </Group>
        <CutText size="xs" lines={2}>
          <Inert>{detail}</Inert>
        </CutText>
        <Group gap={6} mt={2}>
          <CutText size="xs" c="dimmed" lines={2}>
            <Ago at={at} />
            {expires !== undefined && (
              <>
                , ends <Ago at={expires} />
              </>
            )}{' '}
            · <Inert>{requester}</Inert> in <Inert>{trajectory_id}</Inert>
            <Inert>{askedAs(card)}</Inert>
          </CutText>
          <HaltedChip world={trajectory_id} />
          <StopChip stop={card.stop} />
          {approvals > 1 && (
            <Badge size="xs" variant="default">
              {approved_by.length} of {approvals}
            </Badge>
          )}
          {!may_decide && (
            <Badge size="xs" variant="default">
              not yours
            </Badge>
          )}
        </Group>
      </div>
    </li>
  );
}

/** Of the row that opens by a key. */
function showRow(row: HTMLElement | null): void {
  row?.scrollIntoView({ block: 'nearest' });
}
