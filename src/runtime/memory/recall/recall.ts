import { arg, checkArgument, type Json } from '#base';
import { type Instant, maxInstant, readInstant, type Time } from '#canon';
import {
  type CommitPayload,
  type EntryRow,
  type FactQuery,
  type FactReads,
  type FactStore,
  type FactVersion,
  type Hash,
  isHash,
  readRow,
} from '#ledger';
import type { Embedder } from '#memory';
import {
  type AllenRelation,
  allenRelation,
  type Difference,
  diff,
  type FactRow,
  type GivenPeriod,
  type GivenPoint,
  MemoryError,
  NEARBY_WEIGHTS,
  type NearbyWeights,
  type Period,
  readPeriod,
  readTrust,
  readWitness,
  selectByRelation,
  type Trust,
  type Witness,
  wordsOf,
} from '#memory';
import type { WriterContext } from '../../writer/ports.ts';
import type { BeliefPlanner } from '../plan/plan-beliefs.ts';
import { requireFactStore, rowOf } from '../plan/plan-beliefs.ts';
import { type StatedWrites, tokensOf } from '../plan/stated-writes.ts';
import { INSTANT_MADE } from '../plan/validate.ts';
import { visibleFacts } from '../visible/facts.ts';
import { withReadSnapshot } from '../visible/snapshot-read.ts';
import { SHARED, type VisibilityChain } from '../visible/visibility.ts';
import { type KeysQuery, keysIn, type MemoryKeys, readKeysQuery, requireShortText } from './keys.ts';
import { NAME } from './name.ts';
import { checkSupport, type Support, type SupportedFact, supportedBy } from './resting-on.ts';
import {
  embedTexts,
  rankFacts,
  requireEmbedder,
  type Score,
  type SearchFallback,
  type SearchMode,
  type SearchWeights,
} from './search.ts';

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
  /** Maximum number of facts, from 1 to 10,000. Default 1,000, or 10 with a text. */
  readonly limit?: number;
}

/** The recalled facts, and the observation for a proposal that uses them. */
export interface Recalled {
  readonly facts: readonly FactRow[];
  /** The scores of the facts, in their order; only with a text. */
  readonly scores?: readonly Score[];
  /** Whether more facts match than `limit`. */
  readonly isTruncated: boolean;
  /** Set if the embedder failed, and the `hybrid` search ranked the facts by words alone. */
  readonly fallback?: SearchFallback;
  /**
   * An observation for the proposal that uses the facts: the query, and the versions of facts that
   * it returned.
   */
  readonly observation: { readonly name: 'recall'; readonly value: Json; readonly sensitive: true };
}

/** The origin of a version of a fact. */
export interface Explained {
  readonly fact: FactRow;
  /** All versions of its claim, oldest first. */
  readonly versions: readonly FactRow[];
  /** Contradictions of the claim, oldest first: the losing assertion and the reason. */
  readonly contradictions: readonly Contradiction[];
  /**
   * The commits that it derives from, by its versions, its provenance and human decisions, oldest
   * first.
   */
  readonly entries: readonly ExplainingEntry[];
  /** The statements that this version rests on, with their sources. */
  readonly sources: readonly FactSource[];
  /** The policies, judge votes and approvers that chose this version. */
  readonly trust: readonly Trust[];
}

/** A statement behind a fact. */
export interface FactSource {
  readonly entry: Hash;
  /** The number of the statement in its entry. */
  readonly n: number;
  /** Absent if the statement names none, was erased, or belongs to an action of the domain. */
  readonly source?: string;
}

export interface Contradiction {
  readonly fact: FactRow;
  readonly witness: Witness | 'erased';
  /**
   * For a human decision (`await`): the last approving counselor, the kind of counselor, and the
   * commit.
   */
  readonly decided?: { readonly entry: Hash; readonly principal: string; readonly as: string };
}

export interface ExplainingEntry {
  readonly id: Hash;
  readonly trajectoryId: string;
  readonly seq: number;
  readonly at: Instant;
  readonly action: string;
  readonly writ: Hash;
}

const RECALL_MAX = 10_000;
const RECALL_DEFAULT = 1_000;
const RANKED_DEFAULT = 10;

type Pages = (query: FactQuery, most?: number) => AsyncGenerator<FactRow[]>;

/** The parts of a runtime that a memory needs. */
export type MemoryContext = Pick<WriterContext, 'clock' | 'store'> & {
  readonly beliefs: BeliefPlanner | undefined;
  readonly embedder: Embedder | undefined;
};

/**
 * The facts of one space, current and past, for reading: the shared facts, or the facts visible to
 * a trajectory.
 */
export class MemoryView {
  readonly space: string;
  readonly #trajectoryId: string | undefined;
  readonly #context: MemoryContext;

  /** `trajectoryId`: the trajectory that reads, if it may be a branch. */
  constructor(space: string, context: MemoryContext, trajectoryId?: string) {
    checkArgument(NAME, space, 'space');
    checkArgument(arg.optional(arg.text), trajectoryId, 'trajectoryId');
    this.#trajectoryId = trajectoryId;
    this.space = space;
    this.#context = context;
    if (new.target === MemoryView) Object.freeze(this);
  }

  /**
   * The facts as of one instant of both times, or of all times. Sorted by subject, predicate and
   * time. With a text, facts are sorted by score, and facts of equal score in that order.
   *
   * Full-text search sees all commits. Vector search first computes and stores the missing vectors.
   * As of an instant, the recall waits for earlier statements of this runtime. A later recall then
   * returns the same facts, unless another process commits a statement of that time.
   *
   * Unknown members and undefined members are refused, because without a subject all facts match.
   *
   * @throws MemoryError `no_instant`, `unknown_row_kind`, `unknown_relation`, `empty_period`,
   * `reversed_period`, `bad_limit`, `bad_recall`, `empty_text`, `long_text`, `no_embedder`,
   * `bad_vector`; StoreError `store_invalid_input` if the embedder had other dimensions; the errors
   * of the embedder; ArgumentError `bad_argument`
   */
  async recall(query: RecallQuery = {}): Promise<Recalled> {
    checkArgument(QUERY_MEMBERS, query, 'query');
    checkArgument(QUERY, query, 'query');
    const { subject, predicate, kind = 'current', text, by, weights, nearby, signal } = query;
    const relation = query.relation && { ...query.relation, to: readPeriod(query.relation.to, 'query.relation.to') };
    const { limit = text === undefined ? RECALL_DEFAULT : RANKED_DEFAULT } = query;
    const { valid = relation === undefined ? this.#context.clock.now() : 'any', system = 'now' } = query;
    if (limit < 1 || limit > RECALL_MAX) throw badLimit(limit);
    // On an empty list, to check the relation even if no row is compared.
    if (relation !== undefined) selectByRelation([], relation.is, relation.to);
    const [{ branch }] = await this.#line();
    const asked: FactQuery = {
      space: this.space,
      ...(subject !== undefined && { subject }),
      ...(predicate !== undefined && { predicate }),
      kind: requireKind(kind),
      ...(valid !== 'any' && { valid: requireInstant(valid, 'valid') }),
      ...(system !== 'any' && { system: system === 'now' ? system : requireInstant(system, 'system') }),
    };
    if (asked.system !== undefined && asked.system !== 'now') await this.#arrived(asked, asked.system);
    if (text !== undefined) return this.#ranked(asked, { ...query, relation, text, limit });
    if ([by, weights, nearby, signal].some((each) => each !== undefined))
      throw badRecall('`by`, `weights`, `nearby` and `signal` need a search text');
    // With a relation, the number of matching rows is unknown before they are read.
    const most = relation === undefined ? limit + 1 : undefined;
    const found = await this.#read(async (pages) => {
      const found: FactRow[] = [];
      for await (const page of pages(asked, most)) {
        found.push(...(relation === undefined ? page : selectByRelation(page, relation.is, relation.to)));
        if (found.length > limit) break;
      }
      return found;
    }, most);
    const facts = found.slice(0, limit);
    const observation = observed(
      { ...asked, ...(branch !== undefined && { branch }), ...(relation && { relation }) },
      facts,
    );
    return { facts, isTruncated: found.length > limit, observation };
  }

  /**
   * Computes the missing vectors of all texts of the space, as a vector search does. Returns their
   * number.
   *
   * @throws MemoryError `no_embedder`, `bad_vector`; the errors of the embedder; ArgumentError
   * `bad_argument`
   */
  async embed(options: { readonly signal?: AbortSignal } = {}): Promise<number> {
    checkArgument(EMBED_OPTIONS, options, 'options');
    const { beliefs, embedder } = this.#context;
    const { signal = new AbortController().signal } = options;
    return embedTexts(requireFactStore(beliefs).store, requireEmbedder(embedder), this.space, signal);
  }

  /**
   * All versions ever recorded, sorted by subject, predicate and time; with a `limit`, the first of
   * them. @throws the errors of `recall`
   */
  async history(
    query: Pick<RecallQuery, 'subject' | 'predicate' | 'kind' | 'limit'> = {},
  ): Promise<readonly FactRow[]> {
    checkArgument(HISTORY_MEMBERS, query, 'query');
    checkArgument(QUERY, query, 'query');
    if (query.limit !== undefined) return (await this.recall({ ...query, valid: 'any', system: 'any' })).facts;
    return this.#all({ ...query, space: this.space, kind: requireKind(query.kind ?? 'current') });
  }

  /**
   * The subjects and predicates of all facts, current and past, by pages: with a text, those that
   * have it in their subject or predicate. Each key has the numbers of its versions and of its lost
   * assertions, as `history` with `kind: 'all'` has them.
   *
   * @throws MemoryError `bad_limit`, `long_text`; ArgumentError `bad_argument`
   */
  async keys(query: KeysQuery = {}): Promise<MemoryKeys> {
    const { after, ...asked } = readKeysQuery(query);
    const { store } = requireFactStore(this.#context.beliefs);
    const line = await this.#line();
    return withReadSnapshot(store, (facts) =>
      keysIn(visibleFacts(facts, line, { space: this.space, kind: 'all' }, { after }), asked),
    );
  }

  /**
   * The facts that were added, removed, or changed to another version between two points.
   *
   * @throws the errors of `recall`
   */
  async diff(
    from: GivenPoint,
    to: GivenPoint,
    of: Pick<RecallQuery, 'subject' | 'predicate'> = {},
  ): Promise<Difference> {
    checkArgument(POINT_MEMBERS, from, 'from');
    checkArgument(POINT_MEMBERS, to, 'to');
    checkArgument(OF_MEMBERS, of, 'of');
    checkArgument(arg.members(OF), of, 'of');
    const queries = [from, to].map(({ valid, system }) => ({
      ...of,
      space: this.space,
      valid: requireInstant(valid, 'valid', ''),
      system: requireInstant(system, 'system', ''),
    }));
    const latest = queries.map(({ system }) => system).reduce((a, b) => maxInstant(a, b));
    await this.#arrived({ ...of, space: this.space }, latest);
    const rows = await this.#read(async (pages) => {
      const rows = new Map<string, FactRow>();
      for (const query of queries)
        for await (const page of pages(query))
          for (const row of page) rows.set(`${row.system_time_start} ${row.fact_id}`, row);
      return rows;
    });
    return diff([...rows.values()], from, to);
  }

  /**
   * The origin of a fact: its versions, the contradictions of its claim, and the ledger entries
   * that it derives from.
   *
   * @throws MemoryError `unknown_fact`; ArgumentError `bad_argument`
   */
  async explain(fact: Pick<FactRow, 'subject' | 'predicate' | 'fact_id' | 'system_time_start'>): Promise<Explained> {
    checkArgument(FACT, fact, 'fact');
    const { subject, predicate, fact_id, system_time_start } = fact;
    const all = await this.#all({ space: this.space, subject, predicate, kind: 'all' });
    const found = all.find((row) => row.fact_id === fact_id && row.system_time_start === system_time_start);
    if (found === undefined)
      throw new MemoryError(
        'unknown_fact',
        'The memory has no such version of a fact. Pass a fact that a recall returned.',
        {
          evidence: { fact_id, system_time_start },
        },
      );
    const versions = all.filter((row) => row.row_kind === 'current' && row.lineage === found.lineage);
    const lost = all.flatMap((row) => {
      if (row.row_kind !== 'audit') return [];
      const witness = witnessOf(row);
      const isOfIt =
        witness === 'erased' ? row.lineage === found.lineage : witness.members.some(isClaim(found.lineage));
      return isOfIt ? [{ fact: row, witness }] : [];
    });
    const contradictions = await Promise.all(
      lost.map(async (each): Promise<Contradiction> => {
        const decided = await this.#decided(each.fact);
        return decided === undefined ? each : { ...each, decided };
      }),
    );
    const ids = new Set([
      ...[...versions, found].flatMap(({ entry_id, provenance_id }) => [entry_id, ...writesIn(provenance_id)]),
      ...contradictions.flatMap(({ decided }) => (decided === undefined ? [] : [decided.entry])),
    ]);
    const tokens = tokensOf(found.provenance_id);
    const stated = await requireFactStore(this.#context.beliefs).stated([found]);
    return {
      fact: found,
      versions,
      contradictions,
      entries: await this.#entries(ids),
      sources: tokens.flatMap((token) => sourceOf(token, stated) ?? []),
      trust: tokens.flatMap((token) => readTrust(token) ?? []),
    };
  }

  /**
   * The current facts that rest on a source, a policy version, an approver or a judge's vote, by
   * their provenance. Reads all current facts of the space, or of the subject or predicate.
   *
   * @throws MemoryError `bad_recall`; LedgerFault; ArgumentError `bad_argument`
   */
  async restingOn(
    support: Support,
    of: Pick<RecallQuery, 'subject' | 'predicate'> = {},
  ): Promise<readonly SupportedFact[]> {
    checkSupport(support);
    checkArgument(OF_MEMBERS, of, 'of');
    checkArgument(arg.members(OF), of, 'of');
    const facts = await this.#all({ ...of, space: this.space, kind: 'current', system: 'now' });
    const stated = 'source' in support ? await requireFactStore(this.#context.beliefs).stated(facts) : new Map();
    return supportedBy(facts, support, stated);
  }

  async #ranked(asked: FactQuery, query: RankedQuery): Promise<Recalled> {
    const { text, by = 'text', weights, relation, limit, signal = new AbortController().signal } = query;
    if (!RANKED_BY.includes(by)) throw badRecall(`by is ${RANKED_BY.join(', ')}`);
    requireWeights(weights, by);
    const nearby = nearbyOf(query.nearby, by);
    requireAskable(text, by);
    const { beliefs, embedder } = this.#context;
    const line = await this.#line();
    const [{ branch }] = line;
    const isWanted =
      relation === undefined ? undefined : (fact: FactVersion) => isInRelation(fact, relation.is, relation.to);
    const asking = { line, filter: asked, isWanted, text, by, weights, nearby, signal, limit: limit + 1 };
    const { hits, fallback } = await rankFacts(requireFactStore(beliefs).store, embedder, asking);
    const found = hits.slice(0, limit);
    const facts = found.map(({ fact }) => rowOf(fact));
    const observation = observed(
      {
        ...asked,
        ...(branch !== undefined && { branch }),
        text,
        by: fallback?.by ?? by,
        ...(by === 'hybrid' && fallback === undefined && weights && { weights }),
        ...(nearby && { nearby }),
        ...(by !== 'text' && fallback === undefined && { embedder: embedder!.id }),
        ...(relation && { relation }),
      },
      facts,
    );
    return {
      facts,
      scores: found.map(({ score }) => score),
      isTruncated: hits.length > limit,
      observation,
      ...(fallback && { fallback }),
    };
  }

  /** The commit that recorded the losing assertion is the approval of the deciding counselor. */
  async #decided({ entry_id, resolution_strategy_id }: FactRow): Promise<Contradiction['decided']> {
    if (resolution_strategy_id !== 'await') return undefined;
    const row = await this.#context.store.resolve(entry_id);
    if (row?.kind !== 'commit') return undefined;
    const { counselor } = readRow(row).payload as CommitPayload;
    return counselor && { entry: row.id, principal: counselor.principal, as: counselor.as };
  }

  async #entries(ids: Iterable<Hash>): Promise<ExplainingEntry[]> {
    const rows = await Promise.all([...ids].map((id) => this.#context.store.resolve(id)));
    const entries = rows
      .filter((row): row is EntryRow => row?.kind === 'commit')
      .map((row) => {
        const { at, action, writ_id: writ } = readRow(row).payload as CommitPayload;
        return { id: row.id, trajectoryId: row.trajectory_id, seq: row.seq, at, action: action.name, writ };
      });
    return entries.sort((a, b) => (a.at === b.at ? a.seq - b.seq : maxInstant(a.at, b.at) === a.at ? 1 : -1));
  }

  /**
   * Waits until statements made here by then are in the store, so a past instant reads the same
   * again.
   */
  async #arrived(asked: Pick<FactQuery, 'space' | 'subject' | 'predicate'>, system: Instant): Promise<void> {
    const underWay = requireFactStore(this.#context.beliefs).waitUntil(asked, system);
    if (underWay !== undefined) await underWay;
  }

  async #all(query: FactQuery): Promise<FactRow[]> {
    return this.#read(async (pages) => {
      const rows: FactRow[] = [];
      for await (const page of pages(query)) rows.push(...page);
      return rows;
    });
  }

  /**
   * Reads in one snapshot read, if the store supports it. `most`: as in `visibleFacts`, over all
   * reads.
   */
  async #read<T>(read: (pages: Pages) => Promise<T>, most?: number): Promise<T> {
    const store: FactStore = requireFactStore(this.#context.beliefs).store;
    const line = await this.#line();
    const by = (facts: FactReads): Promise<T> =>
      read(async function* (query, most) {
        for await (const page of visibleFacts(facts, line, query, { most })) yield page.map(rowOf);
      });
    // One query is one snapshot.
    return most !== undefined && line.length === 1 ? by(store) : withReadSnapshot(store, by);
  }

  async #line(): Promise<VisibilityChain> {
    const { visibility } = requireFactStore(this.#context.beliefs);
    return this.#trajectoryId === undefined ? SHARED : visibility.of(this.#trajectoryId);
  }
}

const RANKED_BY: readonly SearchMode[] = ['text', 'embedding', 'hybrid'];

const SIGNAL = arg.optional(arg.of('an AbortSignal', (value) => value instanceof AbortSignal));

const EMBED_OPTIONS = arg.options<{ readonly signal?: AbortSignal }>({ signal: SIGNAL });
const OF = { subject: arg.optional(NAME), predicate: arg.optional(NAME) };
const OF_MEMBERS = arg.only(['subject', 'predicate']);
const POINT_MEMBERS = arg.only(['valid', 'system']);
const HISTORY_MEMBERS = arg.only(['subject', 'predicate', 'kind', 'limit']);
const QUERY_MEMBERS = arg.only([
  ...['subject', 'predicate', 'valid', 'system', 'kind', 'relation'],
  ...['text', 'by', 'weights', 'nearby', 'signal', 'limit'],
]);
/** A text or a `Date`; `requireInstant` reads it. */
const TIME = arg.of('a time', (given) => typeof given === 'string' || typeof given === 'object');
const QUERY = arg.members({
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
});

const FACT = arg.members({
  subject: NAME,
  predicate: NAME,
  fact_id: arg.text,
  system_time_start: arg.text,
});

const WEIGHT_MAX = 1_000;

/** @throws MemoryError `bad_recall` */
function requireWeights(weights: SearchWeights | undefined, by: SearchMode): void {
  if (weights === undefined) return;
  if (by !== 'hybrid') throw badRecall('`weights` need `by: hybrid`');
  const { text = 1, embedding = 1, ...others } = weights;
  if (Object.keys(others).length > 0 || !isWeight(text) || !isWeight(embedding) || text + embedding === 0)
    throw badRecall(`\`weights\` are { text, embedding }, numbers from 0 to ${WEIGHT_MAX}, and not both 0`);
}

/**
 * The weights of facts nearby. Undefined without them.
 *
 * @throws MemoryError `bad_recall`
 */
function nearbyOf(given: RecallQuery['nearby'], by: SearchMode): Required<NearbyWeights> | undefined {
  if (given === undefined || given === false) return undefined;
  if (by === 'embedding') throw badRecall('`nearby` needs `by: text` or `by: hybrid`');
  const { neighbours, session, ...others } = weightsOf(given);
  if (Object.keys(others).length > 0 || !isWeight(neighbours) || !isWeight(session))
    throw badRecall(`\`nearby\` is true, or { neighbours, session } with numbers from 0 to ${WEIGHT_MAX}`);
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

function requireKind(kind: string): 'current' | 'audit' | 'all' {
  if (kind === 'current' || kind === 'audit' || kind === 'all') return kind;
  throw new MemoryError('unknown_row_kind', 'The row kind is not valid. Use current, audit or all.');
}

/** `orElse`: the other values allowed there. */
function requireInstant(instant: Time, member: string, orElse = ', or any'): Instant {
  const read = readInstant(instant);
  if (read !== undefined) return read;
  throw new MemoryError(
    'no_instant',
    `The ${member} time must be an instant such as 2026-03-23T09:00:00.000000Z${orElse}. ${INSTANT_MADE}`,
    { evidence: { member } },
  );
}

/** @throws MemoryError `empty_text`, `long_text`, `bad_text` */
function requireAskable(text: string, by: SearchMode): void {
  requireShortText(text);
  if (!text.isWellFormed() || text.includes('\0'))
    throw new MemoryError('bad_text', 'The search text has U+0000 or half a surrogate pair. Remove it.');
  // An embedder may know the meaning of signs that are not words.
  const isEmpty = by === 'text' ? wordsOf(text).length === 0 : text.trim() === '';
  if (isEmpty)
    throw new MemoryError('empty_text', 'The search text has no words. Give at least one word of letters or digits.');
}

/** A query with a text, and with its period in the form of the ledger. */
type RankedQuery = Omit<RecallQuery, 'relation'> & {
  readonly relation: { readonly to: Period; readonly is: readonly AllenRelation[] } | undefined;
  readonly text: string;
  readonly limit: number;
};

function isInRelation(
  { valid_from: from, valid_to: to }: FactVersion,
  is: readonly AllenRelation[],
  of: Period,
): boolean {
  return is.includes(allenRelation({ from, to }, of));
}

function badRecall(why: string): MemoryError {
  return new MemoryError('bad_recall', `The recall is not valid: ${why}.`);
}

/** The observation of a recall in a proposal. */
function observed(query: object, facts: readonly FactRow[]): Recalled['observation'] {
  const rows = facts.map(({ fact_id, system_time_start }) => [fact_id, system_time_start]);
  return { name: 'recall', value: { query, rows } as unknown as Json, sensitive: true };
}

function badLimit(limit: number): MemoryError {
  return new MemoryError('bad_limit', `The limit of a recall is not valid. Use 1 to ${RECALL_MAX}.`, {
    evidence: { limit },
  });
}

/** No witness starts so. */
function witnessOf(row: FactRow): Witness | 'erased' {
  return row.object.startsWith('{"$erased":') ? 'erased' : readWitness(row);
}

function isClaim(claim: string) {
  return (member: { readonly claim: string; readonly rows: readonly FactRow[] }): boolean =>
    member.claim === claim || member.rows.some(({ lineage }) => lineage === claim);
}

function sourceOf(token: string, stated: StatedWrites): FactSource | undefined {
  const [, entry, n] = /^w:([0-9a-f]{64})#([0-9]+)$/.exec(token) ?? [];
  if (!isHash(entry)) return undefined;
  const source = stated.get(token)?.source;
  return { entry, n: Number(n), ...(source !== undefined && { source }) };
}

/** Entries with writes that a provenance names. */
function writesIn(provenance: string): Hash[] {
  return [...provenance.matchAll(/w:([0-9a-f]{64})#/g)].map(([, id]) => id as Hash).filter(isHash);
}
