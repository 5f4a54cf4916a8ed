import { Badge } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api, dataOf } from '../api/client.ts';
import type { LogEvent } from '../api/events.ts';
import { Inert } from './inert-text.tsx';

const HALTS: readonly string[] = ['assize.halt', 'assize.resume'];

/** The names of the halted worlds. All parts of a page share one read. */
function useHalted() {
  return useQuery({
    queryKey: ['log', 'halted'],
    // A halt passes to the worlds that were delegated from it.
    meta: { changedBy: ({ action }: LogEvent) => HALTS.includes(action ?? '') },
    queryFn: async () => {
      const query = { halted: 'true', limit: '500' } as const;
      const { trajectories } = await dataOf(api.GET('/v1/trajectories', { params: { query } }));
      return trajectories.map((one) => one.trajectory_id);
    },
  });
}

/** Beside the name of a world, while it is halted, or while the server does not say. */
export function HaltedChip({ world }: { readonly world: string }) {
  const { data, error } = useHalted();
  if (error !== null)
    return (
      <Badge component="span" variant="default" size="xs" tt="none" title={error.message}>
        Halts unknown
      </Badge>
    );
  if (data?.includes(world) !== true) return null;
  return (
    <Badge component="span" color="red.8" size="xs" tt="none">
      Halted
    </Badge>
  );
}

/** The name of a world, with the chip. */
export function World({ id }: { readonly id: string }) {
  return (
    <>
      <Inert>{id}</Inert> <HaltedChip world={id} />
    </>
  );
}
