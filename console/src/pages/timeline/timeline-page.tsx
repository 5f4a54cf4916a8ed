import { Group, Text, Title, VisuallyHidden } from '@mantine/core';
import { visible } from 'assize/internal/views/visible.ts';
import { Redirect } from 'wouter';
import { useAllTrajectories } from '../../api/trajectories-query.ts';
import { timelineHref } from '../../parts/addresses.ts';
import { HaltedChip } from '../../parts/halted.tsx';
import { Empty, Failed, Loading } from '../../parts/states.tsx';
import { AllEntries } from './all-entries.tsx';
import { useHead } from './entries-query.ts';
import { EntryFilters } from './entry-filters.tsx';
import { EntryPanel } from './entry-panel.tsx';
import { FoundEntries } from './found-entries.tsx';
import { type TimelineAddress, useTimelineAddress } from './timeline-address.ts';
import classes from './timeline-page.module.css';
import { TrajectoryPicker } from './trajectory-picker.tsx';

/** The entries of a trajectory, and the content of the chosen one. */
export default function TimelinePage() {
  const address = useTimelineAddress();
  const { trajectory } = address;
  return trajectory === undefined ? (
    <Newest />
  ) : (
    <Timeline key={trajectory} trajectory={trajectory} address={address} />
  );
}

/** Goes to the trajectory with the newest entry. */
function Newest() {
  const { data, error, isPending, isFetching, refetch } = useAllTrajectories();
  if (isPending || isFetching) return <Loading what="the worlds" />;
  if (data === undefined) return <Failed error={error} retry={() => void refetch()} />;
  const [newest] = data.toSorted((a, b) => ((a.at ?? '') < (b.at ?? '') ? 1 : -1));
  if (newest !== undefined) return <Redirect to={timelineHref(newest.trajectory_id)} replace />;
  return (
    <Empty isPage title="There is no world">
      An administrator creates one. Its entries appear here immediately.
    </Empty>
  );
}

interface TimelineProps {
  readonly trajectory: string;
  readonly address: TimelineAddress;
}

function Timeline({ trajectory, address }: TimelineProps) {
  const { seq } = address;
  const head = useHead(trajectory);
  return (
    <div className={classes.page} data-open={seq !== undefined || undefined}>
      {/* A narrow window shows the entry alone, and the page keeps its heading. */}
      <VisuallyHidden>
        <Title order={1}>Timeline of {visible(trajectory)}</Title>
      </VisuallyHidden>
      <section className={classes.list} aria-label="Timeline">
        <header className={classes.head}>
          <Group justify="space-between" wrap="nowrap">
            <Text fw={700} fz={18} aria-hidden>
              Timeline
            </Text>
            <HaltedChip world={trajectory} />
            <TrajectoryPicker
              trajectory={trajectory}
              entries={head.data === undefined ? undefined : head.data + 1}
            />
          </Group>
          <EntryFilters address={address} />
        </header>
        {head.isPending && <Loading what="the entries" />}
        {head.error !== null && <Failed error={head.error} retry={() => void head.refetch()} />}
        {head.data !== undefined && <List {...{ trajectory, address }} head={head.data} />}
      </section>
      {seq !== undefined && head.data !== undefined && (
        <section className={classes.detail} aria-label="Entry">
          <EntryPanel trajectory={trajectory} seq={seq} head={head.data} address={address} />
        </section>
      )}
    </div>
  );
}

function List({ trajectory, address, head }: TimelineProps & { readonly head: number }) {
  const { ruling, text } = address;
  if (ruling === undefined && text === '') return <AllEntries {...{ trajectory, head, address }} />;
  return (
    <FoundEntries
      key={`${ruling} ${text}`}
      {...{ trajectory, head, address }}
      filter={{ ruling, text }}
    />
  );
}
