import type { FactRow } from '#memory';
import { CliError } from '../../errors.ts';
import { shortFact } from '../../render/fact-text.ts';
import { isPrefix } from '../../store/entries.ts';

/** Maximum number of facts in an ambiguity error. */
const NAMED_MAX = 5;

/**
 * The matching fact, in its latest version.
 * @throws CliError
 */
export function oneOf(facts: readonly FactRow[], id: string | undefined): FactRow {
  const exact = facts.filter(({ fact_id }) => fact_id === id || shortFact(fact_id) === id);
  const meant = facts.filter(({ fact_id }) => id === undefined || (id.length >= 8 && fact_id.startsWith(id)));
  const versions = exact.length > 0 ? exact : meant;
  const ids = [...new Set(versions.map(({ fact_id }) => fact_id))];
  if (ids.length === 1) return versions.at(-1)!;
  if (ids.length === 0) requireFactId(id);
  if (ids.length === 0)
    throw new CliError(
      'not_found',
      'No fact matches at this time. Pass --valid any and --system any to search all times.',
    );
  const named = ids.slice(0, NAMED_MAX).map(shortFact).join(', ');
  throw new CliError(
    'ambiguous',
    `${ids.length} facts match (${named}${ids.length > NAMED_MAX ? ', …' : ''}). Pass --fact ID, or narrow the selection.`,
    { evidence: { ids: ids.slice(0, NAMED_MAX) } },
  );
}

/** @throws CliError `usage` for a text that no fact can have as its id */
export function requireFactId(id: string | undefined): void {
  // The full ids of losing assertions and of parts of a fact contain colons.
  if (id === undefined || isPrefix(id) || id.includes('::')) return;
  throw new CliError('usage', `'${id}' is not a fact id. Pass its first 8 to 64 hex digits, as listed by recall.`);
}
