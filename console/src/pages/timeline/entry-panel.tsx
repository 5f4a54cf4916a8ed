import { ActionIcon, Button, Group, Tabs, Text, Title } from '@mantine/core';
import { Words } from '../../parts/inert-text.tsx';
import { Ago } from '../../parts/instant.tsx';
import { RulingMark, type RulingName } from '../../parts/ruling-mark.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import { Compared } from './compared.tsx';
import { EntryContent } from './entry-content.tsx';
import classes from './entry-panel.module.css';
import { type EntryDocument, payloadOf, useEntry } from './entry-query.ts';
import { EntryRecord } from './entry-record.tsx';
import { StateAt } from './state-at.tsx';
import { type TimelineAddress, VIEWS, type View } from './timeline-address.ts';
import { TryProposal } from './try-proposal.tsx';

const NAMES: Readonly<Record<View, string>> = {
  entry: 'Entry',
  state: 'State here',
  compare: 'Compare',
  try: 'Try a proposal',
  record: 'Record and proof',
};

interface PanelProps {
  readonly trajectory: string;
  readonly seq: number;
  /** The seq of the last entry. */
  readonly head: number;
  readonly address: TimelineAddress;
}

/** One entry: its content, the state there, the difference to another point, the record. */
export function EntryPanel({ trajectory, seq, head, address }: PanelProps) {
  const { view, set, open } = address;
  const found = useEntry(`${trajectory}@${seq}`);
  const entry = found.data;
  // The other views load their own data.
  const isRead = view === 'entry' || view === 'record' || view === 'try';
  return (
    <div className={classes.panel}>
      <Group justify="space-between" wrap="nowrap" align="flex-start" mb="xs">
        <header className={classes.heading}>
          {entry === undefined ? (
            <Title order={2} size="h4">{`Entry ${seq}`}</Title>
          ) : (
            <Heading entry={entry} />
          )}
        </header>
        <Group gap={4} wrap="nowrap">
          <Step label="Newer entry (k)" sign="↑" to={seq + 1} isPossible={seq < head} open={open} />
          <Step label="Older entry (j)" sign="↓" to={seq - 1} isPossible={seq > 0} open={open} />
          <Button size="compact-sm" variant="default" onClick={() => open(undefined)}>
            Close
          </Button>
        </Group>
      </Group>
      <Tabs
        value={view}
        onChange={(next) => set({ view: next ?? undefined, place: undefined })}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          {VIEWS.map((one) => (
            <Tabs.Tab key={one} value={one} px="sm">
              {NAMES[one]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="state">
          <StateAt {...{ trajectory, seq, head, address }} />
        </Tabs.Panel>
        <Tabs.Panel value="compare">
          <Compared {...{ trajectory, seq, address }} />
        </Tabs.Panel>
        {entry !== undefined && (
          <>
            <Tabs.Panel value="entry">
              <EntryContent entry={entry} />
            </Tabs.Panel>
            <Tabs.Panel value="try">
              <TryProposal key={entry.id} entry={entry} />
            </Tabs.Panel>
            <Tabs.Panel value="record">
              <EntryRecord entry={entry} />
            </Tabs.Panel>
          </>
        )}
      </Tabs>
      {found.isPending && isRead && <Loading what="the entry" />}
      {entry === undefined && found.error !== null && (
        <Failed error={found.error} retry={() => void found.refetch()} />
      )}
    </div>
  );
}

interface StepProps {
  readonly label: string;
  readonly sign: string;
  readonly to: number;
  readonly isPossible: boolean;
  readonly open: TimelineAddress['open'];
}

function Step({ label, sign, to, isPossible, open }: StepProps) {
  return (
    <ActionIcon
      size="sm"
      variant="default"
      aria-label={label}
      title={label}
      disabled={!isPossible}
      onClick={() => open(to, true)}
    >
      {sign}
    </ActionIcon>
  );
}

const RULING_OF: Readonly<Record<string, RulingName>> = {
  root: 'begun',
  branch: 'branched',
  commit: 'committed',
  rejection: 'rejected',
  pending_approval: 'escalated',
  key_change: 'key changed',
};

function Heading({ entry }: { readonly entry: EntryDocument }) {
  const payload = payloadOf(
    entry,
    'root',
    'branch',
    'commit',
    'rejection',
    'pending_approval',
    'delegation',
    'key_change',
  );
  return (
    <>
      <Title order={2} size="h4" className="wraps">
        <Words>{entry.title ?? titleOf(entry)}</Words>
      </Title>
      <Group gap="sm" mt={2}>
        <Text size="sm" component="div">
          <RulingMark ruling={rulingOf(entry)} />
        </Text>
        <Text size="sm" c="dimmed">
          entry {entry.seq}
          {payload !== undefined && (
            <>
              , <Ago at={payload.at} />
            </>
          )}
        </Text>
      </Group>
    </>
  );
}

function rulingOf(entry: EntryDocument): RulingName {
  if (entry.fault !== undefined) return 'unreadable';
  const delegation = payloadOf(entry, 'delegation');
  if (delegation === undefined) return RULING_OF[entry.kind] ?? 'unreadable';
  if (delegation.concludes === undefined) return 'delegated';
  return delegation.child_head === undefined ? 'answered' : 'concluded';
}

function titleOf(entry: EntryDocument): string {
  const done = payloadOf(entry, 'commit');
  if (done !== undefined) return done.action.name;
  return (
    payloadOf(entry, 'pending_approval')?.proposal.action.name ??
    payloadOf(entry, 'rejection')?.intent.action ??
    {
      root: 'Beginning',
      branch: 'Branch',
      delegation: 'Delegation',
      key_change: 'Change of the key',
    }[entry.kind] ??
    entry.kind
  );
}
