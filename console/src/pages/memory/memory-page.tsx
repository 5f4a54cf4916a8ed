import { Button, Group, SegmentedControl, Text, VisuallyHidden } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { useEffect } from 'react';
import { KeyLegend, MOVES } from '../../parts/key-legend.tsx';
import { Empty, Failed, Loading } from '../../parts/states.tsx';
import { NO_CHOICE, NO_KEY, useAddress } from './address.ts';
import { AskPanel } from './ask-panel.tsx';
import { KeyDetail } from './key-detail.tsx';
import { KeysPanel } from './keys-panel.tsx';
import classes from './memory-page.module.css';
import { type Fact, type Key, type Place, useSpaces, useTrajectories } from './memory-queries.ts';
import { Picker } from './picker.tsx';
import { RecallPanel } from './recall-panel.tsx';

/** The beliefs of agents in both times: keys and recall, and the versions of one key. */
export default function MemoryPage() {
  const { address, go } = useAddress();
  const { trajectory, space } = address;
  const trajectories = useTrajectories();
  const spaces = useSpaces(trajectory ?? '');
  const first = trajectories.data?.[0]?.id;
  const firstSpace = spaces.data?.[0];
  useEffect(() => {
    if (trajectory === undefined && first !== undefined)
      go({ trajectory: first }, { replace: true });
    else if (trajectory !== undefined && space === undefined && firstSpace !== undefined)
      go({ space: firstSpace }, { replace: true });
  });
  const failed = trajectories.error ?? spaces.error;
  return (
    <div className={classes.page} data-open={address.subject !== undefined || undefined}>
      <VisuallyHidden component="h1">Memory</VisuallyHidden>
      <section className={classes.list} aria-label="Memory spaces">
        <div className={classes.head}>
          <Text fw={700} fz={18} aria-hidden>
            Memory
          </Text>
          <Group gap="xs" grow align="flex-start">
            <Picker
              label="World"
              names={trajectories.data?.map(({ id }) => id) ?? []}
              chosen={trajectory}
              onChoose={(next) => go({ ...NO_CHOICE, trajectory: next, space: undefined })}
            />
            <Picker
              label="Space"
              names={spaces.data ?? []}
              chosen={space}
              onChoose={(next) => go({ ...NO_CHOICE, space: next })}
            />
          </Group>
        </div>
        {failed !== null && (
          <Failed
            error={failed}
            retry={() => {
              void trajectories.refetch();
              void spaces.refetch();
            }}
          />
        )}
        {trajectories.isPending && <Loading what="worlds" />}
        {trajectories.data?.length === 0 && trajectory === undefined && (
          <Empty title="No world has a memory">A domain declares a memory by its predicates.</Empty>
        )}
        {spaces.data?.length === 0 && space === undefined && (
          <Empty title="No fact is recorded yet">
            New statements of agents appear here immediately.
          </Empty>
        )}
        {trajectory !== undefined && space !== undefined && <Lists place={{ trajectory, space }} />}
      </section>
      <Detail domain={trajectories.data?.find(({ id }) => id === trajectory)?.domain} />
    </div>
  );
}

function Lists({ place }: { readonly place: Place }) {
  const { address, go, hrefWith } = useAddress();
  const view = address.view === 'recall' || address.view === 'ask' ? address.view : 'keys';
  const hrefOfFact = ({ subject, predicate, fact_id, system_time_start }: Fact) =>
    hrefWith({ ...NO_KEY, subject, predicate, fact: fact_id, since: system_time_start });
  const hrefOfKey = ({ subject, predicate }: Key) => hrefWith({ ...NO_KEY, subject, predicate });
  return (
    <>
      <SegmentedControl
        size="xs"
        fullWidth
        mx="sm"
        my="xs"
        aria-label="List"
        value={view}
        onChange={(next) => go({ view: next === 'keys' ? undefined : next })}
        data={[
          { value: 'keys', label: 'Keys' },
          { value: 'recall', label: 'Recall' },
          { value: 'ask', label: 'Ask' },
        ]}
      />
      {view === 'ask' && (
        <AskPanel
          place={place}
          address={address}
          onChange={(change) => go(change, { replace: true })}
          hrefOf={hrefOfKey}
        />
      )}
      {view === 'recall' && (
        <RecallPanel
          place={place}
          address={address}
          onChange={(change) => go(change, { replace: true })}
          hrefOf={hrefOfFact}
        />
      )}
      {view === 'keys' && <KeysPanel key={JSON.stringify(place)} place={place} />}
    </>
  );
}

function Detail({ domain }: { readonly domain: Parameters<typeof KeyDetail>[0]['domain'] }) {
  const { address, go, hrefWith } = useAddress();
  const { trajectory, space, subject, predicate, fact } = address;
  const noFact = { fact: undefined, since: undefined, derived: undefined };
  useHotkeys([['Escape', () => go(fact === undefined ? NO_KEY : noFact)]]);
  if (
    trajectory === undefined ||
    space === undefined ||
    subject === undefined ||
    predicate === undefined
  )
    return (
      <section className={classes.detail} aria-label="Key">
        <Empty title="Choose a key">
          Its versions appear in both times: when they were true, and when they were believed.
          <KeyLegend keys={MOVES} />
        </Empty>
      </section>
    );
  return (
    <section className={classes.detail} aria-label="Key">
      <Button
        size="compact-sm"
        variant="subtle"
        className={classes.back}
        onClick={() => go(NO_KEY)}
        mb="xs"
      >
        ← Memory
      </Button>
      <KeyDetail
        key={JSON.stringify([trajectory, space, subject, predicate])}
        place={{ trajectory, space }}
        of={{ subject, predicate }}
        domain={domain}
        address={address}
        hrefOf={(version) =>
          hrefWith(
            version === undefined
              ? noFact
              : { ...noFact, fact: version.fact.fact_id, since: version.fact.system_time_start },
          )
        }
        derivedHref={(isShown) => hrefWith({ derived: isShown ? '1' : undefined })}
      />
    </section>
  );
}
