import { Anchor, Select, Text, Title } from '@mantine/core';
import { visible } from 'assize/internal/views/visible.ts';
import { useEffect, useRef, useState } from 'react';
import { Link, useLocation, useParams, useSearchParams } from 'wouter';
import { type TrajectoryInfo, useAllTrajectories } from '../../api/trajectories-query.ts';
import { decoded } from '../../parts/addresses.ts';
import { Empty, Failed, Loading } from '../../parts/states.tsx';
import { BacktestForm } from './backtest-form.tsx';
import { BacktestResult } from './backtest-result.tsx';
import type { BacktestBody } from './choices.ts';
import { MinedRules } from './mined-rules.tsx';
import { SimulationForm } from './simulation-form.tsx';
import { SimulationResult } from './simulation-result.tsx';
import { tableOf } from './table-address.ts';
import { TryControl, triesOf } from './tries.tsx';
import { useSimulation } from './use-simulation.ts';
import classes from './what-if-page.module.css';

/** Recorded proposals under other rules, or other agents from an entry on. */
export default function WhatIfPage() {
  const params = useParams<{ readonly trajectory?: string }>();
  const id = params.trajectory === undefined ? undefined : decoded(params.trajectory);
  const [, navigate] = useLocation();
  const [search, setSearch] = useSearchParams();
  const trajectories = useAllTrajectories();
  const [asked, setAsked] = useState<BacktestBody>();
  const [isChanged, setIsChanged] = useState(false);
  const trajectory = trajectories.data?.find(({ trajectory_id }) => trajectory_id === id);
  const results = useRef<HTMLElement>(null);
  const simulating = useSimulation();
  const isSimulation = triesOf(search) === 'simulation';
  const { variables: simulated } = simulating.run;
  useEffect(() => {
    if (asked !== undefined || simulated !== undefined) results.current?.scrollIntoView();
  }, [asked, simulated]);
  const isAsked = asked !== undefined && asked.trajectories[0] === id;
  const hasResult = isSimulation ? simulated?.trajectory === id : isAsked;
  return (
    <div className={classes.page}>
      <section className={classes.choices} aria-label="Choices">
        <Title order={1} size="h4" mb={2}>
          Lab
        </Title>
        <Text size="sm" c="dimmed" mb="md">
          Rule on recorded proposals again, under other rules, or continue in memory with other
          agents. Nothing is written.{' '}
          <Anchor component={Link} href="/rules" size="sm" underline="always">
            Reports of the rules in force
          </Anchor>
        </Text>
        {trajectories.isPending && <Loading what="the worlds" />}
        {trajectories.error !== null && (
          <Failed error={trajectories.error} retry={() => void trajectories.refetch()} />
        )}
        {trajectories.data !== undefined && trajectories.data.length > 0 && (
          <Select
            size="xs"
            label="World"
            placeholder="Choose a world"
            searchable
            nothingFoundMessage="No world has this name."
            data={trajectories.data.map(({ trajectory_id, entries }) => ({
              value: trajectory_id,
              label: `${visible(trajectory_id)} (${entries.toLocaleString('en')})`,
            }))}
            value={trajectory?.trajectory_id ?? null}
            onChange={(next) => next !== null && navigate(`/what-if/${encodeURIComponent(next)}`)}
          />
        )}
        {trajectory !== undefined && <TryControl />}
        {trajectory !== undefined && isSimulation && (
          <SimulationForm
            key={trajectory.trajectory_id}
            trajectory={trajectory}
            isRunning={simulating.run.isPending}
            onRun={simulating.run.mutate}
          />
        )}
        {trajectory !== undefined && !isSimulation && (
          <BacktestForm
            key={trajectory.trajectory_id}
            trajectory={trajectory}
            asked={isAsked ? asked : undefined}
            onChanged={setIsChanged}
            onRestore={setAsked}
            onRun={(body, table) => {
              setAsked(body);
              setSearch((before) => withRun(before, table), { replace: true });
            }}
          />
        )}
      </section>
      <section
        className={classes.results}
        ref={results}
        data-asked={hasResult || undefined}
        aria-label="Result"
      >
        {trajectory !== undefined && isSimulation ? (
          <SimulationResult simulating={simulating} trajectory={trajectory.trajectory_id} />
        ) : isAsked ? (
          <BacktestResult asked={asked} isChanged={isChanged} />
        ) : (
          <NoResult id={id} found={trajectory} all={trajectories.data} />
        )}
        {trajectory !== undefined && !isSimulation && (
          <MinedRules key={trajectory.trajectory_id} trajectory={trajectory.trajectory_id} />
        )}
      </section>
    </div>
  );
}

interface NoResultProps {
  /** The trajectory of the address. */
  readonly id: string | undefined;
  readonly found: TrajectoryInfo | undefined;
  /** Undefined while they are loaded. */
  readonly all: readonly TrajectoryInfo[] | undefined;
}

/** The next step, before there is a result of a backtest. */
function NoResult({ id, found, all }: NoResultProps) {
  const [search] = useSearchParams();
  if (all?.length === 0)
    return <Empty title="There is no world">A world with recorded proposals appears here.</Empty>;
  if (id !== undefined && all !== undefined && found === undefined)
    return <Empty title="There is no such world">Choose one of the list.</Empty>;
  if (found !== undefined && search.has('run') && isUnreadable(search.get('table')))
    return (
      <Empty title="This link was made with another rule table">
        The table is too long for an address. Ask its author for it, or run your own.
      </Empty>
    );
  return (
    <Empty title={id === undefined ? 'Choose a world' : 'Run the backtest'}>
      The first ruling that differs appears here, with counts and a list of all that differ. Keys: j
      and k move, Enter opens an entry.
    </Empty>
  );
}

/** Whether an address has only the digest of a table. */
function isUnreadable(table: string | null): boolean {
  return table !== null && tableOf(table) === undefined;
}

/** The address says that the backtest was run, so that the same address runs it again. */
function withRun(search: URLSearchParams, table: string | undefined): URLSearchParams {
  const next = new URLSearchParams(search);
  if (table === undefined) next.delete('table');
  else next.set('table', table);
  next.set('run', '1');
  next.delete('only');
  return next;
}
