import { useQuery } from '@tanstack/react-query';
import { actAs, api, dataOf } from './client.ts';
import type { components } from './openapi.d.ts';

export type Approval = components['schemas']['Approval'];
export type Card = components['schemas']['Card'];
export type Principal = components['schemas']['Principal'];

/** The key of the principal. It is loaded again after a request with a lost session. */
export const ME = ['me'];

/** The principal of the session. */
export function useMe() {
  return useQuery({ queryKey: ME, queryFn: me, staleTime: 60_000, refetchOnWindowFocus: 'always' });
}

async function me(): Promise<Principal> {
  const principal = await dataOf(api.GET('/v1/me'));
  actAs(principal.name);
  return principal;
}
