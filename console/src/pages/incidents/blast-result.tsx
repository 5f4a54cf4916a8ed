import { List, Text } from '@mantine/core';
import { counted } from '../../parts/counted.ts';
import { EntryLink } from '../../parts/entry-link.tsx';
import { Inert } from '../../parts/inert-text.tsx';
import { At } from '../../parts/instant.tsx';
import { Section } from '../../parts/section.tsx';
import { BlastGraph } from './blast-graph.tsx';
import type { AffectedEntry, Blast } from './incidents-query.ts';
import { Rows, SHOWN_MAX } from './rows.tsx';
import { STARTS, type Start, startNameIn } from './start-address.ts';

/** The affected entries as a graph or a list, with facts, calls and pending proposals. */
export function BlastResult({ blast, start }: { readonly blast: Blast; readonly start: Start }) {
  const { entries, facts, ended, calls, pending, affected, total, erased } = blast;
  const places = new Map(entries.map((entry) => [entry.id, entry]));
  if (affected === 0) return <NoStart start={start} />;
  return (
    <>
      <Section
        title="Affected entries"
        about={`${counted(affected, 'entry', 'entries')} of ${total.toLocaleString('en')}.${erased > 0 ? ` ${counted(erased, 'value is', 'values are')} erased: derivations through them may be missing.` : ''}`}
      >
        {affected <= SHOWN_MAX ? (
          <BlastGraph entries={entries} />
        ) : (
          <EntryList entries={entries} count={affected} places={places} />
        )}
      </Section>
      <Facts title="Facts" about="Believed because of it." facts={facts} places={places} />
      <Facts
        title="Ended facts"
        about="Facts of other entries that affected entries ended."
        facts={ended}
        places={places}
      />
      {calls.length > 0 && (
        <Section
          title="Calls"
          about="Made because of it by registered tools, or through the gateway."
        >
          <Rows rows={calls}>
            {({ entry, id, tool, reversibility, outcome, via }) => (
              <List.Item key={`${entry} ${id}`}>
                <Inert>{tool ?? 'an erased call'}</Inert>: {undoable(reversibility, outcome, via)},{' '}
                <Place id={entry} places={places} />
              </List.Item>
            )}
          </Rows>
        </Section>
      )}
      {pending.length > 0 && (
        <Section title="Pending proposals" about="They derive from it, and can still be approved.">
          <Rows rows={pending}>
            {(id) => (
              <List.Item key={id}>
                <Inert>{places.get(id)?.action ?? 'a proposal'}</Inert>,{' '}
                <Place id={id} places={places} />
              </List.Item>
            )}
          </Rows>
        </Section>
      )}
    </>
  );
}

/** The start is an affected entry itself, so none is affected if the ledger has no such start. */
function NoStart({ start }: { readonly start: Start }) {
  const name = startNameIn(start);
  return (
    <Text size="sm" role="status">
      The ledger has no entry with this {STARTS[name].toLowerCase()}:{' '}
      <Inert>{`${start[name]}`}</Inert>
      {(start.since ?? start.until) === undefined ? '' : ', in this period'}. Check how it is
      written.
    </Text>
  );
}

type Places = ReadonlyMap<string, AffectedEntry>;

function EntryList({
  entries,
  count,
  places,
}: {
  readonly entries: readonly AffectedEntry[];
  readonly count: number;
  readonly places: Places;
}) {
  return (
    <Rows rows={entries} count={count}>
      {({ id, action, kind, at, is_start, from }) => (
        <List.Item key={id}>
          <Place id={id} places={places} />: <Inert>{action ?? kind}</Inert>, <At at={at} />
          {is_start && '; start'}
          {from.slice(0, 3).map(({ entry, how }) => (
            <span key={`${how} ${entry}`}>
              ; {how} of <Place id={entry} places={places} />
            </span>
          ))}
        </List.Item>
      )}
    </Rows>
  );
}

function Place({ id, places }: { readonly id: string; readonly places: Places }) {
  const found = places.get(id);
  return (
    <EntryLink id={id} place={found && { trajectoryId: found.trajectory_id, seq: found.seq }} />
  );
}

const UNREPORTED = 'let through, and no outcome is reported';

/** Whether a call can be taken back. The engine compensates no call after its transaction. */
function undoable(
  reversibility: string | undefined,
  outcome: string,
  via: 'effect' | 'gateway',
): string {
  if (outcome === 'undone') return 'undone already';
  if (outcome === 'failed') return 'failed, as its agent reported';
  if (via === 'gateway')
    return outcome === 'open'
      ? UNREPORTED
      : 'made, and only another call of its server takes it back';
  if (outcome === 'open') return 'its outcome is not known yet';
  return reversibility === 'reversible'
    ? 'made, compensable by a new proposal'
    : 'made, not compensable';
}

interface FactsProps {
  readonly title: string;
  readonly about: string;
  readonly facts: Blast['facts'];
  readonly places: Places;
}

function Facts({ title, about, facts, places }: FactsProps) {
  if (facts.length === 0) return null;
  return (
    <Section title={title} about={about}>
      <Rows rows={facts}>
        {({ entry, space, subject, predicate, object, fact_id }) => (
          <List.Item key={`${fact_id} ${entry}`}>
            <Inert>{`${subject} ${predicate} ${object}`}</Inert>, in <Inert>{space}</Inert>,{' '}
            <Place id={entry} places={places} />
          </List.Item>
        )}
      </Rows>
    </Section>
  );
}
