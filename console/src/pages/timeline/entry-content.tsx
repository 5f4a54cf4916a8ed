import { Alert, Anchor, Stack } from '@mantine/core';
import { Link } from 'wouter';
import { Fact, Facts } from '../../parts/facts.tsx';
import { Inert } from '../../parts/inert-text.tsx';
import { Part } from '../../parts/part.tsx';
import { incidentsHref } from '../incidents/start-address.ts';
import { simulationHref } from '../what-if/simulation-address.ts';
import { Authority } from './authority.tsx';
import { Begun } from './begun.tsx';
import { BranchFrom } from './branch-from.tsx';
import { Delegated } from './delegated.tsx';
import { EntryChanges } from './entry-changes.tsx';
import { type EntryDocument, payloadOf } from './entry-query.ts';
import { Proposed } from './proposed.tsx';
import { Ruled } from './ruled.tsx';

interface ContentProps {
  readonly entry: EntryDocument;
}

/** The content of an entry, by its kind. */
export function EntryContent({ entry }: ContentProps) {
  if (entry.fault !== undefined)
    return (
      <Alert color="red" variant="light" title="The entry is damaged">
        Its payload does not fit its id or its form. Run assize verify. The record has its text.
      </Alert>
    );
  return (
    <Stack gap="lg">
      <Ruled entry={entry} />
      <Proposed entry={entry} />
      <EntryChanges entry={entry} />
      <Begun entry={entry} />
      <Delegated entry={entry} />
      <KeyChanged entry={entry} />
      <Authority entry={entry} />
      <BranchFrom entry={entry} />
      <Part title="Simulation">
        <Anchor
          component={Link}
          href={simulationHref(entry.trajectory_id, entry.seq)}
          size="sm"
          underline="always"
        >
          Simulate from here
        </Anchor>
      </Part>
      <Part title="Blast radius">
        <Anchor
          component={Link}
          href={incidentsHref({ entry: entry.id })}
          size="sm"
          underline="always"
        >
          Show derived entries
        </Anchor>
      </Part>
    </Stack>
  );
}

function KeyChanged({ entry }: { readonly entry: EntryDocument }) {
  const change = payloadOf(entry, 'key_change');
  if (change === undefined) return null;
  return (
    <Part title="The key that signs from now on">
      <Facts>
        <Fact name="Key">
          <code>
            <Inert>{change.to}</Inert>
          </code>
        </Fact>
        <Fact name="Reason">{change.reason}</Fact>
      </Facts>
    </Part>
  );
}
