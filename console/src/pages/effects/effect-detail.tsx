import { Anchor, Badge, Group, Stack, Table, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { EntryLink } from '../../parts/entry-link.tsx';
import { Fact, Facts } from '../../parts/facts.tsx';
import { World } from '../../parts/halted.tsx';
import { Inert, Words } from '../../parts/inert-text.tsx';
import { Ago } from '../../parts/instant.tsx';
import { Part } from '../../parts/part.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import { Term } from '../../parts/term.tsx';
import { EffectCallCard } from './effect-call-card.tsx';
import { wordsOf } from './effect-list.tsx';
import { useEffectTransaction, type WholeTransaction } from './effects-query.ts';
import { ShapeMark } from './fate-mark.tsx';
import { stateOf } from './fates.ts';
import { SettlementEntries } from './settlement-entries.tsx';

/** One transaction: its calls, the resources that it holds, and its entries. */
export function EffectDetail({ epoch }: { readonly epoch: string }) {
  const found = useEffectTransaction(epoch);
  if (found.isPending) return <Loading what="the transaction" />;
  if (found.data === undefined)
    return <Failed error={found.error} retry={() => void found.refetch()} />;
  const transaction = found.data;
  const { effects } = transaction;
  return (
    <Stack gap="lg">
      <Head transaction={transaction} />
      <Part title={effects.length === 0 ? 'No call yet' : 'Calls'}>
        {effects.map((call) => (
          <EffectCallCard key={call.n} call={call} transaction={transaction} />
        ))}
      </Part>
      <Part title={transaction.claims.length === 0 ? 'No resource' : 'Resources'}>
        {transaction.claims.length > 0 && <Resources transaction={transaction} />}
      </Part>
      <Part title="Entries">
        <Entries transaction={transaction} />
      </Part>
    </Stack>
  );
}

function Head({ transaction }: { readonly transaction: WholeTransaction }) {
  const { epoch, trajectory_id, principal, writ, name, submitted_as, effects, at, entry_id } =
    transaction;
  const isInDoubt = effects.some((effect) => effect.needs_human);
  return (
    <header>
      <Group gap="xs" align="center" mb={4}>
        <Title order={2} size="h4" className="wraps">
          <Words>{effects.length === 0 ? `Transaction ${epoch}` : wordsOf(transaction)}</Words>
        </Title>
        <Badge
          variant="default"
          tt="none"
          {...(isInDoubt && { leftSection: <ShapeMark shape="doubt" /> })}
        >
          <Inert>{stateOf(transaction)}</Inert>
        </Badge>
      </Group>
      <Facts>
        {at !== undefined && (
          <Fact name={entry_id === undefined ? 'Last entry' : 'Committed'}>
            <Ago at={at} />
          </Fact>
        )}
        <Fact name="Epoch">{`${epoch}`}</Fact>
        <Fact name="Principal">{principal}</Fact>
        <Fact name="World">
          <Anchor
            component={Link}
            href={`/agents/${encodeURIComponent(trajectory_id)}`}
            size="sm"
            underline="always"
          >
            <World id={trajectory_id} />
          </Anchor>
        </Fact>
        <Fact name="Writ">
          <Anchor
            component={Link}
            href={`/agents/${encodeURIComponent(trajectory_id)}?writ=${writ}`}
            size="sm"
            underline="always"
          >
            {writ.slice(0, 12)}…
          </Anchor>
        </Fact>
        <Fact name="Name">{submitted_as ?? name}</Fact>
      </Facts>
    </header>
  );
}

function Resources({ transaction }: { readonly transaction: WholeTransaction }) {
  const { claims, epoch } = transaction;
  return (
    <Table layout="fixed">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Resource</Table.Th>
          <Table.Th w={80}>Access</Table.Th>
          <Table.Th>
            <Term>Frontier</Term>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {claims.map(({ access, scope, frontier }) => (
          <Table.Tr key={`${access} ${scope}`}>
            <Table.Td>
              <Inert>{scope}</Inert>
            </Table.Td>
            <Table.Td>{access}</Table.Td>
            <Table.Td>{frontierText(frontier, epoch)}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

/** The lowest epoch that works there, seen from this transaction. */
function frontierText(frontier: number | null, epoch: number): ReactNode {
  if (frontier === null) return 'free: no active work';
  if (frontier === epoch) return `epoch ${epoch}: this transaction holds it`;
  return (
    <>
      <Anchor component={Link} href={`/effects/${frontier}`} size="sm" underline="always">
        epoch {frontier}
      </Anchor>{' '}
      {frontier < epoch ? 'goes first' : 'holds it now'}
    </>
  );
}

function Entries({ transaction }: { readonly transaction: WholeTransaction }) {
  const { entry_id, undone_by, cause } = transaction;
  if (entry_id === undefined && undone_by === undefined)
    return (
      <Text size="sm">
        {cause === undefined ? (
          'No entry commits it yet.'
        ) : (
          <Inert>{`No entry commits it: ${cause}.`}</Inert>
        )}
      </Text>
    );
  return (
    <Facts>
      {entry_id !== undefined && (
        <Fact name="Committed by">
          <EntryLink id={entry_id} withTime />
        </Fact>
      )}
      {undone_by !== undefined && (
        <Fact name="Undone after">
          <EntryLink id={undone_by} withTime />
        </Fact>
      )}
      {entry_id !== undefined && <SettlementEntries commit={entry_id} />}
    </Facts>
  );
}
