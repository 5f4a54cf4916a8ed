import { form, type Json, requireForm } from '#base';
import { type Instant, isInstant, maxInstant } from '#canon';
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
  MemoryError,
  type Period,
  type Point,
  readWitness,
  selectByRelation,
  type Witness,
  wordsOf,
} from '#memory';
import type { WriterContext } from '../../writer/ports.ts';
import type { Beliefs } from '../plan/plan-beliefs.ts';
import { requireBeliefs, rowOf } from '../plan/plan-beliefs.ts';
import { INSTANT_MADE } from '../plan/validate.ts';
import { seenFacts } from '../visible/facts.ts';
import { atOneMoment } from '../visible/snapshot-read.ts';
import { type Line, SHARED } from '../visible/visibility.ts';
import { embedTexts, type RankedBy, ranked, requireEmbedder, type Score } from './search.ts';

/** Which facts are recalled. What is left out restricts nothing, but for `valid`, `system` and `kind`. */
export interface RecallQuery {
  readonly subject?: string;
  readonly predicate?: string;
  /** When it is so. Default: now; `any`: whenever. */
  readonly valid?: Instant | 'any';
  /** When it was believed. Default: now; `any`: whenever. */
  readonly system?: Instant | 'any';
  /** Default `current`: what is or was believed; `audit`: what lost a contradiction, as it was recorded. */
  readonly kind?: FactQuery['kind'];
  /** Those whose valid time stands in one of these relations to the period; `valid` is then `any` by default. */
  readonly relation?: { readonly to: Period; readonly is: readonly AllenRelation[] };
  /** Those that answer this text, best first. What is asked for besides restricts first, and the rest is ranked. At most 10,000 characters. */
  readonly text?: string;
  /**
   * How the text is looked for. `text` (default): by its words, ranked by BM25; `embedding`: by what it means, ranked by cosine, for which
   * the runtime needs an embedder; `hybrid`: by both, of which the best 100, or as many as are asked for, are fused by reciprocal rank.
   */
  readonly by?: RankedBy;
  /** Ends the calls of the embedder, and the recall with them where it goes on all the same. */
  readonly signal?: AbortSignal;
  /** At most so many, from 1 to 10,000. Default 1,000, and 10 where there is a text. */
  readonly limit?: number;
}

/** What was recalled, and how a proposal that uses it says so. */
export interface Recalled {
  readonly facts: readonly FactRow[];
  /** How well each of the facts answers, in their order; only where a text was asked for. */
  readonly scores?: readonly Score[];
  /** There are more than were asked for. */
  readonly isCut: boolean;
  /** To be an observation of the proposal that uses it: what was asked, and which versions of facts came back. */
  readonly observation: { readonly name: 'recall'; readonly value: Json; readonly sensitive: true };
}

/** How it came to a version of a fact. */
export interface Explained {
  readonly fact: FactRow;
  /** All versions of its claim, oldest first. */
  readonly versions: readonly FactRow[];
  /** Contradictions that the claim took part in, oldest first: what lost, and why. */
  readonly contradictions: readonly Contradiction[];
  /** The commits that it rests on, by its versions, its provenance and what people have decided, oldest first. */
  readonly entries: readonly ExplainingEntry[];
}

export interface Contradiction {
  readonly fact: FactRow;
  readonly witness: Witness | 'erased';
  /** Who chose, where a person did (`await`): the last of those who approved it, as which kind of counselor, and the commit that says so. */
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
const TEXT_MAX = 10_000;

type Pages = (query: FactQuery, most?: number) => AsyncGenerator<FactRow[]>;

/** What a memory needs of a runtime. */
export type MemoryContext = Pick<WriterContext, 'clock' | 'store'> & {
  readonly beliefs: Beliefs | undefined;
  readonly embedder: Embedder | undefined;
};

/** What is and was believed in one space, for reading: what is shared, or what a trajectory sees. */
export class MemoryView {
  readonly space: string;
  readonly #trajectoryId: string | undefined;
  readonly #context: MemoryContext;

  /** `trajectoryId`: whose memory it is, where that may be a branch. */
  constructor(space: string, context: MemoryContext, trajectoryId?: string) {
    requireForm(NAME, space, 'space');
    requireForm(form.optional(form.text), trajectoryId, 'trajectoryId');
    this.#trajectoryId = trajectoryId;
    this.space = space;
    this.#context = context;
  }

  /**
   * What is believed, and what was: of one instant of both times, or of all. In order of subject, predicate and time; those that answer a
   * text best first, and those that are equally good in that order. By text it sees all that is committed. By embedding it first has
   * vectors made of texts that have none, and keeps them. As of an instant it waits for what this runtime has said by then, so that the same
   * is recalled later, unless another process says something of then. A member that there is not, or that is undefined, is refused: without a subject all
   * are recalled.
   *
   * @throws MemoryError `no_instant`, `unknown_row_kind`, `unknown_relation`, `empty_period`, `reversed_period`, `bad_limit`, `bad_recall`,
   * `empty_text`, `long_text`, `no_embedder`, `bad_vector`; StoreError `store_invalid_input` where the embedder had other dimensions;
   * what the embedder throws; ArgumentError `bad_argument`
   */
  async recall(query: RecallQuery = {}): Promise<Recalled> {
    requireForm(QUERY_MEMBERS, query, 'query');
    requireForm(QUERY, query, 'query');
    const { subject, predicate, kind = 'current', relation, text, by, signal } = query;
    const { limit = text === undefined ? RECALL_DEFAULT : RANKED_DEFAULT } = query;
    const { valid = relation === undefined ? this.#context.clock.now() : 'any', system = 'now' } = query;
    if (limit < 1 || limit > RECALL_MAX) throw badLimit(limit);
    // Of nothing, because what is asked for may have no row that would be compared.
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
    if (text !== undefined) return this.#ranked(asked, { ...query, text, limit });
    if (by !== undefined || signal !== undefined) throw badRecall('by and signal go with a text');
    // With a relation nobody knows of how many these are.
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
    return { facts, isCut: found.length > limit, observation };
  }

  /**
   * Has vectors made of all texts of the space that have none, as a recall by embedding does; how many.
   *
   * @throws MemoryError `no_embedder`, `bad_vector`; what the embedder throws; ArgumentError `bad_argument`
   */
  async embed(options: { readonly signal?: AbortSignal } = {}): Promise<number> {
    requireForm(EMBED_OPTIONS, options, 'options');
    const { beliefs, embedder } = this.#context;
    const { signal = new AbortController().signal } = options;
    return embedTexts(requireBeliefs(beliefs).store, requireEmbedder(embedder), this.space, signal);
  }

  /** All versions there ever were, in order of subject, predicate and time; with a `limit`, the first of them. @throws as `recall` */
  async history(
    query: Pick<RecallQuery, 'subject' | 'predicate' | 'kind' | 'limit'> = {},
  ): Promise<readonly FactRow[]> {
    requireForm(HISTORY_MEMBERS, query, 'query');
    requireForm(QUERY, query, 'query');
    if (query.limit !== undefined) return (await this.recall({ ...query, valid: 'any', system: 'any' })).facts;
    return this.#all({ ...query, space: this.space, kind: requireKind(query.kind ?? 'current') });
  }

  /**
   * What is believed at the second point and was not at the first, what is not any more, and what has another version.
   *
   * @throws as `recall`
   */
  async diff(from: Point, to: Point, of: Pick<RecallQuery, 'subject' | 'predicate'> = {}): Promise<Difference> {
    requireForm(POINT_MEMBERS, from, 'from');
    requireForm(POINT_MEMBERS, to, 'to');
    requireForm(OF_MEMBERS, of, 'of');
    requireForm(form.members(OF), of, 'of');
    const queries = [from, to].map(({ valid, system }) => ({
      ...of,
      space: this.space,
      valid: requireInstant(valid, 'valid', ''),
      system: requireInstant(system, 'system', ''),
    }));
    await this.#arrived({ ...of, space: this.space }, maxInstant(from.system, to.system));
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
   * How it came to a fact: its versions, the contradictions of its claim, and the entries of the ledger that it rests on.
   *
   * @throws MemoryError `unknown_fact`; ArgumentError `bad_argument`
   */
  async explain(fact: Pick<FactRow, 'subject' | 'predicate' | 'fact_id' | 'system_time_start'>): Promise<Explained> {
    requireForm(FACT, fact, 'fact');
    const { subject, predicate, fact_id, system_time_start } = fact;
    const all = await this.#all({ space: this.space, subject, predicate, kind: 'all' });
    const found = all.find((row) => row.fact_id === fact_id && row.system_time_start === system_time_start);
    if (found === undefined)
      throw new MemoryError(
        'unknown_fact',
        'There is no such version of a fact here; recall it, and explain what came back.',
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
    return { fact: found, versions, contradictions, entries: await this.#entries(ids) };
  }

  async #ranked(
    asked: FactQuery,
    query: RecallQuery & { readonly text: string; readonly limit: number },
  ): Promise<Recalled> {
    const { text, by = 'text', relation, limit, signal = new AbortController().signal } = query;
    if (!RANKED_BY.includes(by)) throw badRecall(`by is ${RANKED_BY.join(', ')}`);
    requireAskable(text, by);
    const { beliefs, embedder } = this.#context;
    const line = await this.#line();
    const [{ branch }] = line;
    const isWanted =
      relation === undefined ? undefined : (fact: FactVersion) => isInRelation(fact, relation.is, relation.to);
    const asking = { line, filter: asked, isWanted, text, by, signal, limit: limit + 1 };
    const hits = await ranked(requireBeliefs(beliefs).store, embedder, asking);
    const found = hits.slice(0, limit);
    const facts = found.map(({ fact }) => rowOf(fact));
    const observation = observed(
      {
        ...asked,
        ...(branch !== undefined && { branch }),
        text,
        by,
        ...(by !== 'text' && { embedder: embedder!.id }),
        ...(relation && { relation }),
      },
      facts,
    );
    return { facts, scores: found.map(({ score }) => score), isCut: hits.length > limit, observation };
  }

  /** The commit that has written who lost is the approval by which a person chose. */
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

  /** What was said here by then is in the store: an instant of the past is read the same when it is read again. */
  async #arrived(asked: Pick<FactQuery, 'space' | 'subject' | 'predicate'>, system: Instant): Promise<void> {
    const underWay = requireBeliefs(this.#context.beliefs).arrived(asked, system);
    if (underWay !== undefined) await underWay;
  }

  async #all(query: FactQuery): Promise<FactRow[]> {
    return this.#read(async (pages) => {
      const rows: FactRow[] = [];
      for await (const page of pages(query)) rows.push(...page);
      return rows;
    });
  }

  /** All that is read sees one moment, where the store can do that. `most`: as in `seenFacts`, of all that is read. */
  async #read<T>(read: (pages: Pages) => Promise<T>, most?: number): Promise<T> {
    const store: FactStore = requireBeliefs(this.#context.beliefs).store;
    const line = await this.#line();
    const by = (facts: FactReads): Promise<T> =>
      read(async function* (query, most) {
        for await (const page of seenFacts(facts, line, query, most)) yield page.map(rowOf);
      });
    // One question sees one moment.
    return most !== undefined && line.length === 1 ? by(store) : atOneMoment(store, by);
  }

  async #line(): Promise<Line> {
    const { lines } = requireBeliefs(this.#context.beliefs);
    return this.#trajectoryId === undefined ? SHARED : lines.of(this.#trajectoryId);
  }
}

const RANKED_BY: readonly RankedBy[] = ['text', 'embedding', 'hybrid'];

const SIGNAL = form.optional(form.of('an AbortSignal', (value) => value instanceof AbortSignal));

const EMBED_OPTIONS = form.options<{ readonly signal?: AbortSignal }>({ signal: SIGNAL });
/** No name is longer: nothing is found by one, and to compose it may take for ever. */
const NAME_MAX = 512;
/** As what is asserted is named: nothing is found by a name that nothing can have. */
const NAME = form.of(
  "a text in Unicode's composed form (NFC)",
  (value) => typeof value === 'string' && (value.length > NAME_MAX || value === value.normalize('NFC')),
);
const OF = { subject: form.optional(NAME), predicate: form.optional(NAME) };
const OF_MEMBERS = form.only(['subject', 'predicate']);
const POINT_MEMBERS = form.only(['valid', 'system']);
const HISTORY_MEMBERS = form.only(['subject', 'predicate', 'kind', 'limit']);
const QUERY_MEMBERS = form.only([
  ...['subject', 'predicate', 'valid', 'system', 'kind', 'relation'],
  ...['text', 'by', 'signal', 'limit'],
]);
const QUERY = form.members({
  ...OF,
  valid: form.optional(form.text),
  system: form.optional(form.text),
  kind: form.optional(form.text),
  relation: form.optional(form.members({ to: form.object, is: form.list(form.text) })),
  text: form.optional(form.text),
  by: form.optional(form.text),
  signal: SIGNAL,
  limit: form.optional(form.whole),
});

const FACT = form.members({
  subject: NAME,
  predicate: NAME,
  fact_id: form.text,
  system_time_start: form.text,
});

function requireKind(kind: string): 'current' | 'audit' | 'all' {
  if (kind === 'current' || kind === 'audit' || kind === 'all') return kind;
  throw new MemoryError('unknown_row_kind', 'Rows are looked for among current, audit or all.');
}

/** `orElse`: what else may stand there. */
function requireInstant(instant: string, member: string, orElse = ', or any'): Instant {
  if (isInstant(instant)) return instant;
  throw new MemoryError(
    'no_instant',
    `The ${member} time must be an instant such as 2026-03-23T09:00:00.000000Z${orElse}. ${INSTANT_MADE}`,
    { evidence: { member } },
  );
}

/** @throws MemoryError `empty_text`, `long_text`, `bad_text` */
function requireAskable(text: string, by: RankedBy): void {
  if (text.length > TEXT_MAX)
    throw new MemoryError('long_text', `A text that is looked for has at most ${TEXT_MAX} characters.`, {
      evidence: { length: text.length },
    });
  if (!text.isWellFormed() || text.includes('\0'))
    throw new MemoryError('bad_text', 'A text that is looked for has neither U+0000 nor half a surrogate pair.');
  // An embedder may know what a sign means that is no word.
  const isEmpty = by === 'text' ? wordsOf(text).length === 0 : text.trim() === '';
  if (isEmpty)
    throw new MemoryError(
      'empty_text',
      'Nothing is looked for: the text has no words, which are of letters or digits.',
    );
}

function isInRelation(
  { valid_from: from, valid_to: to }: FactVersion,
  is: readonly AllenRelation[],
  of: Period,
): boolean {
  return is.includes(allenRelation({ from, to }, of));
}

function badRecall(why: string): MemoryError {
  return new MemoryError('bad_recall', `Nothing was recalled: ${why}.`);
}

/** What a proposal says of what it has recalled. */
function observed(query: object, facts: readonly FactRow[]): Recalled['observation'] {
  const rows = facts.map(({ fact_id, system_time_start }) => [fact_id, system_time_start]);
  return { name: 'recall', value: { query, rows } as unknown as Json, sensitive: true };
}

function badLimit(limit: number): MemoryError {
  return new MemoryError('bad_limit', `A recall gives 1 to ${RECALL_MAX} facts.`, { evidence: { limit } });
}

/** No witness begins so. */
function witnessOf(row: FactRow): Witness | 'erased' {
  return row.object.startsWith('{"$erased":') ? 'erased' : readWitness(row);
}

function isClaim(claim: string) {
  return (member: { readonly claim: string; readonly rows: readonly FactRow[] }): boolean =>
    member.claim === claim || member.rows.some(({ lineage }) => lineage === claim);
}

/** Entries whose writes a provenance names. */
function writesIn(provenance: string): Hash[] {
  return [...provenance.matchAll(/w:([0-9a-f]{64})#/g)].map(([, id]) => id as Hash).filter(isHash);
}
