import { Anchor, Text } from '@mantine/core';
import { Fact, Facts } from '../../parts/facts.tsx';
import { Inert } from '../../parts/inert-text.tsx';
import { ObservedValue } from '../../parts/observed-value.tsx';
import { Part } from '../../parts/part.tsx';
import { roleText } from '../../parts/role-text.ts';
import { withoutTrace } from '../../parts/without-trace.ts';
import { askedOf } from './asked-of.ts';
import { type EntryDocument, payloadOf, valueAt } from './entry-query.ts';
import { HeldValue } from './held-value.tsx';
import { isOfRuntime } from './payload.ts';

/** The proposal: the action with its arguments, and the observations of the agent. */
export function Proposed({ entry }: { readonly entry: EntryDocument }) {
  const asked = askedOf(entry);
  if (asked === undefined) return null;
  const { action, role, args, argsAt, observationsAt } = asked;
  // The trace is the last one, so the others keep their places.
  const observations = withoutTrace(asked.observations);
  const { trace } = entry;
  const amended = payloadOf(entry, 'commit')?.amended;
  return (
    <>
      <Part title={isOfRuntime(asked) ? 'What was recorded' : 'What was asked'}>
        <Facts>
          <Fact name="Action">{action}</Fact>
          <Fact name="Role">{roleText(role)}</Fact>
          {trace !== undefined && (
            <Fact name="Trace">
              {trace.url === undefined ? (
                trace.trace_id
              ) : (
                <Anchor href={trace.url}>{trace.trace_id}</Anchor>
              )}
            </Fact>
          )}
        </Facts>
        <HeldValue held={valueAt(entry, argsAt, args)} label="Arguments" />
        {amended !== undefined && (
          <>
            <Text size="sm">The approver amended the arguments. They were:</Text>
            <HeldValue
              held={valueAt(entry, '/amended/action/args', amended.action.args)}
              label="Proposed arguments"
            />
          </>
        )}
      </Part>
      {observations.length > 0 && (
        <Part title={isOfRuntime(asked) ? 'Answers of the calls' : 'What had been observed'}>
          {observations.map(({ name, value, oracle_key }, n) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two observations may be equal
            <div key={n}>
              <Text size="sm" fw={600}>
                <Inert>{name}</Inert>
              </Text>
              {value === undefined ? (
                <Text size="sm">{`The answer ${oracle_key?.slice(0, 12)}… of an oracle.`}</Text>
              ) : (
                <Observed entry={entry} at={`${observationsAt}/${n}/value`} {...{ name, value }} />
              )}
            </div>
          ))}
        </Part>
      )}
    </>
  );
}

interface ObservedProps {
  readonly entry: EntryDocument;
  /** The place of the value in the payload. */
  readonly at: string;
  readonly name: string;
  readonly value: unknown;
}

function Observed({ entry, at, name, value }: ObservedProps) {
  const held = valueAt(entry, at, value);
  if ('missing' in held) return <Text size="sm">{held.missing}</Text>;
  return <ObservedValue trajectory={entry.trajectory_id} name={name} value={held.value ?? null} />;
}
