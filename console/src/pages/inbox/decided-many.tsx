import { Alert, List } from '@mantine/core';
import { EntryLink } from '../../parts/entry-link.tsx';
import { Inert } from '../../parts/inert-text.tsx';
import type { ManyResults } from './approvals-query.ts';

interface DecidedProps {
  readonly results: ManyResults;
  readonly onClose: () => void;
}

/** The results of one decision about many proposals: each with its entry, or with its problem. */
export function DecidedMany({ results, onClose }: DecidedProps) {
  return (
    <Alert
      mt="sm"
      variant="outline"
      color="gray"
      title={`${results.length} ${results.length === 1 ? 'proposal' : 'proposals'} decided, each by itself`}
      withCloseButton
      closeButtonLabel="Close the results"
      onClose={onClose}
    >
      <List size="xs">
        {results.map(({ id, ruling, problem }) => (
          <List.Item key={id}>
            {ruling === undefined ? (
              <Inert>{`not decided: ${String(problem?.['detail'])}`}</Inert>
            ) : (
              <>
                {ruling.ruling}
                {'entry_id' in ruling && (
                  <>
                    {' '}
                    by <EntryLink id={ruling.entry_id} />
                  </>
                )}
              </>
            )}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}
