import type { Observation } from './entry.ts';

/** The name of the observation that has the makers of the requester's token. */
export const TOKEN_BY = 'assize.token_by';

/** The other principals that made the token of a proposal. They count as its requester. */
export function tokenMakersIn(observations: readonly Observation[]): readonly string[] {
  return (observations.find(({ name }) => name === TOKEN_BY)?.value ?? []) as readonly string[];
}
