import { ambiguous, CliError, isErasedText, isPrefix, readingAssize } from '@assize/command';
import { readWitness } from 'assize/internal/memory';
import type { Store } from 'assize/internal/stores';

/** The subject of a claim, and its space. */
export interface ClaimPlace {
  readonly space: string;
  readonly subject: string;
  readonly predicate?: string | undefined;
  readonly trajectory: string;
}

/** Maximum number of versions that a search reads. */
const LIMIT_MAX = 10_000;
const WHOLE = /^[0-9a-f]{64}$/;

/**
 * The claim with this id, or the subject's only claim with this id prefix. Past claims are
 * included.
 * @throws CliError
 */
export async function findClaim(
  store: Store,
  { space, trajectory, subject, predicate }: ClaimPlace,
  typed: string,
): Promise<string> {
  // The runtime checks a full id, because it knows more claims than a recall returns.
  if (WHOLE.test(typed)) return typed;
  if (!isPrefix(typed))
    throw new CliError(
      'usage',
      `'${typed}' is not a claim id. Pass its first 8 to 64 hex digits, as listed by assize memory explain.`,
    );
  const memory = readingAssize(store).memory(space, trajectory);
  const { facts, isTruncated } = await memory.recall({
    subject,
    ...(predicate !== undefined && { predicate }),
    kind: 'all',
    valid: 'any',
    system: 'any',
    limit: LIMIT_MAX,
  });
  const known = facts.flatMap((fact) =>
    fact.row_kind === 'current' || isErasedText(fact.object)
      ? [fact.lineage]
      : readWitness(fact).members.map(({ claim }) => claim),
  );
  const [found, other] = [...new Set(known)].filter((claim) =>
    claim.startsWith(typed.toLowerCase()),
  );
  if (found !== undefined && other !== undefined) throw ambiguous('claim', typed, [found, other]);
  if (isTruncated)
    throw new CliError(
      'ambiguous',
      `The subject has more than ${LIMIT_MAX} fact versions, too many to search for ${typed}. Pass all 64 digits.`,
    );
  if (found !== undefined) return found;
  throw new CliError(
    'not_found',
    `The subject ${subject} has no claim ${typed} in this space. List its claims with assize memory explain --json.`,
  );
}
