import { arg } from '#base';
import { type Instant, readInstant, type Time } from '#canon';
import type { FactQuery, FactVersion } from '#ledger';
import {
  type AllenRelation,
  allenRelation,
  type GivenPeriod,
  MemoryError,
  NEARBY_WEIGHTS,
  type NearbyWeights,
  type Period,
  wordsOf,
} from '#memory';
import { INSTANT_MADE } from '../plan/validate.ts';
import { NAME, requireShortText } from './keys.ts';
import type { SearchMode, SearchWeights } from './search.ts';

/**
 * The facts to recall. An omitted member restricts nothing, except `valid`, `system` and `kind`.
 */
export interface RecallQuery {
  readonly subject?: string;
  readonly predicate?: string;
  /** The valid time, in any form of `Time`. Default: now; `any`: all times. */
  readonly valid?: Time | 'any';
  /** The system time, in any form of `Time`. Default: now; `any`: all times. */
  readonly system?: Time | 'any';
  /**
   * Default `current`: facts, current or past; `audit`: assertions that lost a contradiction, as
   * recorded.
   */
  readonly kind?: FactQuery['kind'];
  /**
   * Facts with a valid time in one of these relations to the period; `valid` is then `any` by
   * default.
   */
  readonly relation?: { readonly to: GivenPeriod; readonly is: readonly AllenRelation[] };
  /**
   * Facts that match this text, best first. The other members filter first, and the rest is ranked.
   * At most 10,000 characters.
   */
  readonly text?: string;
  /**
   * The search method. `text` (default): full-text search, ranked by BM25. `embedding`: vector
   * search, ranked by cosine; the runtime needs an embedder. `hybrid`: both; the best 100 of each,
   * or `limit` if greater, are fused by reciprocal rank.
   */
  readonly by?: SearchMode;
  /**
   * The weights of the two lists of a `hybrid` search, from 0 to 1,000, and not both 0. Default: 1
   * each. Give a weak embedder a smaller weight.
   */
  readonly weights?: SearchWeights;
  /**
   * Full-text search also ranks by what stands nearby in a conversation: the matching facts of the
   * same first valid day, and those recorded next to it among them. `true` takes the default
   * weights. The best 500 facts, or `limit` if greater, are ranked again. Default: only the words
   * of the fact itself count.
   */
  readonly nearby?: boolean | NearbyWeights;
  /**
   * Aborts the calls of the embedder. The recall then ends even if the embedder ignores the signal.
   */
  readonly signal?: AbortSignal;
  /** Facts after those of this subject and predicate, for pages of a list without a text. */
  readonly after?: { readonly subject: string; readonly predicate: string };
  /** Maximum number of facts, from 1 to 10,000. Default 1,000, or 10 with a text. */
  readonly limit?: number;
}

/** The most facts of one recall. */
export const RECALL_MAX = 10_000;
export const RECALL_DEFAULT = 1_000;
export const RANKED_DEFAULT = 10;

export const RANKED_BY: readonly SearchMode[] = ['text', 'embedding', 'hybrid'];

const SIGNAL = arg.optional(arg.of('an AbortSignal', (value) => value instanceof AbortSignal));

export const EMBED_OPTIONS = arg.options<{ readonly signal?: AbortSignal }>({ signal: SIGNAL });
export const OF = { subject: arg.optional(NAME), predicate: arg.optional(NAME) };
const KEY = { subject: NAME, predicate: NAME };
export const OF_MEMBERS = arg.only(['subject', 'predicate']);
export const POINT_MEMBERS = arg.only(['valid', 'system']);
export const HISTORY_MEMBERS = arg.only(['subject', 'predicate', 'kind', 'limit']);
export const QUERY_MEMBERS = arg.only([
  ...['subject', 'predicate', 'valid', 'system', 'kind', 'relation'],
  ...['text', 'by', 'weights', 'nearby', 'signal', 'limit', 'after'],
]);
/** A text or a `Date`; `requireInstant` reads it. */
const TIME = arg.of('a time', (given) => typeof given === 'string' || typeof given === 'object');
export const QUERY = arg.members({
  ...OF,
  valid: arg.optional(TIME),
  system: arg.optional(TIME),
  kind: arg.optional(arg.text),
  relation: arg.optional(arg.members({ to: arg.object, is: arg.list(arg.text) })),
  text: arg.optional(arg.text),
  by: arg.optional(arg.text),
  weights: arg.optional(arg.object),
  nearby: arg.any,
  signal: SIGNAL,
  limit: arg.optional(arg.whole),
  after: arg.optional(arg.members(KEY)),
});

const WEIGHT_MAX = 1_000;

/** @throws MemoryError `bad_argument` */
export function requireWeights(weights: SearchWeights | undefined, by: SearchMode): void {
  if (weights === undefined) return;
  if (by !== 'hybrid') throw badRecall('`weights` need `by: hybrid`');
  const { text = 1, embedding = 1, ...others } = weights;
  if (
    Object.keys(others).length > 0 ||
    !isWeight(text) ||
    !isWeight(embedding) ||
    text + embedding === 0
  )
    throw badRecall(
      `\`weights\` are { text, embedding }, numbers from 0 to ${WEIGHT_MAX}, and not both 0`,
    );
}

/**
 * The weights of facts nearby. Undefined without them.
 *
 * @throws MemoryError `bad_argument`
 */
export function nearbyOf(
  given: RecallQuery['nearby'],
  by: SearchMode,
): Required<NearbyWeights> | undefined {
  if (given === undefined || given === false) return undefined;
  if (by === 'embedding') throw badRecall('`nearby` needs `by: text` or `by: hybrid`');
  const { neighbours, session, ...others } = weightsOf(given);
  if (Object.keys(others).length > 0 || !isWeight(neighbours) || !isWeight(session))
    throw badRecall(
      `\`nearby\` is true, or { neighbours, session } with numbers from 0 to ${WEIGHT_MAX}`,
    );
  return { neighbours, session };
}

/** With the defaults. Empty for a value that is not an object. */
function weightsOf(given: true | NearbyWeights): Partial<NearbyWeights> {
  if (given === true) return NEARBY_WEIGHTS;
  return typeof given === 'object' && given !== null ? { ...NEARBY_WEIGHTS, ...given } : {};
}

function isWeight(weight: unknown): weight is number {
  return typeof weight === 'number' && weight >= 0 && weight <= WEIGHT_MAX;
}

export function requireKind(kind: string): 'current' | 'audit' | 'all' {
  if (kind === 'current' || kind === 'audit' || kind === 'all') return kind;
  throw new MemoryError('bad_argument', 'The row kind is not valid. Use current, audit or all.');
}

/** `orElse`: the other values allowed there. */
export function requireInstant(instant: Time, member: string, orElse = ', or any'): Instant {
  const read = readInstant(instant);
  if (read !== undefined) return read;
  throw new MemoryError(
    'no_instant',
    `The ${member} time must be an instant such as 2026-03-23T09:00:00.000000Z${orElse}. ${INSTANT_MADE}`,
    { evidence: { member } },
  );
}

/** @throws MemoryError `bad_argument`, `bad_text` */
export function requireAskable(text: string, by: SearchMode): void {
  requireShortText(text);
  if (!text.isWellFormed() || text.includes('\0'))
    throw new MemoryError(
      'bad_text',
      'The search text has U+0000 or half a surrogate pair. Remove it.',
    );
  // An embedder may know the meaning of signs that are not words.
  const isEmpty = by === 'text' ? wordsOf(text).length === 0 : text.trim() === '';
  if (isEmpty)
    throw new MemoryError(
      'bad_argument',
      'The search text has no words. Give at least one word of letters or digits.',
    );
}

/** A query with a text, and with its period in the form of the ledger. */
export type RankedQuery = Omit<RecallQuery, 'relation'> & {
  readonly relation: { readonly to: Period; readonly is: readonly AllenRelation[] } | undefined;
  readonly text: string;
  readonly limit: number;
};

export function isInRelation(
  { valid_from: from, valid_to: to }: FactVersion,
  is: readonly AllenRelation[],
  of: Period,
): boolean {
  return is.includes(allenRelation({ from, to }, of));
}

export function badRecall(why: string): MemoryError {
  return new MemoryError('bad_argument', `The recall is not valid: ${why}.`);
}

export function badLimit(limit: number): MemoryError {
  return new MemoryError(
    'bad_argument',
    `The limit of a recall is not valid. Use 1 to ${RECALL_MAX}.`,
    {
      evidence: { limit },
    },
  );
}
