import { Badge, Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api, dataOf } from '../../api/client.ts';
import type { Approval } from '../../api/queries.ts';
import { BundleButton } from '../../parts/bundle-button.tsx';
import { Changes } from '../../parts/changes.tsx';
import { EntryLink } from '../../parts/entry-link.tsx';
import { Fact, Facts } from '../../parts/facts.tsx';
import { Inert } from '../../parts/inert-text.tsx';
import { Ago } from '../../parts/instant.tsx';
import { JsonText } from '../../parts/json-text.tsx';
import { Part } from '../../parts/part.tsx';
import { Empty, Failed, Loading } from '../../parts/states.tsx';
import { DecisionForm } from './decision-form.tsx';

interface DetailProps {
  readonly id: string;
  readonly onDecided: () => void;
}

/** Everything that an approver signs: the calls, the changes and the cost, and why it waits. */
export function ApprovalDetail({ id, onDecided }: DetailProps) {
  const found = useQuery({
    queryKey: ['log', 'approval', id],
    queryFn: () => dataOf(api.GET('/v1/approvals/{approval}', { params: { path: { approval: id } } })),
  });
  if (found.isPending) return <Loading what="the proposal" />;
  if (found.data === undefined) return <Failed error={found.error} retry={() => void found.refetch()} />;
  const { status, approval, ruling } = found.data;
  if (approval === undefined) return <Resolved id={id} status={status} ruling={ruling} />;
  return (
    <>
      <Shown approval={approval} />
      <DecisionForm approval={approval} onDecided={onDecided} />
    </>
  );
}

/** A proposal that was decided meanwhile: how, and by which entry. */
function Resolved({ id, status, ruling }: { readonly id: string; readonly status: string; readonly ruling: unknown }) {
  const { ruling: name, entry_id } = (ruling ?? {}) as { readonly ruling?: string; readonly entry_id?: string };
  return (
    <Empty title={status === 'void' ? 'This proposal is void' : `This proposal is decided: ${name}`}>
      {status === 'void' || entry_id === undefined ? (
        'Its trajectory was concluded or moved on, so no decision counts any more.'
      ) : (
        <Stack gap="sm" align="center">
          <span>
            Recorded by <EntryLink id={entry_id} />.
          </span>
          <BundleButton scope={{ approval: id }} />
        </Stack>
      )}
    </Empty>
  );
}

function Shown({ approval }: { readonly approval: Approval }) {
  const { action, detail, invariant_id, reason, requester, trajectory_id, at, channel } = approval;
  const { tools, changes, budget_cost, approvals, approved_by, deciders, expires, freezes, digest } = approval;
  return (
    <Stack gap="lg">
      <header>
        <Group gap="xs" align="baseline">
          <Title order={2} size="h3" className="wraps">
            <Inert>{action.name}</Inert>
          </Title>
          <Badge variant="default">
            <Inert>{channel}</Inert>
          </Badge>
        </Group>
        <Text size="sm" c="dimmed">
          <Inert>{requester}</Inert> asked <Ago at={at} /> in <Inert>{trajectory_id}</Inert>
        </Text>
      </header>
      <Part title="Why a person is asked">
        <Text>
          <Inert>{detail}</Inert>
        </Text>
        <Text size="xs" c="dimmed">
          {invariant_id === undefined ? reason : <Inert>{`Rule ${invariant_id}`}</Inert>}
        </Text>
      </Part>
      <Part title={tools.length === 0 ? 'No tool is called' : 'Calls that run'}>
        {tools.map((call) => (
          <div key={call.id}>
            <Text fw={600} size="sm">
              <Inert>{call.tool ?? 'a call that was erased'}</Inert>
            </Text>
            <JsonText value={call.input ?? null} label={`Input of ${call.tool}`} />
          </div>
        ))}
      </Part>
      <Part title={changes?.length === 0 ? 'The state does not change' : 'Changes of the state'}>
        {changes === null && <Text size="sm">The changes were erased.</Text>}
        {changes !== null && changes.length > 0 && <Changes trajectory={trajectory_id} changes={changes} />}
      </Part>
      <Part title="Arguments">
        {action.args === undefined ? (
          <Text size="sm">The arguments were erased.</Text>
        ) : (
          <JsonText value={action.args} label="Arguments" />
        )}
      </Part>
      <Facts>
        {Object.keys(budget_cost).length > 0 && (
          <Fact name="Cost">
            {Object.entries(budget_cost)
              .map(([unit, amount]) => `${amount} ${unit}`)
              .join(', ')}
          </Fact>
        )}
        <Fact name="Approvals">
          {approved_by.length} of {approvals}
          {approved_by.length > 0 && ` (${approved_by.map(({ principal }) => principal).join(', ')})`}
        </Fact>
        <Fact name="May decide">
          {deciders.length === 0 ? 'no principal of the configuration' : deciders.join(', ')}
        </Fact>
        {expires !== undefined && (
          <Fact name="Expires">
            <Ago at={expires} />
          </Fact>
        )}
        <Fact name="Frozen meanwhile">{freezes === 'world' ? 'the whole state' : freezes.join(', ') || 'nothing'}</Fact>
        <Fact name="Digest">
          <code className="wraps">{digest}</code>
        </Fact>
      </Facts>
    </Stack>
  );
}
