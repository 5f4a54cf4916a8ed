import { Alert, Anchor, Button, Group, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import type { Approval, Card } from '../../api/queries.ts';
import { Inert } from '../../parts/inert-text.tsx';
import { tell } from '../../parts/tell.tsx';
import { useDecideMany } from '../inbox/approvals-query.ts';

interface AskedProps {
  /** The standing approval that was asked for, and waits. */
  readonly asked: Approval;
  readonly reason: string;
  /** The other calls that wait. */
  readonly calls: readonly Card[];
  readonly onClose: () => void;
}

/**
 * The next steps after a standing approval was asked for. The person who asks cannot approve it,
 * and can decide about the calls that wait already.
 */
export function AskedStanding({ asked, reason, calls, onClose }: AskedProps) {
  const many = useDecideMany();
  const { id = '' } = (asked.action.args ?? {}) as { readonly id?: string };
  const mine = calls.filter(({ may_decide }) => may_decide);
  const others = asked.deciders.join(', ');
  const approveCalls = async () => {
    const note = `${reason} (with the standing approval ${id})`;
    const { results } = await many.mutateAsync({ decision: 'approve', reason: note, items: mine });
    tell(
      `${results.filter(({ ruling }) => ruling?.ruling === 'committed').length} of ${results.length} approved`,
    );
  };
  const failed = many.data?.results.filter(({ ruling }) => ruling?.ruling !== 'committed') ?? [];
  return (
    <Stack gap="xs" role="status" aria-label="Asked for">
      <Text size="sm">
        The standing approval <Inert>{id}</Inert> waits for another person, because you asked for it
        {others !== '' && (
          <>
            : <Inert>{others}</Inert>
          </>
        )}
        .{' '}
        <Anchor component={Link} href={`/inbox/${asked.id}?show=all`} size="sm" underline="always">
          Show it
        </Anchor>
      </Text>
      {many.error !== null && (
        <Alert color="red" role="alert">
          {many.error.message}
        </Alert>
      )}
      {failed.length > 0 && (
        <Alert color="red" title={`${failed.length} not approved`}>
          {failed.map(({ id, problem, ruling }) => (
            <Text key={id} size="sm">
              <Inert>
                {String(
                  problem?.['detail'] ??
                    (ruling !== undefined && 'detail' in ruling ? ruling.detail : id),
                )}
              </Inert>
            </Text>
          ))}
        </Alert>
      )}
      <Group gap="xs">
        {mine.length > 0 && many.data === undefined && (
          <Button
            size="xs"
            variant="default"
            loading={many.isPending}
            // A refusal is shown from the state of the request.
            onClick={() => void approveCalls().catch(() => undefined)}
          >
            Approve{' '}
            {mine.length === 1 ? 'the call that waits' : `the ${mine.length} calls that wait`}
          </Button>
        )}
        <Button size="xs" variant="subtle" onClick={onClose}>
          Close
        </Button>
      </Group>
    </Stack>
  );
}
