import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, dataOf } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';
import { counted } from '../../parts/counted.ts';
import { Inert } from '../../parts/inert-text.tsx';
import { Ago } from '../../parts/instant.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import classes from './audit-page.module.css';

type FailedNotice = components['schemas']['FailedNotice'];

const KEY = ['log', 'failed-notices'];

/** The notices that were given up, each with its last error. An administrator sends one again. */
export function FailedNotices({ mayRetry }: { readonly mayRetry: boolean }) {
  const queries = useQueryClient();
  const failed = useInfiniteQuery({
    queryKey: KEY,
    queryFn: ({ pageParam: cursor }) =>
      dataOf(api.GET('/v1/notices/failed', { params: { query: cursor === '' ? {} : { cursor } } })),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  });
  const retry = useMutation({
    mutationFn: ({ receiver, id }: FailedNotice) =>
      dataOf(api.POST('/v1/notices/retry', { body: { receiver, id } })),
    onSuccess: ({ retried }) =>
      notifications.show({ message: `${counted(retried, 'notice is', 'notices are')} sent again` }),
    onSettled: () => void queries.invalidateQueries({ queryKey: KEY }),
  });
  if (failed.isPending) return <Loading what="failed notices" />;
  if (failed.data === undefined)
    return <Failed error={failed.error} retry={() => void failed.refetch()} />;
  const notices = failed.data.pages.flatMap((page) => page.notices);
  if (notices.length === 0) return <Text size="sm">No notice has failed.</Text>;
  return (
    <>
      {retry.error !== null && <Failed error={retry.error} />}
      {!mayRetry && <Text size="sm">An administrator sends a notice again.</Text>}
      <ul className={classes.rows} aria-label="Failed notices">
        {notices.map((notice) => (
          <li key={`${notice.receiver} ${notice.id}`} className={classes.row}>
            <Text span size="sm" c="dimmed">
              <Ago at={notice.at} />
            </Text>
            <span>
              {notice.type === 'approval.requested' ? 'A proposal waits' : 'A proposal was decided'}
              , to <Inert>{notice.shown_as}</Inert>
            </span>
            <Group gap="xs" justify="flex-end">
              <Text span size="sm" c="dimmed">
                {counted(notice.attempts, 'attempt', 'attempts')}
              </Text>
              {mayRetry && (
                <Button
                  size="compact-xs"
                  variant="default"
                  disabled={!notice.configured || retry.isPending}
                  onClick={() => retry.mutate(notice)}
                >
                  Send again
                </Button>
              )}
            </Group>
            <Text size="sm" className={classes.more}>
              <Inert>{notice.error.detail === '' ? notice.error.code : notice.error.detail}</Inert>
              {!notice.configured && ' The server no longer has this receiver.'}
            </Text>
          </li>
        ))}
      </ul>
      {failed.hasNextPage && (
        <Button size="xs" variant="default" mt="xs" onClick={() => void failed.fetchNextPage()}>
          Show more
        </Button>
      )}
    </>
  );
}
