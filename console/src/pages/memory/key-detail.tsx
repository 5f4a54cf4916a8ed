import { Stack, Text, Title } from '@mantine/core';
import { useMemo } from 'react';
import { Inert } from '../../parts/inert-text.tsx';
import { Empty, Failed, Loading } from '../../parts/states.tsx';
import type { MemoryAddress } from './address.ts';
import { BitemporalPlot, STANDINGS } from './bitemporal-plot.tsx';
import classes from './memory-page.module.css';
import { type Domain, type Key, type Place, useHistory } from './memory-queries.ts';
import { strategyText } from './strategy-words.ts';
import { VersionDetail } from './version-detail.tsx';
import { nameOf, objectText, type Version, versionsOf } from './versions.ts';
import { VersionsTable } from './versions-table.tsx';

interface DetailProps {
  readonly place: Place;
  readonly of: Key;
  readonly domain: Domain | undefined;
  readonly address: MemoryAddress;
  readonly hrefOf: (version: Version | undefined) => string;
  readonly derivedHref: (isShown: boolean) => string;
}

/** The objects of a key with many values have a plot each. The table has the rest. */
const PLOTS_MAX = 12;

/** All versions of a key in both times, and the chosen one. */
export function KeyDetail({ place, of, domain, address, hrefOf, derivedHref }: DetailProps) {
  const history = useHistory(place, of);
  const versions = useMemo(() => versionsOf(history.data ?? []), [history.data]);
  if (history.data === undefined && history.error !== null)
    return <Failed error={history.error} retry={() => void history.refetch()} />;
  if (history.isPending) return <Loading what="the versions" />;
  if (versions.length === 0)
    return (
      <Empty title="There is no such key">
        The space has no fact about this subject and predicate.
      </Empty>
    );
  const declared = domain?.memory?.predicates.find(({ name }) => name === of.predicate);
  const isMany = declared?.cardinality === 'multi-valued';
  const open = versions.find(({ fact }) =>
    address.since === undefined
      ? fact.fact_id === address.fact
      : nameOf(fact) === `${address.since} ${address.fact}`,
  );
  const asOf = {
    valid: address.valid === 'any' ? undefined : address.valid,
    system: address.system,
  };
  const groups = isMany
    ? [...Map.groupBy(versions, objectText)].slice(0, PLOTS_MAX)
    : [['', versions] as const];
  return (
    <Stack gap="md">
      <header>
        <Title order={2} size="h4" className="wraps">
          <Inert>{of.subject}</Inert> · <Inert>{of.predicate}</Inert>
        </Title>
        <Text size="sm" c="dimmed">
          {isMany ? 'Many objects at a time.' : 'One object at a time.'}{' '}
          {declared !== undefined && strategyText(declared.strategy)}
        </Text>
      </header>
      <section>
        <Title order={3} size="h6" mb={6}>
          Versions in both times
        </Title>
        {groups.map(([object, shown]) => (
          <div key={object}>
            {isMany && (
              <Text size="sm" fw={600} mt={6}>
                {object}
              </Text>
            )}
            <BitemporalPlot
              label={`Versions${object === '' ? '' : ` of ${object}`}: valid time to the right, system time down`}
              {...{ versions: shown, openName: open?.name, asOf, hrefOf }}
            />
          </div>
        ))}
        <Legend hasAsOf={asOf.valid !== undefined || asOf.system !== undefined} />
      </section>
      {open !== undefined && (
        <VersionDetail
          key={open.name}
          {...{ place, version: open, derivedHref, isDerivedShown: address.derived !== undefined }}
          closeHref={hrefOf(undefined)}
        />
      )}
      <section>
        <Title order={3} size="h6" mb={6}>
          The same as a table
        </Title>
        <VersionsTable {...{ versions, openName: open?.name, hrefOf }} />
      </section>
    </Stack>
  );
}

function Legend({ hasAsOf }: { readonly hasAsOf: boolean }) {
  return (
    <ul className={classes.legend}>
      <li data-standing="believed">{STANDINGS.believed}</li>
      <li data-standing="replaced">{STANDINGS.replaced}</li>
      <li data-standing="lost">{STANDINGS.lost}, or refused immediately</li>
      {hasAsOf && <li data-standing="asof">as of, in the recall</li>}
      <li>
        <Text size="xs" c="dimmed">
          → true, ↓ recorded, in UTC. Each change takes one step; an arrow is an open end.
        </Text>
      </li>
    </ul>
  );
}
