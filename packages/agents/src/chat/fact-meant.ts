import type { FactRow } from 'assize/internal/memory';
import { ChatMemoryError } from './errors.ts';

/** Fewer characters of an id name no fact. */
const PREFIX_MIN = 8;
/** Ids in the error of an ambiguous id. */
const NAMED_MAX = 5;

/**
 * The fact of an id, in its latest version: a whole id, or its first 8 or more characters. The
 * parts of a fact are one fact, and the id of one part means that part.
 *
 * @throws ChatMemoryError `not_found`, `ambiguous`
 */
export function factMeant(versions: readonly FactRow[], id: string, space: string): FactRow {
  const whole =
    versions.findLast((row) => row.fact_id === id) ??
    versions.findLast((row) => row.lineage === id);
  if (whole !== undefined) return whole;
  const [claim] = id.split('::') as [string];
  const meant =
    claim.length < PREFIX_MIN ? [] : versions.filter(({ lineage }) => lineage.startsWith(claim));
  const claims = [...new Set(meant.map(({ lineage }) => lineage))];
  if (claims.length === 1) return meant.at(-1)!;
  if (claims.length === 0)
    throw new ChatMemoryError(
      'not_found',
      `The space ${space} has no fact ${id}. Pass the \`id\` of a fact that a recall returned, or its first ${PREFIX_MIN} characters.`,
      { evidence: { id } },
    );
  throw new ChatMemoryError(
    'ambiguous',
    `The ids of ${claims.length} facts of the space ${space} start with ${claim}. Pass more characters of the id.`,
    { evidence: { ids: claims.slice(0, NAMED_MAX) } },
  );
}
