import type { SpotlightActionGroupData } from '@mantine/spotlight';
import { visible } from 'assize/internal/views/visible.ts';
import { useLocation } from 'wouter';
import { api, dataOf } from '../api/client.ts';
import { useMe } from '../api/queries.ts';
import { useAllTrajectories } from '../api/trajectories-query.ts';
import { useWaiting } from '../pages/inbox/approvals-query.ts';
import { timelineHref } from '../parts/addresses.ts';
import { tell } from '../parts/tell.tsx';
import { pagesFor } from './pages.ts';

/** The whole id of an entry, or TRAJECTORY@SEQ. */
const ENTRY = /^(?:[0-9a-f]{64}|[A-Za-z0-9._:-]{1,128}@\d{1,15})$/;

/** All that the palette can open. The lists of the log are read while it is open. */
export function useDestinations(query: string, isOpen: boolean): SpotlightActionGroupData[] {
  const [, navigate] = useLocation();
  const kinds = useMe().data?.kinds ?? [];
  const { data: waiting } = useWaiting(true);
  const { data: trajectories = [] } = useAllTrajectories(isOpen);
  return [
    {
      group: 'Pages',
      actions: pagesFor(kinds).map(({ path, name, about }) => ({
        id: path,
        label: name,
        description: about,
        onClick: () => navigate(path),
      })),
    },
    {
      group: 'Waiting for you',
      actions: (waiting?.cards ?? []).map(({ id, title, detail, trajectory_id, page }) => ({
        id,
        label: title,
        description: visible(`${detail} (${trajectory_id})`),
        onClick: () => navigate(page),
      })),
    },
    {
      group: 'Worlds',
      actions: trajectories.map(({ trajectory_id: id, domain, entries }) => ({
        id: `world ${id}`,
        label: visible(id),
        description: visible(
          `${domain.name}, ${entries.toLocaleString('en')} ${entries === 1 ? 'entry' : 'entries'}`,
        ),
        onClick: () => navigate(timelineHref(id)),
      })),
    },
    {
      group: 'Entries',
      actions: ENTRY.test(query)
        ? [
            {
              id: `entry ${query}`,
              label: `Entry ${query}`,
              onClick: () => void openEntry(query, navigate),
            },
          ]
        : [],
    },
  ].filter(({ actions }) => actions.length > 0);
}

async function openEntry(name: string, navigate: (to: string) => void): Promise<void> {
  try {
    const entry = await dataOf(
      api.GET('/v1/entries/{entry}', { params: { path: { entry: name } } }),
    );
    navigate(timelineHref(entry.trajectory_id, entry.seq));
  } catch (error) {
    tell(error instanceof Error ? error.message : String(error));
  }
}
