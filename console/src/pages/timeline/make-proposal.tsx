import { Button, CopyButton, Group, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { api, dataOf } from '../../api/client.ts';
import { useMe } from '../../api/queries.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { Inert } from '../../parts/inert-text.tsx';
import { isReadable } from '../../parts/schema-form/unreadable.ts';
import { tell } from '../../parts/tell.tsx';
import type { Trial } from './trial.ts';

interface MakeProps {
  readonly trajectory: string;
  readonly trial: Trial;
}

/** Makes the proposal that was tried, if the person is its agent too. Others can hand it on. */
export function MakeProposal({ trajectory, trial }: MakeProps) {
  const { principal, isBefore: _, ...proposal } = trial;
  const me = useMe().data;
  const [isAsking, setAsking] = useState(false);
  const queries = useQueryClient();
  const text = JSON.stringify(proposal);
  // A second press is the same proposal, and another text is another one.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text makes the key another one
  const key = useMemo(() => crypto.randomUUID(), [text]);
  const make = useMutation({
    mutationFn: () =>
      dataOf(
        api.POST('/v1/trajectories/{trajectory}/proposals', {
          params: { path: { trajectory }, header: { 'Idempotency-Key': key } },
          body: proposal as never,
        }),
      ),
    onSuccess: (made) =>
      tell(`Proposed: ${'ruling' in made ? made.ruling : 'it waits for a person'}`),
    onSettled: () => queries.invalidateQueries({ queryKey: ['log'] }),
  });
  const isAgent = me?.kinds.includes('agent') === true && me.name === principal;
  return (
    <>
      {isAsking && (
        <ConfirmDialog
          title="Propose it?"
          action="Propose it"
          isDangerous={false}
          isPending={make.isPending}
          error={make.error}
          onConfirm={() => make.mutate(undefined, { onSuccess: () => setAsking(false) })}
          onClose={() => setAsking(false)}
        >
          <Text size="sm">
            The proposal is recorded in <Inert>{trajectory}</Inert>, and its calls are made if it is
            committed.
          </Text>
        </ConfirmDialog>
      )}
      <Group gap="xs">
        {isAgent && (
          <Button size="xs" disabled={!isReadable(proposal.args)} onClick={() => setAsking(true)}>
            Propose it…
          </Button>
        )}
        <CopyButton value={text}>
          {({ copied, copy }) => (
            <Button size="xs" variant="default" onClick={copy}>
              {copied ? 'Copied' : 'Copy the proposal'}
            </Button>
          )}
        </CopyButton>
      </Group>
    </>
  );
}
