import { useMutation, useQuery } from '@tanstack/react-query';
import { beginnings, type ChangedBy, entriesOf } from '../../api/changed-by.ts';
import { api, dataOf } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';
import { INCIDENTS } from './incidents-trajectory.ts';
import type { Start } from './start-address.ts';

export type Blast = Awaited<ReturnType<typeof blastOf>>;
export type AffectedEntry = Blast['entries'][number];
export type Plan = Awaited<ReturnType<typeof planned>>;
export type Step = components['schemas']['ResponseStep'];
export type Incident = Awaited<ReturnType<typeof incidentsNow>>[number];

/** The steps of a response change what is believed, and the outcome of each is an entry. */
const responses: { readonly changedBy: ChangedBy } = {
  changedBy: (event, data) =>
    beginnings.changedBy(event, data) || entriesOf(INCIDENTS).changedBy(event, data),
};

/** All that derives from a start. */
export function useBlast(start: Start | undefined) {
  return useQuery({
    queryKey: ['log', 'blast', start],
    meta: responses,
    enabled: start !== undefined,
    queryFn: () => blastOf(start as Start),
  });
}

function blastOf(start: Start) {
  return dataOf(api.POST('/v1/blast', { body: start }));
}

/** The response to the start. Nothing proposes it yet. */
export function usePlan(start: Start) {
  return useQuery({
    queryKey: ['incident plan', start],
    queryFn: () => planned(start),
    staleTime: 0,
    gcTime: 0,
  });
}

function planned(start: Start) {
  return proposed({ ...start, because: 'a plan', dry_run: true }, 'plan');
}

/** Proposes the response, once for each key. */
export function usePropose(start: Start, key: string) {
  return useMutation({ mutationFn: (because: string) => proposed({ ...start, because }, key) });
}

function proposed(
  body: Start & { readonly because: string; readonly dry_run?: boolean },
  key: string,
) {
  const params = { header: { 'Idempotency-Key': key } };
  return dataOf(api.POST('/v1/incidents', { params, body }));
}

/** The approved incidents, newest first. */
export function useIncidents() {
  return useQuery({
    queryKey: ['log', 'incidents'],
    meta: entriesOf(INCIDENTS),
    queryFn: incidentsNow,
  });
}

async function incidentsNow() {
  return (await dataOf(api.GET('/v1/incidents'))).incidents;
}
