import { Anchor } from '@mantine/core';
import { visible } from 'assize/internal/views/visible.ts';
import { Link } from 'wouter';
import { timelineHref } from '../../parts/addresses.ts';
import { EntryLink } from '../../parts/entry-link.tsx';
import { Fact, Facts } from '../../parts/facts.tsx';
import { Part } from '../../parts/part.tsx';
import { type EntryDocument, payloadOf, valueAt } from './entry-query.ts';
import { HeldValue } from './held-value.tsx';

/** The beginning of a trajectory: its domain, its source, and its first state. */
export function Begun({ entry }: { readonly entry: EntryDocument }) {
  const root = payloadOf(entry, 'root');
  const branch = payloadOf(entry, 'branch');
  const begun = root ?? branch;
  if (begun === undefined) return null;
  const { domain, note, writs, compiler_version } = begun;
  return (
    <>
      <Part title="How it began">
        <Facts>
          <Fact name="Domain">{`${domain.name}, version ${domain.version}`}</Fact>
          {note !== undefined && <Fact name="Note">{note}</Fact>}
          {branch !== undefined && (
            <Fact name="Branch of">
              <EntryLink id={branch.source_commit_id} />
            </Fact>
          )}
          {root?.delegated_from !== undefined && (
            <Fact name="Delegated from">
              <Anchor
                component={Link}
                href={timelineHref(root.delegated_from.trajectory_id)}
                size="sm"
              >
                {visible(root.delegated_from.trajectory_id)}
              </Anchor>
            </Fact>
          )}
          <Fact name="Writs">{String(writs.length)}</Fact>
          <Fact name="Compiler">{compiler_version}</Fact>
        </Facts>
      </Part>
      {root !== undefined && (
        <Part title="First state">
          <HeldValue
            held={valueAt(entry, '/initial_state', root.initial_state)}
            label="First state"
          />
        </Part>
      )}
    </>
  );
}
