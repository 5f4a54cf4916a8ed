import { Button, Text } from '@mantine/core';
import { useState } from 'react';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { Inert } from '../../parts/inert-text.tsx';
import { useStop } from './agents-query.ts';
import { OpenDelegations } from './open-delegations.tsx';

interface StopProps {
  readonly trajectory: string;
  readonly does: 'halt' | 'resume';
  readonly pending: number;
}

/** Halts a trajectory or ends its halt, after a dialog that says what follows. */
export function StopButton({ trajectory, does, pending }: StopProps) {
  const [isAsking, setAsking] = useState(false);
  const stop = useStop(trajectory, does);
  const isHalt = does === 'halt';
  return (
    <>
      <Button
        size="xs"
        variant={isHalt ? 'light' : 'default'}
        {...(isHalt && { color: 'red' })}
        onClick={() => setAsking(true)}
      >
        {isHalt ? 'Halt…' : 'Resume…'}
      </Button>
      {isAsking && (
        <ConfirmDialog
          title={isHalt ? 'Halt this world?' : 'Resume this world?'}
          action={isHalt ? 'Halt' : 'Resume'}
          isDangerous={isHalt}
          needsReason
          isPending={stop.isPending}
          error={stop.error}
          onConfirm={(reason) => stop.mutate(reason, { onSuccess: () => setAsking(false) })}
          onClose={() => setAsking(false)}
        >
          <Text size="sm">
            {isHalt ? (
              <>
                From now on no proposal and no approval counts in <Inert>{trajectory}</Inert>, until
                an admin resumes it.
                {pending > 0 &&
                  ` ${pending} ${pending === 1 ? 'proposal waits' : 'proposals wait'} there now.`}
              </>
            ) : (
              <>
                Proposals and approvals count again in <Inert>{trajectory}</Inert>.
              </>
            )}
          </Text>
          <OpenDelegations
            trajectory={trajectory}
            says={isHalt ? 'With it halt the worlds of open delegations:' : 'With it resume:'}
          />
        </ConfirmDialog>
      )}
    </>
  );
}
