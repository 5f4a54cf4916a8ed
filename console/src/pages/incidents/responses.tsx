import { Anchor, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import { Inert, Words } from '../../parts/inert-text.tsx';
import { Ago } from '../../parts/instant.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import { useWaiting } from '../inbox/approvals-query.ts';
import { type Incident, useIncidents } from './incidents-query.ts';
import { INCIDENTS } from './incidents-trajectory.ts';
import { PlanText } from './plan-text.tsx';

/** The proposed responses, and the approved ones, newest first, each with its outcomes. */
export function Responses() {
  const found = useIncidents();
  const { cards = [] } = useWaiting(false).data ?? {};
  const waiting = cards.filter((one) => one.trajectory_id === INCIDENTS && one.action === 'open');
  if (found.isPending) return <Loading what="the responses" />;
  if (found.data === undefined)
    return <Failed error={found.error} retry={() => void found.refetch()} />;
  if (found.data.length === 0 && waiting.length === 0)
    return <Text size="sm">No response is proposed or approved yet.</Text>;
  return (
    <Stack gap="md">
      {waiting.map(({ id, page, title, requester, at }) => (
        <Text key={id} size="sm">
          <Anchor component={Link} href={page} size="sm" underline="always">
            <Words>{title}</Words>
          </Anchor>{' '}
          waits for a person, proposed by <Inert>{requester}</Inert> <Ago at={at} />
        </Text>
      ))}
      {found.data.map((incident) => (
        <Response key={incident.id} incident={incident} />
      ))}
    </Stack>
  );
}

function Response({ incident }: { readonly incident: Incident }) {
  const {
    id,
    because,
    opened_by,
    approved_by = '',
    opened_at,
    closed_at,
    steps,
    remains,
  } = incident;
  return (
    <article aria-label={`Incident ${id}`}>
      <Text size="sm" fw={600} className="wraps">
        <Inert>{because}</Inert>
      </Text>
      <Text size="sm" c="dimmed">
        <code>{id}</code>, proposed by <Inert>{opened_by}</Inert> <Ago at={opened_at} />, approved
        by <Inert>{approved_by}</Inert>,{' '}
        {closed_at === undefined ? (
          'in progress'
        ) : (
          <>
            closed <Ago at={closed_at} />
          </>
        )}
      </Text>
      <PlanText steps={steps} remains={remains} />
    </article>
  );
}
