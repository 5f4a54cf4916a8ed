import { Alert, Button, Checkbox, Group, Radio, Stack, Textarea } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { codeOf } from '../../api/problem.ts';
import { tell } from '../../parts/tell.tsx';
import {
  type EffectCall,
  type EffectDecision,
  type LeftInState,
  useResolveEffect,
  type WholeTransaction,
} from './effects-query.ts';

type As = EffectDecision['as'];

interface ResolveProps {
  readonly call: EffectCall;
  readonly transaction: WholeTransaction;
  /** Called when the state still has what the commit changed, although the call did not happen. */
  readonly onLeft: (left: LeftInState) => void;
}

/** A person's decision about an effect without a known outcome, with the finding behind it. */
export function ResolveForm({ call, transaction, onLeft }: ResolveProps) {
  const [as, setAs] = useState<As>();
  const [version, setVersion] = useState(transaction.version);
  const [evidence, setEvidence] = useState('');
  const [confirm, setConfirm] = useState(false);
  const resolve = useResolveEffect(`${transaction.epoch}`, call.n);
  const mayHappenTwice = as === 'retry' && call.class.sink === 'blind';
  const needsConfirm = mayHappenTwice || codeOf(resolve.error) === 'needs_confirmation';
  const isReady = as !== undefined && evidence.trim() !== '' && (!needsConfirm || confirm);
  const send = async (event: FormEvent) => {
    event.preventDefault();
    if (!isReady || resolve.isPending) return;
    // A refusal is shown from the state of the request.
    const done = await resolve
      .mutateAsync({ as, evidence, version, ...(needsConfirm && { confirm }) })
      .catch(() => undefined);
    // The next decision is about what the page shows then.
    if (done === undefined) {
      setAs(undefined);
      return;
    }
    // The written text is about the attempt before: another one needs another decision.
    setAs(undefined);
    setEvidence('');
    setConfirm(false);
    tell(`Recorded: ${as}`);
    const { left_in_state: left } = done;
    if (left !== undefined) onLeft(left);
  };
  return (
    <form aria-label={`Decision about ${call.tool}`} onSubmit={(event) => void send(event)}>
      <Stack gap="xs" mt="sm">
        <Radio.Group
          size="sm"
          label="Look at the other system. What is true there?"
          value={as ?? ''}
          onChange={(value) => {
            setAs(value as As);
            setVersion(transaction.version);
          }}
        >
          <Stack gap={6} mt={6}>
            {choicesFor(transaction).map(({ as: value, label, about }) => (
              <Radio key={value} size="sm" value={value} label={label} description={about} />
            ))}
          </Stack>
        </Radio.Group>
        <Textarea
          size="sm"
          label="Reason"
          description="The finding that supports the decision. It stays in the ledger."
          autosize
          minRows={2}
          maxRows={8}
          value={evidence}
          onChange={(event) => setEvidence(event.currentTarget.value)}
        />
        {needsConfirm && (
          <Checkbox
            size="xs"
            label="Call again even if the effect may then happen twice"
            checked={confirm}
            onChange={(event) => setConfirm(event.currentTarget.checked)}
          />
        )}
        {resolve.error !== null && (
          <Alert color="red" role="alert">
            {resolve.error.message}
          </Alert>
        )}
        <Group>
          <Button size="xs" type="submit" disabled={!isReady} loading={resolve.isPending}>
            Record the decision
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface Choice {
  readonly as: As;
  readonly label: string;
  readonly about: string;
}

/** The decisions. Each has another consequence in a transaction that is rolled back. */
function choicesFor({ phase }: WholeTransaction): readonly Choice[] {
  const isCommitted = phase === 'committed' || phase === 'settled';
  return [
    {
      as: 'applied',
      label: 'It happened',
      about: isCommitted ? 'The effect stands.' : 'The tool compensates it now.',
    },
    {
      as: 'undone',
      label: 'It did not happen',
      about: isCommitted ? 'It will not happen any more.' : 'Nothing is left to compensate.',
    },
    {
      as: 'retry',
      label: 'Call again',
      about: isCommitted ? 'The tool runs now.' : 'The tool compensates again.',
    },
    { as: 'residue', label: 'Leave it as it is', about: 'The runtime ignores it from now on.' },
  ];
}
