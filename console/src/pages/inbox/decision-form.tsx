import { Alert, Button, Checkbox, Group, JsonInput, Kbd, Text, TextInput } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { useRef, useState } from 'react';
import { codeOf } from '../../api/problem.ts';
import type { Approval } from '../../api/queries.ts';
import { tell } from '../../parts/tell.ts';
import { useDecide } from './approvals-query.ts';
import classes from './decision-form.module.css';
import { DetectionVector } from './detection-vector.tsx';

interface DecisionProps {
  readonly approval: Approval;
  readonly onDecided: () => void;
}

/** The decision of the signed-in person about exactly the shown proposal. */
export function DecisionForm({ approval, onDecided }: DecisionProps) {
  const [reason, setReason] = useState('');
  const [amended, setAmended] = useState<string>();
  const [override, setOverride] = useState(false);
  const reasonInput = useRef<HTMLInputElement>(null);
  const decide = useDecide();
  const args = amended === undefined ? undefined : jsonOf(amended);
  const isAmendable = amended === undefined || args !== undefined;
  const needsOverride = codeOf(decide.error) === 'override_needed';
  const amend = () =>
    setAmended((text) => (text === undefined ? JSON.stringify(approval.action.args, null, 2) : undefined));
  const send = async (decision: 'approve' | 'reject') => {
    if (decide.isPending || !approval.may_decide || !isAmendable) return;
    if (decision === 'reject' && reason.trim() === '') return reasonInput.current?.focus();
    const changed = decision === 'approve' && args !== undefined ? { args: args.value } : {};
    const ruling = await decide.mutateAsync({ approval, decision, reason, override, ...changed });
    tell(ruling.ruling === 'escalated' ? 'Approved. Another approval is needed.' : `Decided: ${ruling.ruling}`);
    onDecided();
  };
  // A refusal is shown from the state of the request.
  const begin = (decision: 'approve' | 'reject') => void send(decision).catch(() => undefined);
  useHotkeys([
    ['a', () => begin('approve')],
    ['r', () => begin('reject')],
    ['e', amend],
  ]);
  if (!approval.may_decide)
    return (
      <Alert className={classes.decision} color="gray" title="You may not decide this">
        {approval.deciders.length === 0
          ? `The channel ${approval.channel} has no decider among the principals of the configuration.`
          : `It is for ${approval.deciders.join(', ')}. A person does not decide proposals of its own agents.`}
      </Alert>
    );
  return (
    <form
      className={classes.decision}
      aria-label="Decision"
      onSubmit={(event) => {
        event.preventDefault();
        begin('approve');
      }}
    >
      {amended !== undefined && (
        <JsonInput
          label="Arguments to approve instead"
          autosize
          minRows={3}
          maxRows={14}
          mb="xs"
          value={amended}
          onChange={setAmended}
          error={args === undefined ? 'This is not JSON.' : undefined}
          styles={{ input: { fontFamily: 'var(--assize-mono)', fontSize: 13 } }}
        />
      )}
      <TextInput
        ref={reasonInput}
        label="Reason"
        description="A rejection needs one. It stays in the ledger."
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
      {decide.error !== null && (
        <Alert color="red" mt="xs" role="alert">
          {decide.error.message}
        </Alert>
      )}
      <DetectionVector error={decide.error} />
      {(needsOverride || override) && (
        <Checkbox
          mt="xs"
          label="Override the rules that this breaks"
          checked={override}
          onChange={(event) => setOverride(event.currentTarget.checked)}
        />
      )}
      <Group mt="sm" gap="xs">
        <Button type="submit" disabled={!isAmendable} loading={decide.isPending} rightSection={<Kbd size="xs">a</Kbd>}>
          {amended === undefined ? 'Approve' : 'Approve amended'}
        </Button>
        <Button color="red" variant="light" onClick={() => begin('reject')} rightSection={<Kbd size="xs">r</Kbd>}>
          Reject
        </Button>
        <Button
          variant="default"
          onClick={amend}
          aria-pressed={amended !== undefined}
          rightSection={<Kbd size="xs">e</Kbd>}
        >
          Amend
        </Button>
        <Text size="xs" c="dimmed">
          Signs the digest {approval.digest.slice(0, 8)}…
        </Text>
      </Group>
    </form>
  );
}

/** The value of a JSON text. Undefined for another text. */
function jsonOf(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
