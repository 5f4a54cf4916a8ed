import { useQuery } from '@tanstack/react-query';
import { entriesOf } from '../../api/changed-by.ts';
import { api, dataOf } from '../../api/client.ts';
import type { LogEvent } from '../../api/events.ts';
import type { components } from '../../api/openapi.d.ts';

export type RulesInForce = components['schemas']['RulesInForce'];
export type RuleCount = components['schemas']['RuleCount'];

const CONFIGURED = { changedBy: ({ action }: LogEvent) => action === 'configure' };

/** The rules in force in each world of the gateway. Those who read nothing there get none. */
export function useRulesInForce() {
  return useQuery({
    queryKey: ['log', 'rules'],
    meta: CONFIGURED,
    queryFn: async () => (await dataOf(api.GET('/v1/rules'))).worlds,
    retry: false,
  });
}

/** The rules in force in a trajectory of the gateway, as the text of a file. */
export function useRulesFile(trajectory: string, isWanted: boolean) {
  return useQuery({
    queryKey: ['log', 'rules-file', trajectory],
    meta: CONFIGURED,
    enabled: isWanted,
    queryFn: async () =>
      (await dataOf(api.GET('/v1/rules', { params: { query: { trajectory } } }))).worlds[0]?.text,
  });
}

/** Questions and refusals of the last seven days, also those that were only recorded. */
export function useRulesReport(trajectory: string) {
  return useQuery({
    queryKey: ['log', 'rules', trajectory],
    meta: entriesOf(trajectory),
    queryFn: () => {
      const params = { path: { trajectory }, query: { since: '7d' } };
      return dataOf(api.GET('/v1/trajectories/{trajectory}/rules/report', { params }));
    },
  });
}
