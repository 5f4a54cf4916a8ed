import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { entriesOf } from '../../api/changed-by.ts';
import { api, dataOf } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';
import { type Approval, useMe } from '../../api/queries.ts';

export type StandingApproval = components['schemas']['StandingApproval'];
export type StandingUse = components['schemas']['StandingUse'];
export type StandingTerms = components['schemas']['StandingTerms'];

const PAGE = '100';

/** Whether the person may ask for standing approvals, and end them. */
export function useMayChangeStanding(): boolean {
  return useMe().data?.kinds.some((kind) => kind === 'counselor' || kind === 'admin') === true;
}

/** The newest standing approvals of a trajectory, and the most that its rules allow. */
export function useStanding(trajectory: string) {
  return useQuery({
    queryKey: ['log', 'standing', trajectory],
    meta: entriesOf(trajectory),
    queryFn: () => {
      const params = { path: { trajectory }, query: { limit: PAGE } };
      return dataOf(api.GET('/v1/trajectories/{trajectory}/standing', { params }));
    },
  });
}

/** The ruling that a request for these terms would get, with the waiting calls of the agent. */
export function useTermsJudgement(trajectory: string, terms: StandingTerms | undefined) {
  return useQuery({
    queryKey: ['log', 'standing-judgement', trajectory, terms],
    meta: entriesOf(trajectory),
    enabled: terms !== undefined,
    placeholderData: keepPreviousData,
    retry: false,
    queryFn: ({ signal }) => {
      const params = { path: { trajectory } };
      const body = terms as StandingTerms;
      return dataOf(
        api.POST('/v1/trajectories/{trajectory}/standing/judge', { params, body, signal }),
      );
    },
  });
}

/** The answer to a request: its ruling, and the proposal if it waits. */
export interface Asked {
  readonly ruling: string;
  readonly detail?: string | undefined;
  readonly waits?: Approval | undefined;
}

/** Asks for a standing approval. A repetition with the same key is the same request. */
export function useAskStanding(trajectory: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async ({
      key,
      terms,
    }: {
      readonly key: string;
      readonly terms: StandingTerms;
    }): Promise<Asked> => {
      const params = { path: { trajectory }, header: { 'Idempotency-Key': key } };
      const ruling = await dataOf(
        api.POST('/v1/trajectories/{trajectory}/standing', { params, body: terms }),
      );
      if (ruling.ruling !== 'escalated')
        return { ruling: ruling.ruling, ...('detail' in ruling && ruling) };
      const at = { params: { path: { approval: ruling.approval_id } } };
      const { approval } = await dataOf(api.GET('/v1/approvals/{approval}', at));
      return { ruling: ruling.ruling, waits: approval };
    },
    onSettled: () => void queries.invalidateQueries({ queryKey: ['log'] }),
  });
}

/** Ends a standing approval immediately. */
export function useEndStanding(trajectory: string, standing: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async () => {
      const params = { path: { trajectory, standing } };
      return dataOf(api.POST('/v1/trajectories/{trajectory}/standing/{standing}/end', { params }));
    },
    onSettled: () => void queries.invalidateQueries({ queryKey: ['log'] }),
  });
}
