import type { CommitResult, EntryRow, ErasedRow, Hash, Instant } from 'assize/internal/ledger';
import type { OracleRow } from 'assize/internal/oracle';
import { earliestTime } from 'assize/internal/stores/clock-ahead.ts';
import type { EntrySeals } from 'assize/internal/stores/entry-seals.ts';
import { StoreError } from 'assize/internal/stores/errors.ts';
import { type FactChange, REPEATS_ERASED } from 'assize/internal/stores/facts.ts';
import { COMMITTED } from 'assize/internal/stores/native-port.ts';
import { bytea } from '../connection/row.ts';
import type { Session, Statement } from '../connection/session.ts';
import { EffectPlan, type EffectReport, KnownEffects } from '../effects/effect-plan.ts';
import { isUniqueViolation } from '../errors.ts';
import { FactPlan, partitionsOf, prepareFactStates } from '../facts/fact-plan.ts';
import type { PartitionCache } from '../facts/partition-cache.ts';
import { BatchJob, OracleJob, type RowsJob } from './job.ts';

/**
 * The entry after which the next entry of a trajectory is appended; seq -1 if the trajectory has no
 * entry.
 */
interface Head {
  readonly seq: number;
  readonly id: Hash | null;
}

/** The server's reason for writing nothing: its clock, the effects, or otherwise the entries. */
type Refusal =
  | { readonly now: Instant }
  | { readonly now?: undefined; readonly effects: EffectReport }
  | HeadNews;

interface HeadNews {
  readonly now?: undefined;
  readonly effects?: undefined;
  /** The heads of the named trajectories, in their order. */
  readonly heads: readonly (readonly [seq: number, id: Hash | null])[];
  /** Ids of the group that the store already has. */
  readonly taken: readonly Hash[] | null;
}

/** Null for each answer that was not stored before. */
type RecordedAnswers = readonly (readonly [answer: string, at: string] | null)[];

/**
 * Jobs that are written together with one call of `append`, or with a few calls if other writers
 * commit first.
 *
 * The group checks the batches in order. It assumes the head of each trajectory from the first
 * batch on it. The server writes the batches if the assumed heads are right, and otherwise returns
 * the actual heads.
 *
 * After a check against the actual heads, a batch that does not fit is a final conflict, because
 * entries are never removed. A later call is refused only if another writer has moved a head under
 * a fitting batch. That batch then no longer fits, so the number of calls is finite.
 *
 * Effects are checked in the same way (`effect-plan.ts`). The state of facts comes from the cache
 * (`partition-cache.ts`) or from a separate call (`fact-plan.ts`). The cache alone never causes a
 * refusal.
 */
export class Group {
  readonly #heads = new Map<string, Head>();
  readonly #taken = new Set<Hash>();
  readonly #effects = new KnownEffects();
  /** The server's time at its last refusal. */
  #now: Instant | undefined;
  #batches: readonly BatchJob[];
  #puts: readonly OracleJob[];
  #sent: readonly RowsJob[] = [];
  /** Whether the server has refused an assumption. */
  #hasFailed = false;
  readonly #knownFacts: PartitionCache;
  #calls = 0;
  #lastMs = 0;

  constructor(jobs: readonly RowsJob[], knownFacts: PartitionCache) {
    this.#knownFacts = knownFacts;
    this.#batches = jobs.filter((job) => job instanceof BatchJob);
    this.#puts = jobs.filter((job) => job instanceof OracleJob);
  }

  /** The jobs without an answer. */
  get open(): readonly RowsJob[] {
    return [...this.#batches, ...this.#puts];
  }

  /** The jobs that a failed call may nevertheless have written. */
  get sent(): readonly RowsJob[] {
    return this.#sent;
  }

  get hasEntries(): boolean {
    return this.#batches.length > 0;
  }

  /** The number of calls to the server for this group. */
  get calls(): number {
    return this.#calls;
  }

  /** The duration of the last call in milliseconds. */
  get lastMs(): number {
    return this.#lastMs;
  }

  /**
   * Makes one call, or two if facts change that are not cached. Resolves to true when all jobs are
   * answered.
   * @throws the errors of `session.run`
   */
  async write(session: Session, appends: Appends, tell: boolean): Promise<boolean> {
    const names = this.#batches.flatMap(({ batch }) => (batch.facts ?? []).flatMap(partitionsOf));
    try {
      return await this.#write(session, appends, tell);
    } catch (error) {
      // The cached state may be the cause, and the stored state may have changed.
      this.#knownFacts.evict(names);
      this.#hasFailed = true;
      throw error;
    }
  }

  async #write(session: Session, appends: Appends, tell: boolean): Promise<boolean> {
    this.#sent = [];
    const { append, erasing, acting, believing, believingMore, withBesides } = appends;
    const plan = await this.#plan(session, appends);
    const { facts } = plan;
    for (const [job, answer] of plan.refused) job.answer(answer);
    this.#batches = plan.open;
    if (this.open.length === 0) return true;
    if (plan.asksNothing && this.#puts.length === 0) {
      plan.answer();
      this.#batches = [];
      return true;
    }
    const answers = firstAnswers(this.#puts);
    this.#sent = [...plan.accepted, ...this.#puts];
    const values = [...entryValues(plan, appends), ...answerValues(answers), tell, plan.notBefore];
    const erased = plan.accepted.flatMap(({ batch }) => batch.erased ?? []);
    const acts = !plan.effects.isEmpty;
    const doesMore = acts || erased.length > 0;
    const [statement, parameters]: [Statement, unknown[]] = !facts.isEmpty
      ? doesMore
        ? [
            believingMore,
            [...values, ...erasedValues(erased), ...plan.effects.values(), acts, ...facts.values()],
          ]
        : [believing, [...values, ...facts.values()]]
      : acts
        ? [acting, [...values, ...erasedValues(erased), ...plan.effects.values()]]
        : doesMore
          ? [erasing, [...values, ...erasedValues(erased)]]
          : [append, values];
    const beside = extraStatements(plan, this.#puts);
    if (
      statement === append &&
      beside.length === 0 &&
      (await this.#appendLone(session, appends, plan, tell))
    ) {
      this.#sent = [];
      plan.answer();
      this.#batches = [];
      return true;
    }
    this.#calls += 1;
    const began = performance.now();
    const [reply] =
      beside.length === 0
        ? await session.run(statement, parameters)
        : await session.run(withBesides(statement, parameters.length, beside), [
            ...parameters,
            ...beside.flatMap(([, values]) => values),
          ]);
    this.#lastMs = performance.now() - began;
    this.#sent = [];
    const [refused, kept] = reply!.map((text) => JSON.parse(text ?? 'null')) as [
      Refusal | null,
      RecordedAnswers | null,
    ];
    if (refused !== null) {
      this.#learn(plan, refused);
      return false;
    }
    facts.committed(this.#knownFacts);
    plan.answer();
    const stored = new Map(
      answers.map((row, index) => [row.key, storedAnswer(row, kept?.[index])]),
    );
    for (const row of stored.values())
      if (row.answer === '') stored.set(row.key, await this.#erased(session, appends, row));
    for (const job of this.#puts) job.answer(stored.get(job.row.key)!);
    this.#batches = [];
    this.#puts = [];
    return true;
  }

  /** Whether the plan has one entry alone, and the server has written it. */
  async #appendLone(
    session: Session,
    { lone, sealed }: Appends,
    plan: Plan,
    tell: boolean,
  ): Promise<boolean> {
    const entry = this.#hasFailed || this.#puts.length > 0 ? undefined : plan.loneEntry;
    if (entry === undefined) return false;
    const { trajectory_id, seq, parent, kind, payload } = entry;
    this.#calls += 1;
    const began = performance.now();
    try {
      const values = [
        trajectory_id,
        seq,
        sealed(entry),
        parent && bytea(parent),
        kind,
        payload,
        tell,
        plan.notBefore,
      ];
      const [row] = await session.run(lone, values);
      return row?.[0] === 't';
    } catch (error) {
      if (isUniqueViolation(error)) return false;
      throw error;
    } finally {
      this.#lastMs = performance.now() - began;
    }
  }

  /** Adds the entry that erased an answer: an empty answer was usually erased. */
  async #erased(session: Session, { eraserOf }: Appends, row: OracleRow): Promise<OracleRow> {
    const [[eraser] = []] = await session.run(eraserOf, [bytea(row.key)]);
    return eraser == null ? row : { ...row, erased_by: eraser };
  }

  async #plan(session: Session, { factStates, path }: Appends): Promise<Plan> {
    const planned = (facts: FactPlan): Plan =>
      new Plan(this.#batches, this.#heads, this.#taken, this.#effects, facts, this.#now);
    const writes = this.#batches.flatMap(({ batch }) => batch.facts ?? []);
    const repeats = this.#batches.flatMap(({ batch }) => batch.repeats ?? []);
    // The first call assumes that no repeated text was erased.
    const isToBeAsked = this.#hasFailed && repeats.length > 0;
    const remembered = isToBeAsked ? undefined : FactPlan.assumed(writes, this.#knownFacts, path);
    const plan = remembered && planned(remembered);
    if (plan !== undefined && !(plan.refusesFacts && plan.facts.isAssumed)) return plan;
    return planned(await FactPlan.asked({ writes, repeats }, session, factStates, path));
  }

  #learn({ assumed, effects }: Plan, refusal: Refusal): void {
    if (refusal.now !== undefined) {
      this.#now = refusal.now;
      return;
    }
    if (refusal.effects !== undefined) {
      this.#effects.set(refusal.effects, effects.namedKeys);
      return;
    }
    const { heads, taken } = refusal;
    [...assumed.keys()].forEach((name, index) => {
      const [seq, id] = heads[index]!;
      this.#heads.set(name, { seq, id });
    });
    for (const id of taken ?? []) this.#taken.add(id);
  }
}

/** The batches that the server will write, if the assumed heads are right. */
class Plan {
  readonly accepted: BatchJob[] = [];
  /** Batches that no later call can write, each with its answer. */
  readonly refused: [BatchJob, CommitResult][] = [];
  /** The earliest time at which the server may write the accepted batches; null: any time. */
  notBefore: Instant | null = null;
  /** The assumed heads by trajectory, of accepted batches and of batches with invalid facts. */
  readonly assumed = new Map<string, Head>();
  /** All batches except the refused ones, in order. */
  readonly open: BatchJob[] = [];
  /** The effects of the accepted batches, and the questions about them. */
  readonly effects: EffectPlan;
  readonly facts: FactPlan;
  readonly #now: Instant | undefined;
  #refusesFacts = false;
  /** Batches that do not fit after the accepted ones, with their answers once those are written. */
  readonly #doubtful: [BatchJob, CommitResult | StoreError][] = [];
  /** The heads after the accepted batches. */
  readonly #moved = new Map<string, Head>();
  readonly #ids = new Set<Hash>();

  constructor(
    jobs: readonly BatchJob[],
    heads: ReadonlyMap<string, Head>,
    taken: ReadonlySet<Hash>,
    effects: KnownEffects,
    facts: FactPlan,
    now: Instant | undefined,
  ) {
    this.effects = new EffectPlan(effects);
    this.facts = facts;
    this.#now = now;
    for (const job of jobs) this.#judge(job, heads, taken);
  }

  /** Whether the facts of some batch are refused. */
  get refusesFacts(): boolean {
    return this.#refusesFacts;
  }

  /** Whether the plan needs no call: the server's reports already refuse all remaining batches. */
  get asksNothing(): boolean {
    return this.accepted.length === 0 && this.assumed.size === 0 && !this.effects.asks;
  }

  /** The entry of a plan that writes one entry after another one, and nothing else. */
  get loneEntry(): EntryRow | undefined {
    const [job, ...others] = this.accepted;
    if (job === undefined || others.length > 0 || this.assumed.size !== 1) return undefined;
    const { entries, blobs } = job.batch;
    return entries.length === 1 && blobs.length === 0 && entries[0]!.seq > 0
      ? entries[0]
      : undefined;
  }

  /** Answers the jobs. Call this after the write. */
  answer(): void {
    for (const job of this.accepted) job.answer(COMMITTED);
    for (const [job, answer] of this.#doubtful) {
      if (answer instanceof StoreError) job.fail(answer);
      else job.answer(answer);
    }
  }

  #judge(job: BatchJob, heads: ReadonlyMap<string, Head>, taken: ReadonlySet<Hash>): void {
    // A batch after a question may build on the subject of the question. The answer decides on all
    // of these batches.
    if (this.effects.asks) {
      this.open.push(job);
      return;
    }
    const notBefore = job.batch.clock && earliestTime(job.batch.clock);
    if (notBefore !== undefined && this.#now !== undefined && notBefore > this.#now) {
      this.refused.push([job, { status: 'ahead', now: this.#now }]);
      return;
    }
    const first = new Map<string, Head>();
    const unknown = new Map<string, Head>();
    const moved = new Map<string, Head>();
    const ids = new Set<Hash>();
    for (const row of job.batch.entries) {
      const name = row.trajectory_id;
      let head = moved.get(name);
      if (head === undefined) {
        const built = this.#moved.get(name) ?? heads.get(name) ?? this.assumed.get(name);
        head = built ?? { seq: row.seq - 1, id: row.parent };
        if (built === undefined) unknown.set(name, head);
        first.set(name, head);
      }
      const isFree = !taken.has(row.id) && !ids.has(row.id) && !this.#ids.has(row.id);
      if (row.seq !== head.seq + 1 || row.parent !== head.id || !isFree) {
        this.#refuse(job, row);
        return;
      }
      moved.set(name, row);
      ids.add(row.id);
    }
    this.open.push(job);
    const changes = this.#judgeFacts(job, unknown);
    if (changes === undefined || !this.#takeEffects(job)) return;
    this.facts.accept(changes);
    this.facts.erase(job.batch.erased ?? []);
    this.accepted.push(job);
    if (notBefore !== undefined && notBefore > (this.notBefore ?? '')) this.notBefore = notBefore;
    for (const [name, head] of first) if (!this.#moved.has(name)) this.assumed.set(name, head);
    for (const [name, head] of moved) this.#moved.set(name, head);
    for (const id of ids) this.#ids.add(id);
  }

  /** Undefined if the facts are refused. `unknown`: heads that the server has not reported yet. */
  #judgeFacts(
    job: BatchJob,
    unknown: ReadonlyMap<string, Head>,
  ): readonly FactChange[] | undefined {
    const { facts = [], repeats = [] } = job.batch;
    if (repeats.some((hash) => this.facts.isErased(hash))) {
      this.#doubtful.push([job, REPEATS_ERASED]);
      return undefined;
    }
    if (facts.length === 0) return [];
    try {
      const verdict = this.facts.judge(facts);
      if ('changes' in verdict) return verdict.changes;
      this.#doubtful.push([job, verdict.refusal]);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      this.#doubtful.push([job, error]);
      // A plan on a batch that was never written does not fit either. The result is a conflict, not
      // misuse.
      for (const [name, head] of unknown) this.assumed.set(name, head);
    }
    this.#refusesFacts = true;
    return undefined;
  }

  /** False if the effects are refused, or if the server must be asked about them. */
  #takeEffects(job: BatchJob): boolean {
    const { effects } = job.batch;
    if (effects === undefined) return true;
    try {
      const verdict = this.effects.judge(effects);
      if (verdict === undefined) return false;
      if ('change' in verdict) {
        this.effects.accept(effects, verdict.change);
        return true;
      }
      this.#doubtful.push([job, verdict.refusal]);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      this.#doubtful.push([job, error]);
    }
    return false;
  }

  #refuse(job: BatchJob, row: EntryRow): void {
    // After a doubtful batch, this batch may still fit.
    if (
      this.#doubtful.length === 0 &&
      !this.#moved.has(row.trajectory_id) &&
      !this.#ids.has(row.id)
    ) {
      this.refused.push([job, conflictAt(row)]);
      return;
    }
    this.#doubtful.push([job, conflictAt(row)]);
    this.open.push(job);
  }
}

/**
 * The call, with parameters from `entryValues` and `answerValues`, and whether followers are
 * notified.
 */
export function prepareAppend({ schema, path, seals }: AppendOptions): Appends {
  const call = (name: string, count: number): string => {
    const parameters = Array.from({ length: count }, (_, index) => `$${index + 1}`);
    return `SELECT * FROM "${schema}".${name}(${parameters.join(', ')})`;
  };
  return {
    append: { name: 'assize append', text: call('append', 16) },
    lone: {
      name: 'assize append one',
      text: `SELECT "${schema}".append_one($1, $2, $3, $4, $5, $6, $7, $8)`,
    },
    erasing: { text: call('append_erasing', 18) },
    acting: { name: 'assize append effects', text: call('append_effects', 33) },
    believing: { name: 'assize append facts', text: call('append_facts', 22) },
    believingMore: {
      name: 'assize append facts and more',
      text: call('append_facts_and_more', 40),
    },
    withBesides: ({ name, text }, count, beside) => {
      const calls = beside.map(([call], index) => {
        const [one, other] = [count + 2 * index + 1, count + 2 * index + 2];
        return `CASE WHEN a.refused IS NULL THEN "${schema}".${call}($${one}, $${other}) END`;
      });
      const isOften = name !== undefined && beside.every(([call]) => call === 'list_answers');
      const named = isOften ? { name: `${name} answers` } : {};
      return { ...named, text: `SELECT a.*, ${calls.join(', ')} FROM (${text}) AS a` };
    },
    eraserOf: {
      text: `SELECT encode(erased_by, 'hex') FROM "${schema}".oracle WHERE key = $1::bytea`,
    },
    factStates: prepareFactStates(schema),
    sealed: (row) => bytea(seals === undefined ? row.id : row.id + seals.of(row)),
    path,
  };
}

/** Undefined `seals`: the process has no root key. */
export interface AppendOptions {
  readonly schema: string;
  readonly path: string;
  readonly seals: EntrySeals | undefined;
}

/** A function of the store with its arguments. */
type ExtraStatement = readonly [
  call: 'list_answers' | 'erase_answers' | 'hold_texts' | 'await_facts',
  values: readonly [unknown[], unknown[]],
];

/**
 * The extra calls of a group: listed oracle answers, erased answers, repeated texts, and missing
 * facts. The group may erase a repeated text itself after that.
 */
function extraStatements({ accepted }: Plan, puts: readonly OracleJob[]): ExtraStatement[] {
  const beside: ExtraStatement[] = [];
  const listed = puts.flatMap(({ row: { key }, within }) =>
    within === undefined ? [] : [{ key, within }],
  );
  if (listed.length > 0)
    beside.push([
      'list_answers',
      [listed.map(({ within }) => bytea(within)), listed.map(({ key }) => bytea(key))],
    ]);
  const gone = accepted.flatMap(({ batch }) => batch.erasedAnswers ?? []);
  if (gone.length > 0)
    beside.push([
      'erase_answers',
      [gone.map(({ key }) => bytea(key)), gone.map(({ by }) => bytea(by))],
    ]);
  const erased = new Set(
    accepted.flatMap(({ batch }) => (batch.erased ?? []).map(({ hash }) => hash)),
  );
  const held = accepted
    .flatMap(({ batch }) => batch.repeats ?? [])
    .filter((hash) => !erased.has(hash));
  if (held.length > 0) beside.push(['hold_texts', [held.map(bytea), []]]);
  if (accepted.some(({ batch }) => batch.awaitsFacts === true))
    beside.push(['await_facts', [[], []]]);
  return beside;
}

/**
 * The statements for groups: entries only, with erased blobs, with effects, with facts, and with
 * facts together with any of the others.
 */
export interface Appends {
  readonly append: Statement;
  /** Of one entry after another one, with nothing else. */
  readonly lone: Statement;
  readonly erasing: Statement;
  readonly acting: Statement;
  readonly believing: Statement;
  readonly believingMore: Statement;
  /**
   * A statement with the given number of parameters, extended by functions with two parameters
   * each. The server calls these functions if it does not refuse the statement.
   */
  readonly withBesides: (
    statement: Statement,
    count: number,
    beside: readonly ExtraStatement[],
  ) => Statement;
  readonly eraserOf: Statement;
  readonly factStates: Statement;
  /** The id of an entry, with its seal if this process has a root key. */
  readonly sealed: (row: EntryRow) => string;
  /** Names the store in errors. */
  readonly path: string;
}

function entryValues({ assumed, accepted }: Plan, { sealed }: Appends): unknown[] {
  const places = new Map([...assumed.keys()].map((name, index) => [name, index + 1]));
  const heads = [...assumed.values()];
  const entries = accepted.flatMap(({ batch }) => batch.entries);
  const blobs = new Map<Hash, string>();
  for (const { batch } of accepted) {
    for (const { hash, text } of batch.blobs) if (!blobs.has(hash)) blobs.set(hash, text);
  }
  return [
    [...assumed.keys()],
    heads.map(({ seq }) => seq),
    heads.map(({ id }) => id && bytea(id)),
    entries.map(({ trajectory_id }) => places.get(trajectory_id)),
    entries.map(({ seq }) => seq),
    entries.map(sealed),
    entries.map(({ parent }) => parent && bytea(parent)),
    entries.map(({ kind }) => kind),
    entries.map(({ payload }) => payload),
    [...blobs.keys()].map(bytea),
    [...blobs.values()],
  ];
}

function erasedValues(erased: readonly ErasedRow[]): unknown[] {
  return [erased.map(({ hash }) => bytea(hash)), erased.map(({ by }) => bytea(by))];
}

function answerValues(answers: readonly OracleRow[]): unknown[] {
  return [
    answers.map(({ key }) => bytea(key)),
    answers.map(({ answer }) => answer),
    answers.map(({ at }) => at),
  ];
}

/** One answer for each question, from the first request. */
function firstAnswers(puts: readonly OracleJob[]): OracleRow[] {
  const first = new Map<string, OracleRow>();
  for (const { row } of puts) if (!first.has(row.key)) first.set(row.key, row);
  return [...first.values()];
}

function storedAnswer(
  { key, answer, at }: OracleRow,
  kept: RecordedAnswers[number] | undefined,
): OracleRow {
  return kept ? { key, answer: kept[0], at: kept[1] } : { key, answer, at };
}

function conflictAt({ trajectory_id, seq }: EntryRow): CommitResult {
  return { status: 'conflict', trajectory_id, seq };
}
