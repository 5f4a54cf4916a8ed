import { useQuery } from '@tanstack/react-query';
import { api, dataOf } from './client.ts';
import type { components } from './openapi.d.ts';

export type Approval = components['schemas']['Approval'];
export type Principal = components['schemas']['Principal'];

/** The principal of the session. */
export function useMe() {
  return useQuery({ queryKey: ['me'], queryFn: () => dataOf(api.GET('/v1/me')), staleTime: 60_000 });
}
