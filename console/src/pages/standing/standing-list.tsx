import { Badge, Button, Group, Stack, Table, Text } from '@mantine/core';
import { useState } from 'react';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { EntryLink } from '../../parts/entry-link.tsx';
import { Inert } from '../../parts/inert-text.tsx';
import { Ago } from '../../parts/instant.tsx';
import { Part } from '../../parts/part.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import { tell } from '../../parts/tell.tsx';
import { amountsText } from './like-calls.ts';
import classes from './standing-list.module.css';
import {
  type StandingApproval,
  type StandingUse,
  useEndStanding,
  useMayChangeStanding,
  useStanding,
} from './standing-query.ts';

const STATUS: Readonly<Record<StandingApproval['status'], string>> = {
  active: 'active',
  used_up: 'used up',
  expired: 'expired',
  ended: 'ended',
};

/** The standing approvals of a trajectory of tool calls, as a part of its page. */
export function StandingPart({ trajectory }: { readonly trajectory: string }) {
  return (
    <Part title="Standing approvals">
      <StandingList trajectory={trajectory} />
    </Part>
  );
}

/** The newest standing approvals, each with its uses. */
function StandingList({ trajectory }: { readonly trajectory: string }) {
  const found = useStanding(trajectory);
  if (found.isPending) return <Loading what="standing approvals" />;
  if (found.data === undefined)
    return <Failed error={found.error} retry={() => void found.refetch()} />;
  const { standing, next } = found.data;
  if (standing.length === 0)
    return (
      <Text size="sm">There is none. Ask for one at a call that waits: Allow more like this.</Text>
    );
  return (
    <Stack gap="md">
      {standing.map((one) => (
        <One key={`${one.id} ${one.approved_at}`} trajectory={trajectory} standing={one} />
      ))}
      {next !== undefined && (
        <Text size="sm">Older ones are left out. assize standing lists all.</Text>
      )}
    </Stack>
  );
}

function One({
  trajectory,
  standing,
}: {
  readonly trajectory: string;
  readonly standing: StandingApproval;
}) {
  const {
    id,
    status,
    terms,
    used,
    spent,
    approved_by,
    approved_at,
    approval_reason,
    asked_by,
    ended,
    entry_id,
  } = standing;
  const mayEnd = useMayChangeStanding();
  const amounts = Object.entries(terms?.amounts ?? {}).map(
    ([unit, most]) => `${spent[unit] ?? 0} of ${most} ${unit}`,
  );
  return (
    <section aria-label={`Standing approval ${id}`}>
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <div>
          <Text size="sm" fw={600} component="div">
            {terms === null ? (
              'Its terms were erased'
            ) : (
              <>
                <Inert>{terms.tools.join(', ')}</Inert> by <Inert>{terms.agent}</Inert>
              </>
            )}{' '}
            <Badge variant="default" tt="none">
              {STATUS[status]}
            </Badge>
          </Text>
          {terms !== null && (
            <Text size="sm">
              <Inert>{[`${used} of ${terms.uses} uses`, ...amounts].join(', ')}</Inert>, until{' '}
              <Ago at={terms.expires} />: <Inert>{terms.because}</Inert>
            </Text>
          )}
          <Text size="xs" c="dimmed" component="div">
            {asked_by !== undefined && (
              <>
                asked for by <Inert>{asked_by}</Inert>,{' '}
              </>
            )}
            approved by <Inert>{approved_by}</Inert> <Ago at={approved_at} />
            {approval_reason !== undefined && (
              <>
                : <Inert>{approval_reason}</Inert>
              </>
            )}
            {entry_id !== undefined && (
              <>
                {' '}
                (<EntryLink id={entry_id} />)
              </>
            )}
            {ended !== undefined && (
              <>
                , ended by <Inert>{ended.by ?? 'an unknown principal'}</Inert> <Ago at={ended.at} />{' '}
                (
                <EntryLink id={ended.entry_id} />)
              </>
            )}
          </Text>
        </div>
        {mayEnd && (status === 'active' || status === 'used_up') && (
          <EndButton trajectory={trajectory} id={id} />
        )}
      </Group>
      {standing.calls.length > 0 && <Uses id={id} calls={standing.calls} used={used} />}
    </section>
  );
}

interface UsesProps {
  readonly id: string;
  readonly calls: readonly StandingUse[];
  readonly used: number;
}

function Uses({ id, calls, used }: UsesProps) {
  return (
    <section className={classes.scroll} aria-label={`Uses of ${id}`}>
      <Table fz="sm" verticalSpacing={4} aria-label={`Calls that ${id} let through`}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Call</Table.Th>
            <Table.Th>Time</Table.Th>
            <Table.Th>Arguments</Table.Th>
            <Table.Th>Amounts</Table.Th>
            <Table.Th>Outcome</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {calls.map(
            ({ call, at, tool = 'erased', args, amounts, outcome, entry_id, closed_by }) => (
              <Table.Tr key={call}>
                <Table.Td>
                  <Inert>{tool}</Inert> {entry_id !== undefined && <EntryLink id={entry_id} />}
                </Table.Td>
                <Table.Td>
                  <Ago at={at} />
                </Table.Td>
                <Table.Td className="wraps">
                  <Inert>{args === undefined ? 'erased' : JSON.stringify(args)}</Inert>
                </Table.Td>
                <Table.Td>
                  <Inert>{amountsText(amounts)}</Inert>
                </Table.Td>
                <Table.Td>
                  {outcome ?? 'not reported'}{' '}
                  {closed_by !== undefined && <EntryLink id={closed_by} />}
                </Table.Td>
              </Table.Tr>
            ),
          )}
        </Table.Tbody>
      </Table>
      {calls.length < used && (
        <Text size="sm">
          The newest {calls.length} of {used} uses.
        </Text>
      )}
    </section>
  );
}

function EndButton({ trajectory, id }: { readonly trajectory: string; readonly id: string }) {
  const [isAsking, setAsking] = useState(false);
  const end = useEndStanding(trajectory, id);
  const send = async () => {
    const ruling = await end.mutateAsync();
    tell(
      ruling.ruling === 'committed'
        ? `Ended: ${id}`
        : `Not ended: ${'detail' in ruling ? ruling.detail : id}`,
    );
    setAsking(false);
  };
  return (
    <>
      <Button size="xs" variant="light" color="red" onClick={() => setAsking(true)}>
        End it…
      </Button>
      {isAsking && (
        <ConfirmDialog
          title="End this standing approval?"
          action="End it"
          isPending={end.isPending}
          error={end.error}
          // A refusal is shown from the state of the request.
          onConfirm={() => void send().catch(() => undefined)}
          onClose={() => setAsking(false)}
        >
          <Text size="sm">
            From now on its calls wait for a person again. Calls that it let through stay.
          </Text>
        </ConfirmDialog>
      )}
    </>
  );
}
