import { Button, CopyButton, Group, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { CutText } from '../../parts/cut-text.tsx';
import { Inert } from '../../parts/inert-text.tsx';
import { JsonText } from '../../parts/json-text.tsx';
import classes from './effect-call-card.module.css';
import { failedText } from './effect-list.tsx';
import type { EffectCall, LeftInState, StoredText, WholeTransaction } from './effects-query.ts';
import { FateMark } from './fate-mark.tsx';
import { classWord, fateOf } from './fates.ts';
import { StillInState } from './left-in-state.tsx';
import { ResolveForm } from './resolve-form.tsx';

interface CallProps {
  readonly call: EffectCall;
  readonly transaction: WholeTransaction;
}

/** One call: its fate, its class, its resources, what went in and what came back. */
export function EffectCallCard({ call, transaction }: CallProps) {
  const {
    n,
    tool,
    title = tool,
    failures,
    why,
    branch,
    resolved,
    needs_human,
    undo_cost,
    claims = [],
  } = call;
  const { delivery, reversibility, sink } = call.class;
  const [left, setLeft] = useState<LeftInState>();
  return (
    <article
      className={classes.call}
      data-doubt={needs_human || undefined}
      aria-label={`Call ${n + 1}: ${tool}`}
    >
      <Group justify="space-between" gap="xs">
        <Title order={4} size="h6" className="wraps">
          {n + 1}. <Inert>{title}</Inert>
        </Title>
        <FateMark fate={fateOf(call, transaction)} />
      </Group>
      <ul className={classes.class} aria-label="Class">
        {[delivery, reversibility, sink].map((word) => (
          <li key={word}>
            <b>{word}</b> <Dimmed>{classWord(word)}</Dimmed>
          </li>
        ))}
      </ul>
      {claims.length > 0 && (
        <Text size="xs" mb={8}>
          <Dimmed>on </Dimmed>
          <Inert>{claims.map(({ access, scope }) => `${scope} (${access})`).join(', ')}</Inert>
        </Text>
      )}
      <Group gap={6} mb={8} wrap="nowrap">
        <CutText size="xs">
          <Dimmed>key that the other system has: </Dimmed>
          <code>
            <Inert>{call.key}</Inert>
          </code>
        </CutText>
        <CopyButton value={call.key}>
          {({ copied, copy }) => (
            <Button size="compact-xs" variant="default" flex="none" onClick={copy}>
              {copied ? 'Copied' : 'Copy'}
            </Button>
          )}
        </CopyButton>
      </Group>
      <div className={classes.texts}>
        <Stored call={n} name="Input" text={call.input} none="The log has no input yet." />
        <Stored call={n} name="Answer" text={call.answer} none="The log has no answer." />
        {call.residue !== undefined && (
          <Stored call={n} name="What compensation left" text={call.residue} none="" />
        )}
        {call.differs !== undefined && (
          <Stored call={n} name="Two different answers" text={call.differs} none="" />
        )}
      </div>
      <Notes>
        {failures > 0 && `${failedText(failures)}.`}
        {why !== undefined && `Its last error: ${why}.`}
        {branch !== undefined && `Made in the branch ${branch}.`}
        {undo_cost !== undefined && `Compensation costs ${amountsText(undo_cost)}.`}
        {resolved !== undefined && `${resolved.by} decided: ${FOUND[resolved.as] ?? resolved.as}.`}
      </Notes>
      {needs_human && transaction.may_settle === true && (
        <ResolveForm call={call} transaction={transaction} onLeft={setLeft} />
      )}
      {left !== undefined && <StillInState left={left} trajectory={transaction.trajectory_id} />}
      {needs_human && transaction.may_settle !== true && (
        <Text size="sm" mt="xs">
          A counselor of the kind operator or an admin decides about it.
        </Text>
      )}
    </article>
  );
}

function Stored({
  call,
  name,
  text,
  none,
}: {
  readonly call: number;
  readonly name: string;
  readonly text: StoredText | undefined;
  readonly none: string;
}) {
  return (
    <div>
      <Text size="xs" c="dimmed" mb={2}>
        {name}
      </Text>
      {text !== undefined && Object.hasOwn(text, 'value') ? (
        <JsonText value={text.value} label={`${name} of call ${call + 1}`} />
      ) : (
        <Text size="sm">
          {text === undefined
            ? none
            : text.erased_by !== undefined
              ? 'It was erased.'
              : 'The store lacks it.'}
        </Text>
      )}
    </div>
  );
}

/** The findings of a person about a call. */
const FOUND: Readonly<Record<string, string>> = {
  applied: 'it happened',
  undone: 'it did not happen, or is undone',
  retry: 'call it again',
  residue: 'leave it as it is',
};

function Notes({ children }: { readonly children: readonly (string | false)[] }) {
  const said = children.filter((one) => one !== false);
  if (said.length === 0) return null;
  return (
    <Text size="sm" mt={8}>
      <Inert>{said.join(' ')}</Inert>
    </Text>
  );
}

function Dimmed({ children }: { readonly children: string }) {
  return (
    <Text span c="dimmed" inherit>
      {children}
    </Text>
  );
}

function amountsText(amounts: Readonly<Record<string, number>>): string {
  return Object.entries(amounts)
    .map(([unit, amount]) => `${amount} ${unit}`)
    .join(', ');
}
