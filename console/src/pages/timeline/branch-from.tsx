import { Alert, Button, Group, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { api, dataOf } from '../../api/client.ts';
import { useMe } from '../../api/queries.ts';
import { timelineHref } from '../../parts/addresses.ts';
import { Part } from '../../parts/part.tsx';
import { lastCommitBefore } from './entries-query.ts';
import type { EntryDocument } from './entry-query.ts';

/** Begins a branch after an entry. Only for administrators. */
export function BranchFrom({ entry }: { readonly entry: EntryDocument }) {
  const me = useMe();
  const [isOpen, setOpen] = useState(false);
  if (me.data?.kinds.includes('admin') !== true) return null;
  if (isOpen) return <BranchForm entry={entry} onClose={() => setOpen(false)} />;
  return (
    <Group>
      <Button size="xs" variant="default" onClick={() => setOpen(true)}>
        Branch from here
      </Button>
    </Group>
  );
}

function BranchForm({
  entry,
  onClose,
}: {
  readonly entry: EntryDocument;
  readonly onClose: () => void;
}) {
  const { trajectory_id: trajectory } = entry;
  const point = useBranchPoint(entry);
  const [note, setNote] = useState('');
  const [name, setName] = useState('');
  const [, navigate] = useLocation();
  const queries = useQueryClient();
  const made = useMutation({
    mutationFn: () =>
      dataOf(
        api.POST('/v1/trajectories/{trajectory}/branches', {
          params: { path: { trajectory } },
          body: {
            at: `${trajectory}@${point.data}`,
            note,
            ...(name !== '' && { trajectory_id: name }),
          },
        }),
      ),
    onSettled: () => void queries.invalidateQueries({ queryKey: ['log'] }),
  });
  return (
    <Part title="Branch from here">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          // An answer after the person has left the page does not lead back.
          made.mutate(undefined, {
            onSuccess: ({ trajectory_id }) => navigate(timelineHref(trajectory_id)),
          });
        }}
      >
        <Stack gap="xs" maw={460}>
          <Textarea
            label="Note"
            description="Why the branch is made. The ledger keeps it."
            required
            autosize
            data-autofocus
            maxLength={4_096}
            value={note}
            onChange={(event) => setNote(event.currentTarget.value)}
          />
          <TextInput
            label="Name"
            description="Of the new world. Without one, it gets a name."
            maxLength={128}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          {point.data !== undefined && point.data !== entry.seq && (
            <Text size="sm">
              This entry did not change the state. The branch begins after the entry {point.data},
              the last commit before.
            </Text>
          )}
          {(made.error ?? point.error) !== null && (
            <Alert color="red" variant="light" role="alert">
              {(made.error ?? point.error)?.message}
            </Alert>
          )}
          <Group gap="xs">
            <Button
              type="submit"
              size="xs"
              loading={made.isPending}
              disabled={note.trim() === '' || point.data === undefined}
            >
              Make the branch
            </Button>
            <Button size="xs" variant="default" onClick={onClose}>
              Cancel
            </Button>
          </Group>
        </Stack>
      </form>
    </Part>
  );
}

/** The kinds of entries that a branch can begin after. */
const SOURCES = ['commit', 'root', 'branch'];

/** The seq of the entry with the state at a point: itself, or the last commit before it. */
function useBranchPoint({ trajectory_id: trajectory, seq, kind }: EntryDocument) {
  return useQuery({
    queryKey: ['branch-point', trajectory, seq],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () => (SOURCES.includes(kind) ? seq : lastCommitBefore(trajectory, seq)),
  });
}
