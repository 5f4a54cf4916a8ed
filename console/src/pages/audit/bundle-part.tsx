import { Autocomplete, SegmentedControl, Select, Text, TextInput } from '@mantine/core';
import { visible } from 'assize/internal/views/visible.ts';
import { useAllTrajectories } from '../../api/trajectories-query.ts';
import { BundleButton } from '../../parts/bundle-button.tsx';
import { InstantInput } from '../../parts/instant-input.tsx';
import { Section } from '../../parts/section.tsx';
import classes from './audit-page.module.css';
import {
  type BundleAddress,
  isBackwards,
  KINDS,
  type Kind,
  scopeOf,
  useBundleAddress,
} from './bundle-address.ts';
import { useKnownPeople } from './known-people.ts';

const NAMES: Readonly<Record<Kind, string>> = {
  approval: 'Approval',
  entry: 'Entry',
  person: 'Person',
  period: 'Period',
};

/** Makes a proof bundle: of an entry or an approval, and for auditors of a person or a period. */
export function BundlePart({ seesAll }: { readonly seesAll: boolean }) {
  const address = useBundleAddress();
  const { kind, set } = address;
  const scope = scopeOf(address);
  const isAllowed = seesAll || kind === 'entry' || kind === 'approval';
  return (
    <Section
      title="Proof bundle"
      about="A file of entries with all that proves them, for a reader without this server. It verifies itself offline."
    >
      <SegmentedControl
        size="xs"
        aria-label="Scope of the bundle"
        value={kind}
        onChange={(next) => set({ bundle: next })}
        data={KINDS.map((value) => ({ value, label: NAMES[value] }))}
      />
      {isAllowed ? (
        <>
          <div className={classes.fields}>
            <Fields address={address} />
          </div>
          <BundleButton key={JSON.stringify(scope)} scope={scope} />
        </>
      ) : (
        <Text size="sm" mt="sm">
          Auditors and administrators bundle a person or a period.
        </Text>
      )}
    </Section>
  );
}

function Fields({ address }: { readonly address: BundleAddress }) {
  const { kind, entry, approval, from, to, set } = address;
  switch (kind) {
    case 'entry':
      return (
        <TextInput
          size="xs"
          label="Entry"
          placeholder="Its id, or TRAJECTORY@NUMBER"
          className={classes.wide}
          value={entry ?? ''}
          onChange={(event) => set({ entry: event.currentTarget.value })}
        />
      );
    case 'approval':
      return (
        <TextInput
          size="xs"
          label="Approval"
          placeholder="The request or the decision: its id, or TRAJECTORY@NUMBER"
          className={classes.wide}
          value={approval ?? ''}
          onChange={(event) => set({ approval: event.currentTarget.value })}
        />
      );
    default:
      return (
        <>
          {kind === 'person' && <PersonField address={address} />}
          <InstantInput
            label={kind === 'person' ? 'From (optional, UTC)' : 'From (UTC)'}
            instant={from}
            onChange={(next) => set({ from: next })}
          />
          <InstantInput
            label={kind === 'person' ? 'Until (optional, UTC)' : 'Until (UTC)'}
            instant={to}
            error={isBackwards(address) ? 'Give a time after “From”.' : undefined}
            onChange={(next) => set({ to: next })}
          />
          <TrajectoryField address={address} />
        </>
      );
  }
}

function PersonField({ address: { person, set } }: { readonly address: BundleAddress }) {
  const people = useKnownPeople();
  return (
    <Autocomplete
      size="xs"
      label="Person"
      placeholder="A principal"
      data={people.filter((name) => name === visible(name))}
      value={person ?? ''}
      onChange={(name) => set({ person: name })}
    />
  );
}

function TrajectoryField({ address: { trajectory, set } }: { readonly address: BundleAddress }) {
  const { data = [] } = useAllTrajectories();
  const names = data.map(({ trajectory_id: name }) => name);
  const all =
    trajectory === undefined || names.includes(trajectory) ? names : [trajectory, ...names];
  return (
    <Select
      size="xs"
      label="World (optional)"
      placeholder="All"
      searchable
      clearable
      nothingFoundMessage="Nothing matches."
      clearButtonProps={{ 'aria-label': 'All worlds' }}
      data={all.map((name) => ({ value: name, label: visible(name) }))}
      value={trajectory ?? null}
      onChange={(name) => set({ trajectory: name ?? undefined })}
    />
  );
}
