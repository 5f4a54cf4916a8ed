import { Alert, Button, Text } from '@mantine/core';
import { Link } from 'wouter';
import { proposalHref } from '../../parts/addresses.ts';
import { EntryLink } from '../../parts/entry-link.tsx';
import { Inert } from '../../parts/inert-text.tsx';
import { JsonText } from '../../parts/json-text.tsx';
import { useHead } from '../timeline/entries-query.ts';
import type { LeftInState } from './effects-query.ts';

interface StillProps {
  readonly left: LeftInState;
  readonly trajectory: string;
}

/** The state that the ledger still has after a call that did not happen, and its correction. */
export function StillInState({ left, trajectory }: StillProps) {
  const head = useHead(trajectory).data;
  const { entry_id, paths, correction } = left;
  return (
    <Alert variant="default" title="The ledger still says that it happened" role="status">
      <Text size="sm">
        <Inert>{paths.join(', ')}</Inert>, changed by <EntryLink id={entry_id} withTime />.
      </Text>
      {correction === undefined ? (
        <Text size="sm" mt="xs">
          The domain declares no correction. An agent has to propose one.
        </Text>
      ) : (
        <>
          <Text size="sm" mt="xs">
            The domain declares this correction, and nobody has proposed it yet:{' '}
            <b>
              <Inert>{correction.action}</Inert>
            </b>
          </Text>
          <JsonText value={correction.args} label="Arguments of the correction" />
          {head !== undefined && (
            <Button
              size="xs"
              mt="xs"
              component={Link}
              href={proposalHref(trajectory, head, correction)}
            >
              Open the correction as a proposal
            </Button>
          )}
        </>
      )}
    </Alert>
  );
}
