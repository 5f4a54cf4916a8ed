import { isAssizeError } from '#base';
import type { FactHit, FactQuery, FactReads, FactStore, FactVersion } from '#ledger';
import {
  dayOf,
  type Embedder,
  fuse,
  MemoryError,
  type NearbyWeights,
  rankNearby,
  wordsOf,
} from '#memory';
import { withSignal } from '../../transactions/limits/time-limit.ts';
import { withReadSnapshot } from '../visible/facts.ts';
import { visibleHits } from '../visible/hits.ts';
import type { VisibilityChain } from '../visible/visibility.ts';

/** The search method: full-text, vector, or both. */
export type SearchMode = 'text' | 'embedding' | 'hybrid';

/** A fact that matches a text, with its score overall and in each result list. */
export interface RankedFact {
  readonly fact: FactVersion;
  readonly score: Score;
}

/** Greater is better. Scores of different queries cannot be compared. */
export interface Score {
  /**
   * The score that sorts the facts: that of the only list, with what is `nearby`, or the sum of
   * weight / (60 + rank) over both lists.
   */
  readonly score: number;
  /** BM25, if full-text search found the fact. */
  readonly text?: number;
  /** The cosine to the query text, if vector search found the fact. */
  readonly embedding?: number;
}

/** The weights of the two lists of a hybrid search, from 0. Default: 1 each. */
export interface SearchWeights {
  readonly text?: number;
  readonly embedding?: number;
}

/** A hybrid search that used only words, because the embedder failed. */
export interface SearchFallback {
  readonly by: 'text';
  /** The error of the embedder, or `function_failed`. */
  readonly cause: unknown;
}

export interface RankedFacts {
  readonly hits: readonly RankedFact[];
  readonly fallback?: SearchFallback;
}

type Filter = Omit<FactQuery, 'branch' | 'after' | 'limit'>;

/** Minimum number of facts of each list that are fused. */
const FUSED_MIN = 100;

/** Minimum number of facts that are ranked again by what is nearby. */
const NEARBY_MIN = 500;

/** Texts passed to an embedder at a time. */
const EMBEDDED_AT_ONCE = 64;

/**
 * The best matching facts, at most `limit`. With a predicate function, only the facts that it
 * accepts are ranked. Facts without a vector of the embedder get one first. If the embedder fails,
 * a hybrid search ranks by words and says so.
 *
 * @throws MemoryError `bad_argument`, `function_failed`; the errors of the embedder; the signal's
 * reason
 */
export async function rankFacts(
  store: FactStore,
  embedder: Embedder | undefined,
  {
    line,
    filter,
    isWanted,
    text,
    by,
    weights = {},
    nearby,
    signal,
    limit,
  }: {
    /** The visibility chain to search. */
    readonly line: VisibilityChain;
    readonly filter: Filter;
    /** The filter that no store can apply. */
    readonly isWanted: ((fact: FactVersion) => boolean) | undefined;
    readonly text: string;
    readonly by: SearchMode;
    readonly weights?: SearchWeights | undefined;
    /** Undefined: full-text search ranks by words alone. */
    readonly nearby?: NearbyWeights | undefined;
    readonly signal: AbortSignal;
    readonly limit: number;
  },
): Promise<RankedFacts> {
  const best = (
    facts: FactReads,
    search: Parameters<typeof visibleHits>[3],
    limit: number,
  ): Promise<FactHit[]> =>
    rankUntilEnough(
      (depth) => visibleHits(facts, line, { filter, limit: depth }, search),
      isWanted,
      limit,
    );
  const byWords = (facts: FactReads, limit: number): Promise<FactHit[]> =>
    best(facts, (query, limit) => facts.factsByText({ ...query, text, limit }), limit);
  const byText = async (facts: FactReads, limit: number): Promise<NearbyHit[]> =>
    nearby === undefined
      ? (await byWords(facts, limit)).map(({ fact, score }) => ({ fact, score, text: score }))
      : withNearby(await byWords(facts, Math.max(limit, NEARBY_MIN)), nearby).slice(0, limit);
  // One query is one snapshot.
  const isOne = line.length === 1 && isWanted === undefined;
  const ask = <T>(read: (facts: FactReads) => Promise<T>): Promise<T> =>
    isOne && by !== 'hybrid'
      ? read(store)
      : withReadSnapshot(store, read, { byText: by !== 'embedding' });
  const rankedByText = async (): Promise<RankedFact[]> => {
    const hits = await ask((facts) => byText(facts, limit));
    return hits.map(({ fact, score, text }) => ({ fact, score: { score, text } }));
  };
  if (by === 'text') return { hits: await rankedByText() };
  const failures = new Set<unknown>();
  const used = watched(requireEmbedder(embedder), failures);
  let vector: Float32Array | undefined;
  try {
    await embedTexts(store, used, filter.space, signal);
    [vector] = await embedded(used, [text], signal);
  } catch (cause) {
    if (by !== 'hybrid' || signal.aborted) throw cause;
    if (!failures.has(cause) && !isAssizeError(cause, 'function_failed')) throw cause;
    // Without words there is nothing to fall back to.
    if (wordsOf(text).length === 0) throw cause;
    return { hits: await rankedByText(), fallback: { by: 'text', cause } };
  }
  const byVector = (facts: FactReads, limit: number): Promise<FactHit[]> =>
    best(
      facts,
      (query, limit) =>
        facts.factsByVector({ ...query, embedder: used.id, vector: vector!, limit }),
      limit,
    );
  if (by === 'embedding') {
    const hits = await ask((facts) => byVector(facts, limit));
    return { hits: hits.map(({ fact, score }) => ({ fact, score: { score, embedding: score } })) };
  }
  const depth = Math.max(limit, FUSED_MIN);
  const hits = await ask(async (facts) =>
    fused(await byText(facts, depth), await byVector(facts, depth), weights),
  );
  return { hits: hits.slice(0, limit) };
}

/** A hit of full-text search: `text` is its BM25, and `score` ranks it. */
interface NearbyHit extends FactHit {
  readonly text: number;
}

function withNearby(hits: readonly FactHit[], weights: NearbyWeights): NearbyHit[] {
  const placed = hits.map(({ fact, score }) => ({
    fact,
    score,
    day: dayOf(fact),
    recorded: fact.system_time_start,
  }));
  return rankNearby(placed, weights).map(({ item, score }) => ({
    fact: item.fact,
    score,
    text: item.score,
  }));
}

/** The same embedder, with its own errors on record. Others are of the store. */
function watched(embedder: Embedder, failures: Set<unknown>): Embedder {
  const { id, dimensions } = embedder;
  return {
    id,
    dimensions,
    embed: async (texts, signal) => {
      try {
        return await embedder.embed(texts, signal);
      } catch (error) {
        failures.add(error);
        throw error;
      }
    },
  };
}

/** A store is asked for more until there are as many of those that are wanted. */
async function rankUntilEnough(
  search: (depth: number) => Promise<FactHit[]>,
  isWanted: ((fact: FactVersion) => boolean) | undefined,
  limit: number,
): Promise<FactHit[]> {
  if (isWanted === undefined) return search(limit);
  for (let depth = limit; ; depth *= 4) {
    const hits = await search(depth);
    const wanted = hits.filter(({ fact }) => isWanted(fact));
    if (wanted.length >= limit || hits.length < depth) return wanted.slice(0, limit);
  }
}

/** Fuses both lists. Each fact has its scores from the two lists. */
function fused(
  words: readonly NearbyHit[],
  near: readonly FactHit[],
  { text: ofText = 1, embedding: ofEmbedding = 1 }: SearchWeights,
): RankedFact[] {
  const text = new Map(words.map((hit) => [keyOf(hit.fact), hit.text]));
  const embedding = new Map(near.map(({ fact, score }) => [keyOf(fact), score]));
  const lists = [words, near].map((hits) => hits.map(({ fact }) => fact));
  return fuse(lists, keyOf, [ofText, ofEmbedding]).map(({ item: fact, score }) => {
    const own = { text: text.get(keyOf(fact)), embedding: embedding.get(keyOf(fact)) };
    return {
      fact,
      score: {
        score,
        ...(own.text !== undefined && { text: own.text }),
        ...(own.embedding !== undefined && { embedding: own.embedding }),
      },
    };
  });
}

/**
 * Creates vectors for all texts of a space that have no vector of the embedder. Returns their
 * number. Erased texts are excluded.
 *
 * @throws MemoryError `function_failed`; the errors of the embedder, and the signal's reason
 */
export async function embedTexts(
  store: FactStore,
  embedder: Embedder,
  space: string,
  signal: AbortSignal,
): Promise<number> {
  for (let count = 0; ; ) {
    signal.throwIfAborted();
    const texts = await store.textsToEmbed(embedder.id, space, EMBEDDED_AT_ONCE);
    if (texts.length === 0) return count;
    const vectors = await embedded(
      embedder,
      texts.map(({ text }) => text),
      signal,
    );
    await store.putVectors(
      embedder.id,
      texts.map(({ id }, at) => ({ id, vector: vectors[at]! })),
    );
    count += texts.length;
  }
}

/** @throws MemoryError `bad_argument` */
export function requireEmbedder(embedder: Embedder | undefined): Embedder {
  if (embedder !== undefined) return embedder;
  throw new MemoryError(
    'bad_argument',
    'The runtime has no embedder. Open it with `memory.embedder`, or recall by text alone.',
  );
}

/** @throws MemoryError `function_failed` */
async function embedded(
  embedder: Embedder,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<readonly Float32Array[]> {
  const { id, dimensions } = embedder;
  // An embedder may know nothing of signals, or not look at its own.
  const vectors: unknown = await withSignal(signal, () =>
    embedder.embed(Object.freeze([...texts]), signal),
  );
  const isRight = (vector: unknown): boolean =>
    vector instanceof Float32Array &&
    vector.length === dimensions &&
    vector.every(Number.isFinite) &&
    vector.some((number) => number !== 0);
  // `Array.from` includes the holes of the list: `every` alone skips them.
  const isWhole =
    Array.isArray(vectors) && vectors.length === texts.length && Array.from(vectors).every(isRight);
  if (isWhole) return vectors;
  throw new MemoryError(
    'function_failed',
    `The embedder ${id} returned vectors that are not valid; none was stored. Return a Float32Array of ${dimensions} finite numbers, not all zero, for each text.`,
    { evidence: { embedder: id, texts: texts.length } },
  );
}

function keyOf({ subject, predicate, fact_id, system_time_start }: FactVersion): string {
  return JSON.stringify([system_time_start, fact_id, subject, predicate]);
}
