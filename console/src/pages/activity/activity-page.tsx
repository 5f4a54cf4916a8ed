import { Button, Text, Title } from '@mantine/core';
import { Link, useSearchParams } from 'wouter';
import { timelineHref } from '../../parts/addresses.ts';
import { CutText } from '../../parts/cut-text.tsx';
import { Inert } from '../../parts/inert-text.tsx';
import { MoreOnScroll } from '../../parts/more-on-scroll.tsx';
import { RulingMark } from '../../parts/ruling-mark.tsx';
import { Empty, Failed, Loading } from '../../parts/states.tsx';
import { TimeOfDay } from '../timeline/time-of-day.tsx';
import { ActivityFilters } from './activity-filters.tsx';
import classes from './activity-page.module.css';
import { FILTERS, type Filters, type FoundEntry, useActivity } from './activity-query.ts';

/** The entries of all worlds, the newest first. The address has the filters. */
export default function ActivityPage() {
  const [search, setSearch] = useSearchParams();
  const filters = Object.fromEntries(
    FILTERS.map((name) => [name, search.get(name) ?? '']),
  ) as Filters;
  const found = useActivity(filters);
  const entries = found.data?.pages.flatMap((page) => page.entries) ?? [];
  const change = (name: string, value: string): void =>
    setSearch(
      (before) => {
        const after = new URLSearchParams(before);
        value === '' ? after.delete(name) : after.set(name, value);
        return after;
      },
      { replace: true },
    );
  return (
    <div className={classes.page}>
      <header className={classes.head}>
        <Title order={1} size="h4">
          Activity
        </Title>
        <ActivityFilters filters={filters} onChange={change} />
      </header>
      <section className={classes.list} aria-label="Entries" aria-busy={found.isFetching}>
        {found.error !== null && <Failed error={found.error} retry={() => void found.refetch()} />}
        {found.isPending && <Loading what="the entries" />}
        <ul className={classes.rows}>
          {entries.map((entry) => (
            <Row key={entry.id} entry={entry} />
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
            <Button size="xs" variant="default" onClick={() => setSearch('')}>
              Clear the filters
            </Button>
          </Empty>
        )}
      </section>
    </div>
  );
}

/** One entry: what was asked and ruled, when, and below it who, where and why. */
function Row({ entry }: { readonly entry: FoundEntry }) {
  const { ruling, action, kind, title, args, at, by, tools, rules, detail, trajectory_id, seq } =
    entry;
  return (
    <li>
      <Link href={timelineHref(trajectory_id, seq)} className={classes.row}>
        <span className={classes.ruling}>
          <RulingMark ruling={ruling} />
        </span>
        <CutText size="sm">
          <strong>
            <Inert>
              {title ??
                (tools.length === 1 ? tools[0] : undefined) ??
                action ??
                kind.replaceAll('_', ' ')}
            </Inert>
          </strong>{' '}
          {title === undefined && args !== undefined && (
            <span className={classes.args}>
              <Inert>{args}</Inert>
            </span>
          )}
        </CutText>
        <Text size="xs" c="dimmed" className={classes.when}>
          {at !== '' && <TimeOfDay at={at} />}
        </Text>
        <CutText size="xs" c="dimmed" className={classes.why}>
          <Inert>
            {[by.join(', '), `in ${trajectory_id}`].filter((text) => text !== '').join(' ')}
          </Inert>
          {rules.length > 0 && (
            <>
              {' · '}
              <span className={classes.rule}>
                <Inert>{rules.join(' ')}</Inert>
              </span>
            </>
          )}
          {detail !== undefined && (
            <>
              {' · '}
              <Inert>{detail}</Inert>
            </>
          )}
        </CutText>
      </Link>
    </li>
  );
}
