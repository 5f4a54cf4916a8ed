import { Anchor, Button, Text } from '@mantine/core';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, dataOf } from '../../api/client.ts';
import { Inert } from '../../parts/inert-text.tsx';
import { Ago } from '../../parts/instant.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import classes from './audit-page.module.css';

const KEY = ['log', 'stuck'];

/** The refused runs. An administrator allows one again after its domain was corrected. */
export function StuckRuns({ mayForget }: { readonly mayForget: boolean }) {
  const queries = useQueryClient();
  const found = useInfiniteQuery({
    queryKey: KEY,
    queryFn: ({ pageParam: cursor }) =>
      dataOf(api.GET('/v1/stuck', { params: { query: cursor === '' ? {} : { cursor } } })),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  });
  const forget = useMutation({
    mutationFn: (key: string) => dataOf(api.DELETE('/v1/stuck/{key}', { params: { path: { key } } })),
    onSettled: () => void queries.invalidateQueries({ queryKey: KEY }),
  });
  if (found.isPending) return <Loading what="stuck runs" />;
  if (found.data === undefined) return <Failed error={found.error} retry={() => void found.refetch()} />;
  const stuck = found.data.pages.flatMap((page) => page.stuck);
  if (stuck.length === 0) return <Text size="sm">No run is stuck.</Text>;
  return (
    <>
      {forget.error !== null && <Failed error={forget.error} />}
      {!mayForget && <Text size="sm">An administrator allows a run again after its domain was corrected.</Text>}
      <ul className={classes.rows} aria-label="Stuck runs">
        {stuck.map(({ key, step, trajectory_id: trajectory, action, principal, at }) => (
          <li key={key} className={classes.row}>
            <Text span size="sm" c="dimmed">
              <Ago at={at} />
            </Text>
            <span>
              {step}
              {action !== undefined && (
                <>
                  {' '}
                  <Inert>{action}</Inert>
                </>
              )}{' '}
              in <Place step={step} name={trajectory} />
              {principal !== undefined && (
                <>
                  , by <Inert>{principal}</Inert>
                </>
              )}
            </span>
            {mayForget && (
              <Button
                size="compact-xs"
                variant="default"
                disabled={forget.isPending}
                onClick={() => forget.mutate(key)}
              >
                Allow again
              </Button>
            )}
          </li>
        ))}
      </ul>
      {found.hasNextPage && (
        <Button size="xs" variant="default" mt="xs" onClick={() => void found.fetchNextPage()}>
          Show more
        </Button>
      )}
    </>
  );
}

/** The trajectory of a run. A comparison has the name of its domain in the place of one. */
function Place({ step, name }: { readonly step: string; readonly name: string }) {
  if (step === 'comparison') return <Inert>{name}</Inert>;
  return (
    <Anchor component={Link} href={`/timeline/${encodeURIComponent(name)}`} size="sm" underline="always">
      <Inert>{name}</Inert>
    </Anchor>
  );
}
