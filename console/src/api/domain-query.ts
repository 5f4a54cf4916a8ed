import { useQuery } from '@tanstack/react-query';
import { api, dataOf } from './client.ts';
import type { components } from './openapi.d.ts';

export type Domain = components['schemas']['Domain'];

/** The domains that the server has. */
export function useDomains() {
  return useQuery({
    queryKey: ['domains'],
    queryFn: async () => (await dataOf(api.GET('/v1/domains'))).domains,
    staleTime: 60_000,
  });
}

/** The domain that is in force in a trajectory. */
export function useDomainOf(trajectory: string, isWanted: boolean = true) {
  return useQuery({
    queryKey: ['domain-of', trajectory],
    enabled: isWanted,
    staleTime: 60_000,
    queryFn: async () => {
      const { domain } = await dataOf(
        api.GET('/v1/trajectories/{trajectory}', { params: { path: { trajectory } } }),
      );
      return dataOf(api.GET('/v1/domains/{domain}', { params: { path: { domain: domain.hash } } }));
    },
  });
}

/** The JSON Schema of the arguments of an action. Undefined for a built-in action. */
export function argsSchemaOf(
  domain: Domain,
  action: string,
): Readonly<Record<string, unknown>> | undefined {
  return domain.actions.find(({ name }) => name === action)?.['args'] as
    | Readonly<Record<string, unknown>>
    | undefined;
}
