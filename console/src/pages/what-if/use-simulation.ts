import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { api, dataOf } from '../../api/client.ts';
import type { components, paths } from '../../api/openapi.d.ts';

export type Simulation = components['schemas']['Simulation'];
export type SimulatedVariant = components['schemas']['SimulatedVariant'];
export type SimulatedStep = components['schemas']['SimulatedStep'];
export type SimulationTerms = components['schemas']['SimulationTerms'];
export type Configured =
  paths['/v1/simulations']['get']['responses'][200]['content']['application/json']['simulations'][number];

/** A simulation to run. */
export interface AskedSimulation {
  readonly trajectory: string;
  readonly terms: SimulationTerms;
}

/** The simulations that the server has. */
export function useConfigured() {
  return useQuery({
    queryKey: ['simulations'],
    queryFn: async () => (await dataOf(api.GET('/v1/simulations'))).simulations,
    staleTime: 60_000,
  });
}

/**
 * Runs one simulation at a time, and none by itself, because its models can cost money. `stop` and
 * the end of the page end it at the server.
 */
export function useSimulation() {
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const run = useMutation({
    retry: false,
    mutationFn: ({ trajectory, terms }: AskedSimulation) => {
      running.current?.abort();
      running.current = new AbortController();
      const { signal } = running.current;
      const params = { path: { trajectory } };
      return dataOf(
        api.POST('/v1/trajectories/{trajectory}/simulations', { params, body: terms, signal }),
      );
    },
  });
  const stop = () => {
    running.current?.abort();
    run.reset();
  };
  return { run, stop };
}
