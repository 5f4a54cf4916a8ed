import { Alert, Anchor, Button, Checkbox, Group, Kbd, Text, TextInput } from '@mantine/core';
import { shownOf } from 'assize/internal/views/shown.ts';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import { codeOf, ProblemError } from '../../api/problem.ts';
import type { Approval } from '../../api/queries.ts';
import fieldClasses from '../../parts/field.module.css';
import { JudgementLine } from '../../parts/judgement.tsx';
import { useScopedKeys } from '../../parts/list-keys.ts';
import { Amounts } from '../../parts/schema-form/money.ts';
import { fromPointer } from '../../parts/schema-form/pointer.ts';
import { SchemaForm } from '../../parts/schema-form/schema-form.tsx';
import { isReadable } from '../../parts/schema-form/unreadable.ts';
import { tell } from '../../parts/tell.tsx';
import { useDecide } from './approvals-query.ts';
import { stopText } from './decision-card.tsx';
import { DecisionError } from './decision-error.tsx';
import classes from './decision-form.module.css';
import { DetectionVector } from './detection-vector.tsx';
import type { DecisionDraft } from './use-decision-draft.ts';

interface DecisionProps {
  readonly approval: Approval;
  readonly draft: DecisionDraft;
  readonly onDecided: () => void;
}

/** The decision of the signed-in person: about the shown proposal, or with other arguments. */
export function DecisionForm({ approval, draft, onDecided }: DecisionProps) {
  const [reason, setReason] = useState('');
  // After the key `r`, Enter in the reason rejects.
  const [isRejecting, setRejecting] = useState(false);
  // The reason was written to reject: an approval does not have it.
  const [isAgainst, setAgainst] = useState(false);
  const [lack, setLack] = useState<'rejection' | 'override'>();
  const reasonInput = useRef<HTMLInputElement>(null);
  const approveButton = useRef<HTMLButtonElement>(null);
  const decide = useDecide();
  const { amendment, override, judgement, answers, isAnswered } = draft;
  const isAmending = amendment.view !== undefined;
  const { isChanged } = amendment;
  const isSendable = !isAmending || isReadable(amendment.args);
  const arm = () => {
    setRejecting(true);
    reasonInput.current?.focus();
  };
  const send = async (decision: 'approve' | 'reject') => {
    if (decide.isPending || !approval.may_decide) return;
    if (decision === 'approve' && (!isSendable || !isAnswered)) return;
    const needs = decision === 'reject' ? 'rejection' : override ? 'override' : undefined;
    const given = decision === 'approve' && isAgainst ? '' : reason.trim();
    if (needs !== undefined && given === '') {
      setLack(needs);
      return decision === 'reject' ? arm() : reasonInput.current?.focus();
    }
    const changed = isChanged ? { args: amendment.args } : { answers };
    const terms = decision === 'approve' ? { override, ...changed } : {};
    const ruling = await decide.mutateAsync({ approval, decision, reason: given, ...terms });
    const rules = judgement.broken.map(({ invariant_id }) => invariant_id).join(', ');
    const against = needs === 'override' ? `, with an override of ${rules || 'rules'}` : '';
    tell(
      ruling.ruling === 'escalated'
        ? `Approved${against}. Another approval is needed.`
        : `Decided: ${ruling.ruling}${against}`,
      { text: titleOf(approval, isChanged ? amendment.args : undefined), href: approval.card.page },
    );
    onDecided();
  };
  // A refusal is shown from the state of the request.
  const begin = (decision: 'approve' | 'reject') => void send(decision).catch(() => undefined);
  const amend = () => amendment.show(isAmending ? undefined : 'form');
  useScopedKeys([
    // A letter alone approves nothing: Enter on the button does.
    ['a', () => approveButton.current?.focus()],
    ['r', arm],
    ['e', amend],
  ]);
  if (!approval.may_decide) return <NotYours approval={approval} />;
  const broken = brokenOf(decide.error) ?? judgement.broken;
  const isRefused = judgement.judged?.ruling === 'refused';
  const needsOverride = codeOf(decide.error) === 'override_needed' || judgement.needsOverride;
  return (
    <form
      className={classes.decision}
      aria-label="Decision"
      // Enter in a field decides nothing, but in the reason after the key `r`.
      onSubmit={(event) => event.preventDefault()}
    >
      {isAmending && (
        <div className={classes.amendment}>
          <Amend approval={approval} draft={draft} />
        </div>
      )}
      <JudgementLine
        judged={judgement.judged}
        isOld={judgement.isOld}
        isUnreadable={judgement.isUnreadable}
        error={judgement.error}
        committed={isChanged ? 'Would be approved as amended' : 'Would be approved'}
      />
      <DetectionVector broken={broken} />
      {(needsOverride || override) && (
        <Checkbox
          mt="xs"
          label="Override the rules that this breaks"
          checked={override}
          onChange={(event) => draft.setOverride(event.currentTarget.checked)}
        />
      )}
      <TextInput
        ref={reasonInput}
        mt={6}
        size="xs"
        classNames={{ root: fieldClasses.field }}
        label="Reason"
        description={
          isRejecting
            ? 'Enter rejects. The reason stays in the ledger.'
            : `${override ? 'An override' : 'A rejection'} needs one. It stays in the ledger.`
        }
        error={
          lack !== undefined &&
          `Write a reason: ${lack === 'override' ? 'an override' : 'a rejection'} needs one.`
        }
        aria-required={override}
        onBlur={() => setRejecting(false)}
        onKeyDown={({ key }) => key === 'Enter' && isRejecting && begin('reject')}
        value={reason}
        onChange={(event) => {
          setReason(event.currentTarget.value);
          setAgainst(isRejecting);
          setLack(undefined);
        }}
      />
      <DecisionError error={decide.error} forget={decide.reset} />
      <Group mt="sm" gap="xs">
        <Button
          ref={approveButton}
          size="xs"
          title={stopText(approval.card) ?? 'The key a comes here, and Enter approves'}
          onClick={() => begin('approve')}
          {...(override && { color: 'yellow' })}
          variant={isRefused ? 'default' : 'filled'}
          disabled={!isSendable || !isAnswered || approval.card.stop !== undefined}
          loading={decide.isPending}
          rightSection={<Kbd size="xs">a</Kbd>}
        >
          {override ? 'Override and approve' : isChanged ? 'Approve amended' : 'Approve'}
        </Button>
        <Button
          size="xs"
          color="red"
          variant="light"
          disabled={decide.isPending}
          onClick={() => begin('reject')}
          rightSection={<Kbd size="xs">r</Kbd>}
        >
          Reject
        </Button>
        <Button
          size="xs"
          variant="default"
          onClick={amend}
          aria-pressed={isAmending}
          rightSection={<Kbd size="xs">e</Kbd>}
        >
          Amend
        </Button>
        <Text size="xs" c="dimmed">
          Signs the digest {approval.digest.slice(0, 8)}…
          {isChanged && ' with these arguments instead'}
        </Text>
      </Group>
    </form>
  );
}

function Amend({
  approval: { action, present, card },
  draft: { amendment, judgement },
}: Pick<DecisionProps, 'approval' | 'draft'>) {
  const { schema, args, set, view = 'form', show } = amendment;
  if (schema === undefined)
    return (
      <Text size="sm" c="dimmed" role="status">
        Loading the form…
      </Text>
    );
  const places = card.fields.flatMap(({ at, amount }) => (amount === undefined ? [] : [at]));
  const { fields } = shownOf({ name: action.name, args: withZeros(args, places) }, present);
  const amounts = new Map(fields.flatMap((one) => (one.amount ? [[one.at, one]] : [])));
  return (
    <Focused>
      <Amounts value={amounts}>
        <SchemaForm
          title="Arguments to approve instead"
          schema={schema}
          value={args}
          onChange={set}
          findings={judgement.findings}
          view={view}
          onView={show}
        />
      </Amounts>
    </Focused>
  );
}

/**
 * Zeros in place of amounts: a field stays one of an amount while its text is not yet an amount, in
 * the currency that the arguments have now.
 */
function withZeros(args: unknown, places: readonly string[]): unknown {
  const copy = structuredClone(args);
  for (const at of places) {
    const path = fromPointer(at);
    const last = path.pop() as string;
    const parent = path.reduce<any>((value, name) => value?.[name], copy);
    if (typeof parent === 'object' && parent !== null) parent[last] = 0;
  }
  return copy;
}

/** Moves the focus to the first field once, so that the keyboard goes on there. */
function Focused({ children }: { readonly children: ReactNode }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(
    () => place.current?.querySelector<HTMLElement>('input:not([type=radio]), textarea')?.focus(),
    [],
  );
  return <div ref={place}>{children}</div>;
}

/** The title of what was decided: with the amended arguments, and what was asked beside it. */
function titleOf({ action: { name }, present, card }: Approval, amended: unknown): string {
  if (amended === undefined) return card.title;
  return `${shownOf({ name, args: amended }, present).title} (asked: ${card.title})`;
}

function NotYours({ approval }: { readonly approval: Approval }) {
  const { of, effect } = approval as Approval & { readonly effect?: { readonly epoch: number } };
  if (of === 'effect' && effect !== undefined)
    return (
      <Alert
        className={classes.decision}
        color="yellow"
        title="The outcome of this call is not known"
      >
        <Anchor component={Link} href={`/effects/${effect.epoch}`} underline="always">
          Settle the call
        </Anchor>
      </Alert>
    );
  return (
    <Alert className={classes.decision} color="gray" title="You may not decide this">
      {approval.deciders.length === 0
        ? `The channel ${approval.channel} has no decider among the principals of the configuration.`
        : `It is for ${approval.deciders.join(', ')}. A person does not decide proposals of its own agents.`}
    </Alert>
  );
}

/** The rules that the server named when it refused the decision. */
function brokenOf(error: unknown) {
  const vector = error instanceof ProblemError ? error.problem.detection_vector : undefined;
  return vector?.filter(({ result }) => result !== 'pass');
}
