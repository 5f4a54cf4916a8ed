import { Alert, Text } from '@mantine/core';
import { EntryLink } from '../../parts/entry-link.tsx';
import { Inert } from '../../parts/inert-text.tsx';
import { JsonText } from '../../parts/json-text.tsx';
import type { LeftInState } from './effects-query.ts';

/** The state that the ledger still has after a call that did not happen, and its correction. */
export function StillInState({ left }: { readonly left: LeftInState }) {
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
        </>
      )}
    </Alert>
  );
}
