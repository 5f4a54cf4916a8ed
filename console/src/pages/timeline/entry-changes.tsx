import { Text } from '@mantine/core';
import { Changes } from '../../parts/changes.tsx';
import { Inert } from '../../parts/inert-text.tsx';
import { Part } from '../../parts/part.tsx';
import { Beliefs } from './beliefs.tsx';
import { type EntryDocument, payloadOf, valueAt } from './entry-query.ts';
import { HeldValue } from './held-value.tsx';
import type { Delta, Patch } from './payload.ts';

/** More changes than these are in the record only. */
const SHOWN = 50;

/** The changes of a commit or of a pending proposal: the state, the calls, and the beliefs. */
export function EntryChanges({ entry }: { readonly entry: EntryDocument }) {
  const commit = payloadOf(entry, 'commit');
  if (commit !== undefined)
    return <Delivered entry={entry} delta={commit.delta} at="/delta" isDone />;
  const proposal = payloadOf(entry, 'pending_approval')?.proposal;
  if (proposal === undefined) return null;
  return <Delivered entry={entry} delta={proposal.delta} at="/proposal/delta" isDone={false} />;
}

interface DeliveredProps {
  readonly entry: EntryDocument;
  readonly delta: Delta;
  /** The pointer to the delta in the payload. */
  readonly at: string;
  readonly isDone: boolean;
}

function Delivered({ entry, delta, at, isDone }: DeliveredProps) {
  const { trajectory_id: trajectory, seq } = entry;
  const patches = patchesOf(entry, delta, `${at}/state`);
  return (
    <>
      <Part title={titleOf(patches?.length ?? 1, isDone)}>
        {patches === undefined && <Text size="sm">The changes were erased.</Text>}
        {patches !== undefined && patches.length > 0 && (
          <Changes
            trajectory={trajectory}
            changes={patches.slice(0, SHOWN)}
            at={`${trajectory}@${seq - 1}`}
          />
        )}
        {patches !== undefined && patches.length > SHOWN && (
          <Text size="sm">{patches.length - SHOWN} more changes are in the record.</Text>
        )}
      </Part>
      {delta.effects.length > 0 && (
        <Part title={isDone ? 'Calls' : 'Calls that run after an approval'}>
          {delta.effects.map(({ id, effect }, n) => (
            <Call key={id} entry={entry} effect={effect} at={`${at}/effects/${n}/effect`} />
          ))}
        </Part>
      )}
      <Beliefs changes={delta.beliefs} />
    </>
  );
}

function titleOf(changes: number, isDone: boolean): string {
  if (changes === 0) return isDone ? 'The state did not change' : 'The state would not change';
  return isDone ? 'Changes of the state' : 'Changes of the state after an approval';
}

function Call({
  entry,
  effect,
  at,
}: {
  readonly entry: EntryDocument;
  readonly effect: unknown;
  readonly at: string;
}) {
  const held = valueAt(entry, at, effect);
  if ('missing' in held) return <HeldValue held={held} label="Call" />;
  const {
    tool,
    input,
    class: sort,
  } = held.value as {
    readonly tool?: string;
    readonly input?: unknown;
    readonly class?: { readonly reversibility?: string };
  };
  return (
    <div>
      <Text size="sm">
        <b>
          <Inert>{tool ?? 'a call of an earlier version'}</Inert>
        </b>
        {sort?.reversibility !== undefined && `, ${sort.reversibility}`}
      </Text>
      <HeldValue held={{ value: input }} label={`Input of ${tool}`} />
    </div>
  );
}

/** The operations on the state, with the values that are stored elsewhere. Undefined if erased. */
function patchesOf(entry: EntryDocument, delta: Delta, at: string): readonly Patch[] | undefined {
  const held = valueAt(entry, at, delta.state);
  if ('missing' in held || !Array.isArray(held.value)) return undefined;
  return held.value.map((patch: Patch, n) => {
    if (!('value' in patch)) return patch;
    const value = valueAt(entry, `${at}/${n}/value`, patch.value);
    return { ...patch, value: 'missing' in value ? value.missing : value.value } as Patch;
  });
}
