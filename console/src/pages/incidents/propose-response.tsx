import { Button, Text } from '@mantine/core';
import { useState } from 'react';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import { tell } from '../../parts/tell.tsx';
import { usePlan, usePropose } from './incidents-query.ts';
import { PlanText } from './plan-text.tsx';
import type { Start } from './start-address.ts';

/** Proposes the response, after a dialog with the plan. */
export function ProposeResponse({ start }: { readonly start: Start }) {
  const [asked, setAsked] = useState<string>();
  return (
    <>
      <Button size="xs" onClick={() => setAsked(crypto.randomUUID())}>
        Propose the response…
      </Button>
      {asked !== undefined && (
        <ProposeDialog
          start={start}
          proposalKey={asked}
          onClose={() => setAsked(undefined)}
          onProposed={(approval) => {
            tell(
              'The response is proposed. When another person approves it, it is carried out.',
              approval === undefined ? undefined : { text: 'Inbox', href: `/inbox/${approval}` },
            );
            setAsked(undefined);
          }}
        />
      )}
    </>
  );
}

const NO_STEP = 'No step undoes anything here, so there is nothing to approve.';

interface DialogProps {
  readonly start: Start;
  readonly proposalKey: string;
  readonly onClose: () => void;
  readonly onProposed: (approval: string | undefined) => void;
}

function ProposeDialog({ start, proposalKey, onClose, onProposed }: DialogProps) {
  const plan = usePlan(start);
  const propose = usePropose(start, proposalKey);
  const hasNoStep = plan.data?.steps.length === 0;
  return (
    <ConfirmDialog
      title="Propose this response?"
      action="Propose"
      needsReason
      isPending={propose.isPending || plan.isPending}
      error={hasNoStep ? new Error(NO_STEP) : propose.error}
      onConfirm={(because) => {
        if (plan.data !== undefined && !hasNoStep)
          propose.mutate(because, { onSuccess: ({ approval }) => onProposed(approval) });
      }}
      onClose={onClose}
    >
      {plan.isPending && <Loading what="the plan" />}
      {plan.data === undefined && plan.error !== null && <Failed error={plan.error} />}
      {plan.data !== undefined && (
        <>
          <PlanText steps={plan.data.steps} remains={plan.data.remains} />
          <Text size="sm">
            A person other than you approves the whole plan. Each step is carried out once.
          </Text>
        </>
      )}
    </ConfirmDialog>
  );
}
