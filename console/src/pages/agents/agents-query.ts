import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { beginnings, entriesOf, proposals } from '../../api/changed-by.ts';
import { api, dataOf } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';
import { useMe } from '../../api/queries.ts';

export type Trajectory = components['schemas']['Trajectory'];
export type Session = components['schemas']['Session'];
export type Token = components['schemas']['Token'];
export type ListedWrit = Awaited<ReturnType<typeof writsOf>>[number];
export type Agent = components['schemas']['Agent'];
export type AgentChange = 'stop' | 'pause' | 'resume';
export type Delegation = Awaited<ReturnType<typeof delegationsOf>>['open'][number];

const PAGE = '500';

export function useTrajectory(trajectory: string) {
  return useQuery({
    queryKey: ['log', 'trajectory', trajectory],
    meta: entriesOf(trajectory),
    queryFn: () =>
      dataOf(api.GET('/v1/trajectories/{trajectory}', { params: { path: { trajectory } } })),
  });
}

export function useWrits(trajectory: string) {
  return useQuery({
    queryKey: ['log', 'writs', trajectory],
    meta: entriesOf(trajectory),
    queryFn: () => writsOf(trajectory),
  });
}

async function writsOf(trajectory: string) {
  const params = { path: { trajectory } };
  return (await dataOf(api.GET('/v1/trajectories/{trajectory}/writs', { params }))).writs;
}

export function useDelegations(trajectory: string, enabled = true) {
  return useQuery({
    queryKey: ['log', 'delegations', trajectory],
    meta: beginnings,
    enabled,
    queryFn: () => delegationsOf(trajectory),
  });
}

function delegationsOf(trajectory: string) {
  return dataOf(
    api.GET('/v1/trajectories/{trajectory}/delegations', { params: { path: { trajectory } } }),
  );
}

export function useBranches(trajectory: string) {
  return useQuery({
    queryKey: ['log', 'branches', trajectory],
    meta: beginnings,
    queryFn: async () => {
      const params = { path: { trajectory } };
      return (await dataOf(api.GET('/v1/trajectories/{trajectory}/branches', { params }))).branches;
    },
  });
}

export function useIsAdmin(): boolean {
  return useMe().data?.kinds.includes('admin') === true;
}

export function useAgents() {
  return useQuery({
    queryKey: ['log', 'agents'],
    meta: proposals,
    queryFn: () => dataOf(api.GET('/v1/agents')),
  });
}

/** Stops or pauses an agent, or brings it back. */
export function useChangeAgent(agent: string, does: AgentChange) {
  return useChange((reason: string) =>
    dataOf(
      api.POST(`/v1/agents/{agent}/${does}`, { params: { path: { agent } }, body: { reason } }),
    ),
  );
}

/** Revokes a writ, with all below it. */
export function useRevokeWrit(trajectory: string, writ: string) {
  return useChange((reason: string) =>
    dataOf(
      api.POST('/v1/trajectories/{trajectory}/writs/{writ}/revoke', {
        params: { path: { trajectory, writ } },
        body: { reason },
      }),
    ),
  );
}

/** Halts a trajectory, or ends its halt. */
export function useStop(trajectory: string, does: 'halt' | 'resume') {
  return useChange((reason: string) =>
    dataOf(
      api.POST(
        does === 'halt'
          ? '/v1/trajectories/{trajectory}/halt'
          : '/v1/trajectories/{trajectory}/resume',
        {
          params: { path: { trajectory } },
          body: { reason },
        },
      ),
    ),
  );
}

export function useSessions() {
  return useQuery({
    queryKey: ['sessions'],
    queryFn: () => dataOf(api.GET('/v1/sessions', withPage)),
  });
}

export function useTokens() {
  return useQuery({ queryKey: ['tokens'], queryFn: () => dataOf(api.GET('/v1/tokens', withPage)) });
}

/** Whether an agent has a token. Only an administrator may ask. */
export function useHasToken(principal: string, enabled: boolean) {
  return useQuery({
    queryKey: ['tokens', principal],
    enabled,
    queryFn: async () => {
      const { tokens } = await dataOf(api.GET('/v1/tokens', { params: { query: { principal } } }));
      return tokens.some(({ expires }) => Date.parse(expires) > Date.now());
    },
  });
}

const withPage = { params: { query: { limit: PAGE } } };

export function useEndSession(session: string) {
  return useChange(() =>
    dataOf(api.DELETE('/v1/sessions/{session}', { params: { path: { session } } })),
  );
}

export function useRevokeToken(token: string) {
  return useChange(() => dataOf(api.DELETE('/v1/tokens/{token}', { params: { path: { token } } })));
}

/** A change of the server, after which everything shown is loaded again. */
function useChange<Answer>(change: (reason: string) => Promise<Answer>) {
  const queries = useQueryClient();
  return useMutation({ mutationFn: change, onSettled: () => queries.invalidateQueries() });
}
