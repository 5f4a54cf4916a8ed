import { Badge, Checkbox, Group, Text, UnstyledButton } from '@mantine/core';
import type { Approval } from '../../api/queries.ts';
import { CutText } from '../../parts/cut-text.tsx';
import { Inert } from '../../parts/inert-text.tsx';
import { Ago } from '../../parts/instant.tsx';
import classes from './approval-list.module.css';
import { askedAs, namedAction } from './gated-call-of.ts';
import type { ApprovalGroup } from './group-approvals.ts';
import { SumText } from './sum-text.tsx';

interface ListProps {
  readonly groups: readonly ApprovalGroup[];
  readonly openId: string | undefined;
  readonly marked: ReadonlySet<string>;
  readonly onOpen: (id: string) => void;
  readonly onMark: (ids: readonly string[], isMarked: boolean) => void;
}

/** The waiting proposals. Like ones stand together under one heading. */
export function ApprovalList({ groups, ...row }: ListProps) {
  return (
    <>
      {groups.map(({ key, approvals }) => (
        <section
          key={key}
          aria-label={`${approvals.length} of ${approvals[0] && namedAction(approvals[0].action).name}`}
        >
          {approvals.length > 1 && <GroupHead approvals={approvals} {...row} />}
          <ul className={classes.rows}>
            {approvals.map((approval) => (
              <Row key={approval.id} approval={approval} {...row} />
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

function GroupHead({
  approvals,
  marked,
  onMark,
}: Pick<ListProps, 'marked' | 'onMark'> & { readonly approvals: readonly Approval[] }) {
  const [first] = approvals as readonly [Approval, ...Approval[]];
  const { name } = namedAction(first.action);
  const ids = approvals.filter((one) => one.may_decide).map((one) => one.id);
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
        {approvals.length} like this: <Inert>{name}</Inert>
        {first.invariant_id !== undefined && (
          <>
            , <Inert>{first.invariant_id}</Inert>
          </>
        )}
        <SumText approvals={approvals} />
      </Text>
    </Group>
  );
}

function Row({
  approval,
  openId,
  marked,
  onOpen,
  onMark,
}: Omit<ListProps, 'groups'> & { readonly approval: Approval }) {
  const { id, shown, detail, requester, trajectory_id, at, approvals, approved_by, may_decide } =
    approval;
  return (
    <li className={classes.row} data-open={id === openId || undefined}>
      <Checkbox
        size="xs"
        aria-label={`Mark ${shown.title} of ${requester}`}
        disabled={!may_decide}
        checked={marked.has(id)}
        onChange={(event) => onMark([id], event.currentTarget.checked)}
      />
      <UnstyledButton
        className={classes.open}
        aria-current={id === openId ? 'true' : undefined}
        onClick={() => onOpen(id)}
      >
        <Group justify="space-between" gap="xs" wrap="nowrap">
          <CutText size="sm">
            <strong>
              <Inert>{shown.title}</Inert>
            </strong>
          </CutText>
          <Text size="xs" c="dimmed" className={classes.when}>
            <Ago at={at} />
          </Text>
        </Group>
        <CutText size="xs" lines={2}>
          <Inert>{detail}</Inert>
        </CutText>
        <Group gap={6} mt={2}>
          <CutText size="xs" c="dimmed">
            <Inert>{requester}</Inert> in <Inert>{trajectory_id}</Inert>
            <Inert>{askedAs(approval.action)}</Inert>
          </CutText>
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
      </UnstyledButton>
    </li>
  );
}
