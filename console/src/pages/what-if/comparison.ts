import { useQuery } from '@tanstack/react-query';
import { api, dataOf } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';
import { counted } from '../../parts/counted.ts';

export type Comparison = components['schemas']['ArchitectureComparison'];
export type ComparedArchitecture = components['schemas']['ComparedArchitecture'];
export type ComparedViolation = components['schemas']['ComparedViolation'];
export type ComparedStep = components['schemas']['ComparedStep'];
export type ComparisonTerms = Required<components['schemas']['ComparisonTerms']>;

/** The choices of a comparison besides its domain, with the bounds that the server has. */
export const NUMBERS = {
  schedules: { label: 'Schedules', min: 1, max: 400, first: 400 },
  population: { label: 'Agents', min: 2, max: 3, first: 2 },
  turns: { label: 'Turns', min: 1, max: 2, first: 1 },
  seed: { label: 'Seed', min: 0, max: 2 ** 31 - 1, first: 1 },
} as const;

export type NumberName = keyof typeof NUMBERS;

/** The same terms have the same result, so a shown one is not asked for again. */
export function useComparison(terms: ComparisonTerms) {
  return useQuery({
    queryKey: ['comparison', terms],
    queryFn: ({ signal }) => dataOf(api.POST('/v1/comparisons', { body: terms, signal })),
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnReconnect: false,
    retry: false,
  });
}

/** The bounds of the search: the schedules that each architecture ran. */
export function boundsText({ schedules, exhaustive, cases, population, turns }: Comparison): string {
  const agents = `${counted(population, 'agent')} with ${counted(turns, 'turn')} each`;
  return `${counted(schedules, 'schedule')} of ${agents}: ${exhaustive ? 'all' : 'some'} schedules of each of ${counted(cases, 'case')}`;
}
