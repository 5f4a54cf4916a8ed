import type { Store } from 'assize/internal/stores';
import { CliError } from '../errors.ts';
import { isErasedText } from './erased-text.ts';

type SpaceStore = Pick<Store, 'spaces' | 'branches'>;

/** The spaces with facts, also those of branches alone. */
export async function spacesWithFacts(store: SpaceStore): Promise<readonly string[]> {
  const own = (await store.branches()).map(({ space }) => space);
  return [...new Set([...(await store.spaces()), ...own])];
}

/** Spaces that a message names. */
const NAMED_MAX = 8;

/** Names the spaces of the store if one of the given spaces has no facts, as a misspelt one. */
export async function unknownSpaceText(
  store: SpaceStore,
  given: readonly string[],
): Promise<string | undefined> {
  const all = await spacesWithFacts(store);
  const unknown = given.filter((space) => !all.includes(space));
  if (unknown.length === 0) return undefined;
  const known = all.filter((space) => !isErasedText(space));
  if (known.length === 0) return 'The store has no facts.';
  const more = known.length > NAMED_MAX ? ', …' : '';
  const named = unknown.map((space) => JSON.stringify(space)).join(' and ');
  return `The store has no facts in ${named}. Spaces with facts: ${known.slice(0, NAMED_MAX).join(', ')}${more}.`;
}

/** @throws CliError `not_found` for a space without facts */
export async function requireSpace(store: SpaceStore, space: string): Promise<void> {
  const text = await unknownSpaceText(store, [space]);
  if (text !== undefined) throw new CliError('not_found', text);
}
