import { useQuery } from '@tanstack/react-query';
import { entriesOf } from '../../api/changed-by.ts';
import { api, dataOf } from '../../api/client.ts';
import type { LogEvent } from '../../api/events.ts';
import type { components } from '../../api/openapi.d.ts';

export type RulesInForce = components['schemas']['RulesInForce'];
export type RuleCount = components['schemas']['RuleCount'];

/** The rules in force in each world of the gateway. Those who read nothing there get none. */
export function useRulesInForce() {
  return useQuery({
    queryKey: ['log', 'rules'],
    meta: { changedBy: ({ action }: LogEvent) => action === 'configure' },
    queryFn: async () => (await dataOf(api.GET('/v1/rules'))).worlds,
    retry: false,
  });
}

/** The text of the rules file of the server, if it has one. */
export function useRulesFile(isWanted: boolean) {
  return useQuery({
    queryKey: ['rules-file'],
    enabled: isWanted,
    queryFn: () => dataOf(api.GET('/v1/rules', { params: { query: { text: 'true' } } })),
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
