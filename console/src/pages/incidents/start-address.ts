import type { paths } from '../../api/openapi.d.ts';

/** The start of a search, as the API takes it. */
export type Start = Omit<
  NonNullable<paths['/v1/blast']['post']['requestBody']>['content']['application/json'],
  'through' | 'limit' | 'facts'
>;

/** The names by which an incident may begin, with their words. */
export const STARTS = {
  entry: 'Entry (its id)',
  writ: 'Writ (its id)',
  principal: 'Principal',
  approver: 'Approver',
  tool: 'Tool, or server/tool',
  definition: 'Definition of a tool (its hash)',
  source: 'Source of facts',
} as const;
export type StartName = keyof typeof STARTS;

export function startNameIn(start: Start): StartName {
  return (Object.keys(STARTS) as StartName[]).find((name) => start[name] !== undefined) ?? 'entry';
}

const TIMES = ['since', 'until'] as const;

/** The start that an address has. Undefined without one. */
export function startOf(search: URLSearchParams): Start | undefined {
  const name = (Object.keys(STARTS) as StartName[]).find((each) => search.get(each));
  if (name === undefined) return undefined;
  const times = TIMES.flatMap((time) => (search.get(time) ? [[time, search.get(time)]] : []));
  return { [name]: search.get(name), ...Object.fromEntries(times) };
}

/** The address of a search. */
export function incidentsHref(start: Start): string {
  const known = Object.entries(start).filter(
    ([, value]) => typeof value === 'string' && value !== '',
  );
  return `/incidents?${new URLSearchParams(Object.fromEntries(known) as Record<string, string>)}`;
}
