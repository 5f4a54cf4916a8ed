import { Button, Title } from '@mantine/core';
import { type Choices, useChoices } from '../../parts/address-choices.ts';
import { MoreOnScroll } from '../../parts/more-on-scroll.tsx';
import { Empty, Failed, Loading } from '../../parts/states.tsx';
import { ActivityFilters } from './activity-filters.tsx';
import classes from './activity-page.module.css';
import { FILTERS, type Filters, useActivity } from './activity-query.ts';
import { FoundRow } from './found-row.tsx';

const NOTHING: Choices = Object.fromEntries(FILTERS.map((name) => [name, '']));

/** The entries of all worlds, the newest first. The address has the filters. */
export default function ActivityPage() {
  const [search, choose] = useChoices();
  const filters = Object.fromEntries(
    FILTERS.map((name) => [name, search.get(name) ?? '']),
  ) as Filters;
  const found = useActivity(filters);
  const entries = found.data?.pages.flatMap((page) => page.entries) ?? [];
  return (
    <div className={classes.page}>
      <header className={classes.head}>
        <Title order={1} size="h4">
          Activity
        </Title>
        <ActivityFilters filters={filters} onChange={choose} />
      </header>
      <section className={classes.list} aria-label="Entries" aria-busy={found.isFetching}>
        {found.error !== null && <Failed error={found.error} retry={() => void found.refetch()} />}
        {found.isPending && <Loading what="the entries" />}
        <ul className={classes.rows}>
          {entries.map((entry) => (
            <FoundRow key={entry.id} entry={entry} />
          ))}
        </ul>
        {found.hasNextPage && (
          <MoreOnScroll
            isPaused={found.isFetching || found.error !== null}
            onMore={() => void found.fetchNextPage()}
          />
        )}
        {entries.length === 0 && found.data !== undefined && !found.hasNextPage && (
          <Empty title="No entry matches">
            <Button size="xs" variant="default" onClick={() => choose(NOTHING)}>
              Clear the filters
            </Button>
          </Empty>
        )}
      </section>
    </div>
  );
}
