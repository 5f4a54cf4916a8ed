import { arg, checkArgument, type Json } from '#base';
import { type Instant, maxInstant } from '#canon';
import type { FactQuery, FactReads, FactStore, FactVersion } from '#ledger';
import {
  type Difference,
  diff,
  type Embedder,
  type FactRow,
  type GivenPoint,
  lostIn,
  readPeriod,
  selectByRelation,
  withdrawnBefore,
} from '#memory';
import { type DependentEntry, dependentsOfVersions } from '../../lineage/dependents.ts';
import type { WriterContext } from '../../writer/ports.ts';
import { type BeliefPlanner, requireFactStore } from '../plan/plan-beliefs.ts';
import { notedStatements, tokensOf } from '../plan/stated-writes.ts';
import {
  rowOf,
  type VisibleFactsOptions,
  visibleFacts,
  withReadSnapshot,
} from '../visible/facts.ts';
import { SHARED, type VisibilityChain } from '../visible/visibility.ts';
import {
  type Explained,
  type FactSource,
  originOf,
  RECALLED_FACT,
  type RecalledFact,
  sourcesOf,
} from './explain.ts';
import { type KeysQuery, keysIn, type MemoryKeys, NAME, readKeysQuery } from './keys.ts';
import {
  badLimit,
  badRecall,
  EMBED_OPTIONS,
  HISTORY_MEMBERS,
  isInRelation,
  nearbyOf,
  OF,
  OF_MEMBERS,
  POINT_MEMBERS,
  QUERY,
  QUERY_MEMBERS,
  RANKED_BY,
  RANKED_DEFAULT,
  type RankedQuery,
  RECALL_DEFAULT,
  RECALL_MAX,
  type RecallQuery,
  requireAskable,
  requireInstant,
  requireKind,
  requireWeights,
} from './recall-query.ts';
import { checkSupport, type Support, type SupportedFact, supportedBy } from './resting-on.ts';
import {
  embedTexts,
  rankFacts,
  requireEmbedder,
  type Score,
  type SearchFallback,
} from './search.ts';

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
   * @throws MemoryError `no_instant`, `bad_argument`, `empty_period`, `reversed_period`,
   * `function_failed`; StoreError `store_invalid_input` if the embedder had other dimensions; the
   * errors of the embedder; ArgumentError `bad_argument`
   */
  async recall(query: RecallQuery = {}): Promise<Recalled> {
    checkArgument(QUERY_MEMBERS, query, 'query');
    checkArgument(QUERY, query, 'query');
    const {
      subject,
      predicate,
      kind = 'current',
      text,
      by,
      weights,
      nearby,
      signal,
      after,
    } = query;
    const relation = query.relation && { ...query.relation, to: readPeriod(query.relation.to) };
    const { limit = text === undefined ? RECALL_DEFAULT : RANKED_DEFAULT } = query;
    const { valid = relation === undefined ? this.#context.clock.now() : 'any', system = 'now' } =
      query;
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
      ...(system !== 'any' && {
        system: system === 'now' ? system : requireInstant(system, 'system'),
      }),
    };
    if (asked.system !== undefined && asked.system !== 'now')
      await this.#arrived(asked, asked.system);
    if (text !== undefined && after !== undefined)
      throw badRecall('`after` needs a recall without a text');
    if (text !== undefined) return this.#ranked(asked, { ...query, relation, text, limit });
    if ([by, weights, nearby, signal].some((each) => each !== undefined))
      throw badRecall('`by`, `weights`, `nearby` and `signal` need a search text');
    // With a relation, the number of matching rows is unknown before they are read.
    const most = relation === undefined ? limit + 1 : undefined;
    const found = await this.#read(
      async (pages) => {
        const found: FactRow[] = [];
        for await (const page of pages(asked, most)) {
          found.push(
            ...(relation === undefined ? page : selectByRelation(page, relation.is, relation.to)),
          );
          if (found.length > limit) break;
        }
        return found;
      },
      { most, after },
    );
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
   * @throws MemoryError `bad_argument`, `function_failed`; the errors of the embedder;
   * ArgumentError `bad_argument`
   */
  async embed(options: { readonly signal?: AbortSignal } = {}): Promise<number> {
    checkArgument(EMBED_OPTIONS, options, 'options');
    const { beliefs, embedder } = this.#context;
    const { signal = new AbortController().signal } = options;
    return embedTexts(
      requireFactStore(beliefs).store,
      requireEmbedder(embedder),
      this.space,
      signal,
    );
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
    if (query.limit !== undefined)
      return (await this.recall({ ...query, valid: 'any', system: 'any' })).facts;
    return this.#all({ ...query, space: this.space, kind: requireKind(query.kind ?? 'current') });
  }

  /**
   * The subjects and predicates of all facts, current and past, by pages: with a text, those that
   * have it in their subject or predicate. Each key has the numbers of its versions and of its lost
   * assertions, as `history` with `kind: 'all'` has them.
   *
   * @throws MemoryError `bad_argument`; ArgumentError `bad_argument`
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
   * @throws MemoryError `not_found`; ArgumentError `bad_argument`
   */
  async explain(fact: RecalledFact): Promise<Explained> {
    checkArgument(RECALLED_FACT, fact, 'fact');
    const { subject, predicate } = fact;
    const all = await this.#all({ space: this.space, subject, predicate, kind: 'all' });
    return originOf(fact, all, this.#context.store);
  }

  /**
   * The statements that facts of this space rest on, with their sources and metadata: one list for
   * each fact, in their order. Reads the entries of the statements.
   *
   * @throws LedgerFault; ArgumentError `bad_argument`
   */
  async sources(
    facts: readonly Pick<FactRow, 'provenance_id'>[],
  ): Promise<readonly (readonly FactSource[])[]> {
    checkArgument(arg.list(arg.members({ provenance_id: arg.text })), facts, 'facts');
    const stated = await notedStatements(this.#context.store, facts);
    return facts.map((fact) => sourcesOf(fact, stated));
  }

  /**
   * The commits that used a fact, or one of several, in any of its versions, and those that used
   * what these concluded, over any number of steps: by the recalls that their proposals observed.
   * Reads the whole store once.
   *
   * @throws MemoryError `not_found`; LedgerFault; ArgumentError `bad_argument`
   */
  async dependents(
    facts: RecalledFact | readonly RecalledFact[],
  ): Promise<readonly DependentEntry[]> {
    const explained = await Promise.all([facts].flat().map((fact) => this.explain(fact)));
    return dependentsOfVersions(
      this.#context.store,
      explained.flatMap(({ versions }) => versions),
    );
  }

  /**
   * The current facts that rest on a source, a policy version, an approver or a judge's vote, by
   * their provenance. Reads all current facts of the space, or of the subject or predicate.
   *
   * @throws MemoryError `bad_argument`; LedgerFault; ArgumentError `bad_argument`
   */
  async restingOn(
    support: Support,
    of: Pick<RecallQuery, 'subject' | 'predicate'> = {},
  ): Promise<readonly SupportedFact[]> {
    checkSupport(support);
    checkArgument(OF_MEMBERS, of, 'of');
    checkArgument(arg.members(OF), of, 'of');
    const facts = await this.#all({ ...of, space: this.space, kind: 'current', system: 'now' });
    const stated =
      'source' in support ? await requireFactStore(this.#context.beliefs).stated(facts) : new Map();
    return supportedBy(facts, support, stated);
  }

  /** The subjects and predicates in which statements of a source lost, and were not withdrawn. */
  protected async lostOf(
    source: string,
    of: Pick<RecallQuery, 'subject' | 'predicate'>,
  ): Promise<readonly Pick<FactRow, 'subject' | 'predicate'>[]> {
    const audits = await this.#all({ ...of, space: this.space, kind: 'audit' });
    const stated = await requireFactStore(this.#context.beliefs).stated(audits);
    const withdrawn = new Set(withdrawnBefore(audits));
    const isOfSource = (token: string): boolean =>
      stated.get(token)?.source === source && !withdrawn.has(token);
    return audits.filter(
      (audit) =>
        tokensOf(audit.provenance_id).some(isOfSource) &&
        lostIn(audit).some((row) => tokensOf(row.provenance_id).some(isOfSource)),
    );
  }

  async #ranked(asked: FactQuery, query: RankedQuery): Promise<Recalled> {
    const {
      text,
      by = 'text',
      weights,
      relation,
      limit,
      signal = new AbortController().signal,
    } = query;
    if (!RANKED_BY.includes(by)) throw badRecall(`by is ${RANKED_BY.join(', ')}`);
    requireWeights(weights, by);
    const nearby = nearbyOf(query.nearby, by);
    requireAskable(text, by);
    const { beliefs, embedder } = this.#context;
    const line = await this.#line();
    const [{ branch }] = line;
    const isWanted =
      relation === undefined
        ? undefined
        : (fact: FactVersion) => isInRelation(fact, relation.is, relation.to);
    const asking = {
      line,
      filter: asked,
      isWanted,
      text,
      by,
      weights,
      nearby,
      signal,
      limit: limit + 1,
    };
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

  /**
   * Waits until statements made here by then are in the store, so a past instant reads the same
   * again.
   */
  async #arrived(
    asked: Pick<FactQuery, 'space' | 'subject' | 'predicate'>,
    system: Instant,
  ): Promise<void> {
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
  async #read<T>(
    read: (pages: Pages) => Promise<T>,
    { most, after }: Pick<VisibleFactsOptions, 'most' | 'after'> = {},
  ): Promise<T> {
    const store: FactStore = requireFactStore(this.#context.beliefs).store;
    const line = await this.#line();
    const by = (facts: FactReads): Promise<T> =>
      read(async function* (query, most) {
        for await (const page of visibleFacts(facts, line, query, { most, after }))
          yield page.map(rowOf);
      });
    // One query is one snapshot.
    return most !== undefined && line.length === 1 ? by(store) : withReadSnapshot(store, by);
  }

  async #line(): Promise<VisibilityChain> {
    const { visibility } = requireFactStore(this.#context.beliefs);
    return this.#trajectoryId === undefined ? SHARED : visibility.of(this.#trajectoryId);
  }
}

/** The observation of a recall in a proposal. */
function observed(query: object, facts: readonly FactRow[]): Recalled['observation'] {
  const rows = facts.map(({ fact_id, system_time_start }) => [fact_id, system_time_start]);
  return { name: 'recall', value: { query, rows } as unknown as Json, sensitive: true };
}
