import type { CommitResult, EntryRow, ErasedRow, Hash } from '#ledger';
import type { OracleRow } from '#oracle';
import { StoreError } from '../../errors.ts';
import { type FactChange, REPEATS_ERASED } from '../../facts.ts';
import { COMMITTED } from '../../native-port.ts';
import { bytea } from '../connection/row.ts';
import type { Session, Statement } from '../connection/session.ts';
import { type EffectNews, EffectPlan, KnownEffects } from '../effects/effect-plan.ts';
import { FactPlan, partitionsOf, prepareFactStates } from '../facts/fact-plan.ts';
import type { KnownFacts } from '../facts/partition-cache.ts';
import { BatchJob, OracleJob, type RowsJob } from './job.ts';

/** Where the next entry of a trajectory goes: after seq -1 where there is none. */
interface Head {
  readonly seq: number;
  readonly id: Hash | null;
}

/** What the server said why it wrote nothing: of effects, or else of entries. */
type Refusal = { readonly effects: EffectNews } | HeadNews;

interface HeadNews {
  readonly effects?: undefined;
  /** Of the trajectories that were named, in their order. */
  readonly heads: readonly (readonly [seq: number, id: Hash | null])[];
  /** Ids of the group that are in the store. */
  readonly taken: readonly Hash[] | null;
}

/** Null for each answer that was not there before. */
type Kept = readonly (readonly [answer: string, at: string] | null)[];

/**
 * Jobs that are written together, with one call of `append`, or with a few where other writers were faster.
 *
 * The batches are judged here, in order, each trajectory's head being what the first batch on it says; the server writes
 * them if the heads are so, and otherwise says what they are. Judged anew by that, a batch that does not fit is a conflict
 * for good, because entries are never taken away. A call is refused again only where another writer has moved a head under
 * a batch that fitted, which then fits no more: so the calls come to an end. Effects are judged in the same way
 * (`effect-plan.ts`). What facts are judged by is remembered (`known-facts.ts`), or asked before in a call of its own (`fact-plan.ts`); nothing is
 * refused by what is only remembered.
 */
export class Group {
  readonly #heads = new Map<string, Head>();
  readonly #taken = new Set<Hash>();
  readonly #effects = new KnownEffects();
  #batches: readonly BatchJob[];
  #puts: readonly OracleJob[];
  #sent: readonly RowsJob[] = [];
  /** The server has refused what was taken to be so. */
  #hasFailed = false;
  readonly #knownFacts: KnownFacts;
  #calls = 0;
  #lastMs = 0;

  constructor(jobs: readonly RowsJob[], knownFacts: KnownFacts) {
    this.#knownFacts = knownFacts;
    this.#batches = jobs.filter((job) => job instanceof BatchJob);
    this.#puts = jobs.filter((job) => job instanceof OracleJob);
  }

  /** Those without an answer. */
  get open(): readonly RowsJob[] {
    return [...this.#batches, ...this.#puts];
  }

  /** What a call that failed may have written all the same. */
  get sent(): readonly RowsJob[] {
    return this.#sent;
  }

  /** How often the server was asked to write it. */
  get calls(): number {
    return this.#calls;
  }

  /** Milliseconds that the last of these calls took. */
  get lastMs(): number {
    return this.#lastMs;
  }

  /** One call, or two where facts change of which nothing is remembered; true when all have their answers. @throws what `session.run` throws */
  async write(session: Session, appends: Appends, tell: boolean): Promise<boolean> {
    const names = this.#batches.flatMap(({ batch }) => (batch.facts ?? []).flatMap(partitionsOf));
    try {
      return await this.#write(session, appends, tell);
    } catch (error) {
      // What is remembered may be why, and what is there may be another by now.
      this.#knownFacts.forget(names);
      this.#hasFailed = true;
      throw error;
    }
  }

  async #write(session: Session, appends: Appends, tell: boolean): Promise<boolean> {
    this.#sent = [];
    const { append, erasing, acting, believing, believingMore, withBesides } = appends;
    const plan = await this.#plan(session, appends);
    const { facts } = plan;
    for (const [job, row] of plan.conflicts) job.answer(conflictAt(row));
    this.#batches = plan.open;
    if (this.open.length === 0) return true;
    if (plan.asksNothing && this.#puts.length === 0) {
      plan.answer();
      this.#batches = [];
      return true;
    }
    const answers = firstAnswers(this.#puts);
    this.#sent = [...plan.accepted, ...this.#puts];
    const values = [...entryValues(plan), ...answerValues(answers), tell];
    const erased = plan.accepted.flatMap(({ batch }) => batch.erased ?? []);
    const acts = !plan.effects.isEmpty;
    const doesMore = acts || erased.length > 0;
    const [statement, parameters]: [Statement, unknown[]] = !facts.isEmpty
      ? doesMore
        ? [believingMore, [...values, ...erasedValues(erased), ...plan.effects.values(), acts, ...facts.values()]]
        : [believing, [...values, ...facts.values()]]
      : acts
        ? [acting, [...values, ...erasedValues(erased), ...plan.effects.values()]]
        : doesMore
          ? [erasing, [...values, ...erasedValues(erased)]]
          : [append, values];
    const beside = besides(plan, this.#puts);
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
    const [refused, kept] = reply!.map((text) => JSON.parse(text ?? 'null')) as [Refusal | null, Kept | null];
    if (refused !== null) {
      this.#learn(plan, refused);
      return false;
    }
    facts.tell(this.#knownFacts);
    plan.answer();
    const stored = new Map(answers.map((row, index) => [row.key, storedAnswer(row, kept?.[index])]));
    for (const row of stored.values())
      if (row.answer === '') stored.set(row.key, await this.#erased(session, appends, row));
    for (const job of this.#puts) job.answer(stored.get(job.row.key)!);
    this.#batches = [];
    this.#puts = [];
    return true;
  }

  /** With the entry that erased it: a text that is none is most often one that was. */
  async #erased(session: Session, { eraserOf }: Appends, row: OracleRow): Promise<OracleRow> {
    const [[eraser] = []] = await session.run(eraserOf, [bytea(row.key)]);
    return eraser == null ? row : { ...row, erased_by: eraser };
  }

  async #plan(session: Session, { factStates, path }: Appends): Promise<Plan> {
    const planned = (facts: FactPlan): Plan => new Plan(this.#batches, this.#heads, this.#taken, this.#effects, facts);
    const writes = this.#batches.flatMap(({ batch }) => batch.facts ?? []);
    const repeats = this.#batches.flatMap(({ batch }) => batch.repeats ?? []);
    // That no text that is repeated was erased is assumed once.
    const isToBeAsked = this.#hasFailed && repeats.length > 0;
    const remembered = isToBeAsked ? undefined : FactPlan.assumed(writes, this.#knownFacts, path);
    const plan = remembered && planned(remembered);
    if (plan !== undefined && !(plan.refusesFacts && plan.facts.isAssumed)) return plan;
    return planned(await FactPlan.asked({ writes, repeats }, session, factStates, path));
  }

  #learn({ assumed, effects }: Plan, refusal: Refusal): void {
    if (refusal.effects !== undefined) {
      this.#effects.learn(refusal.effects, effects.namedKeys);
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

/** What of the batches will be written, if the heads are what they are taken for. */
class Plan {
  readonly accepted: BatchJob[] = [];
  /** Batches that fit nowhere, with the row that shows it. */
  readonly conflicts: [BatchJob, EntryRow][] = [];
  /** Heads that accepted batches build on, and those whose facts can't be written, by trajectory. */
  readonly assumed = new Map<string, Head>();
  /** All but the conflicts, in order. */
  readonly open: BatchJob[] = [];
  /** Effects of the accepted ones, and what has to be asked of them. */
  readonly effects: EffectPlan;
  readonly facts: FactPlan;
  #refusesFacts = false;
  /** Batches that do not fit once the accepted ones are written, with what they are answered then. */
  readonly #doubtful: [BatchJob, CommitResult | StoreError][] = [];
  /** Where the accepted ones lead. */
  readonly #moved = new Map<string, Head>();
  readonly #ids = new Set<Hash>();

  constructor(
    jobs: readonly BatchJob[],
    heads: ReadonlyMap<string, Head>,
    taken: ReadonlySet<Hash>,
    effects: KnownEffects,
    facts: FactPlan,
  ) {
    this.effects = new EffectPlan(effects);
    this.facts = facts;
    for (const job of jobs) this.#judge(job, heads, taken);
  }

  /** The facts of some batch are refused. */
  get refusesFacts(): boolean {
    return this.#refusesFacts;
  }

  /** Nothing is to be written or asked: all that is left is refused by what the server has said. */
  get asksNothing(): boolean {
    return this.accepted.length === 0 && this.assumed.size === 0 && !this.effects.asks;
  }

  /** To be called when it is written. */
  answer(): void {
    for (const job of this.accepted) job.answer(COMMITTED);
    for (const [job, answer] of this.#doubtful) {
      if (answer instanceof StoreError) job.fail(answer);
      else job.answer(answer);
    }
  }

  #judge(job: BatchJob, heads: ReadonlyMap<string, Head>, taken: ReadonlySet<Hash>): void {
    // What comes after a question may build on what is asked about; all of it is judged by the answer.
    if (this.effects.asks) {
      this.open.push(job);
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
    for (const [name, head] of first) if (!this.#moved.has(name)) this.assumed.set(name, head);
    for (const [name, head] of moved) this.#moved.set(name, head);
    for (const id of ids) this.#ids.add(id);
  }

  /** Undefined where they are refused. `unknown`: heads that nobody has told yet. */
  #judgeFacts(job: BatchJob, unknown: ReadonlyMap<string, Head>): readonly FactChange[] | undefined {
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
      // What was planned on a batch that never was written does not fit either: it is a conflict, and no misuse.
      for (const [name, head] of unknown) this.assumed.set(name, head);
    }
    this.#refusesFacts = true;
    return undefined;
  }

  /** False where they are refused, or have to be asked about. */
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
    // After a batch that is doubtful, it may fit all the same.
    if (this.#doubtful.length === 0 && !this.#moved.has(row.trajectory_id) && !this.#ids.has(row.id)) {
      this.conflicts.push([job, row]);
      return;
    }
    this.#doubtful.push([job, conflictAt(row)]);
    this.open.push(job);
  }
}

/** The call, with parameters as `entryValues` and `answerValues` give them, and whether followers are told. */
export function prepareAppend(schema: string, path: string): Appends {
  const call = (name: string, count: number): string => {
    const parameters = Array.from({ length: count }, (_, index) => `$${index + 1}`);
    return `SELECT * FROM "${schema}".${name}(${parameters.join(', ')})`;
  };
  return {
    append: { name: 'assize append', text: call('append', 15) },
    erasing: { text: call('append_erasing', 17) },
    acting: { name: 'assize append effects', text: call('append_effects', 32) },
    believing: { name: 'assize append facts', text: call('append_facts', 21) },
    believingMore: { name: 'assize append facts and more', text: call('append_facts_and_more', 39) },
    withBesides: ({ name, text }, count, beside) => {
      const calls = beside.map(([call], index) => {
        const [one, other] = [count + 2 * index + 1, count + 2 * index + 2];
        return `CASE WHEN a.refused IS NULL THEN "${schema}".${call}($${one}, $${other}) END`;
      });
      const isOften = name !== undefined && beside.every(([call]) => call === 'list_answers');
      const named = isOften ? { name: `${name} answers` } : {};
      return { ...named, text: `SELECT a.*, ${calls.join(', ')} FROM (${text}) AS a` };
    },
    eraserOf: { text: `SELECT encode(erased_by, 'hex') FROM "${schema}".oracle WHERE key = $1::bytea` },
    factStates: prepareFactStates(schema),
    path,
  };
}

/** A function of the store, and what it is called with. */
type Beside = readonly [
  call: 'list_answers' | 'erase_answers' | 'hold_texts' | 'await_facts',
  values: readonly [unknown[], unknown[]],
];

/** What of the oracle log is written with a group, the texts that it repeats, which it may erase itself after that, and that facts are awaited. */
function besides({ accepted }: Plan, puts: readonly OracleJob[]): Beside[] {
  const beside: Beside[] = [];
  const listed = puts.flatMap(({ row: { key }, within }) => (within === undefined ? [] : [{ key, within }]));
  if (listed.length > 0)
    beside.push(['list_answers', [listed.map(({ within }) => bytea(within)), listed.map(({ key }) => bytea(key))]]);
  const gone = accepted.flatMap(({ batch }) => batch.erasedAnswers ?? []);
  if (gone.length > 0)
    beside.push(['erase_answers', [gone.map(({ key }) => bytea(key)), gone.map(({ by }) => bytea(by))]]);
  const erased = new Set(accepted.flatMap(({ batch }) => (batch.erased ?? []).map(({ hash }) => hash)));
  const held = accepted.flatMap(({ batch }) => batch.repeats ?? []).filter((hash) => !erased.has(hash));
  if (held.length > 0) beside.push(['hold_texts', [held.map(bytea), []]]);
  if (accepted.some(({ batch }) => batch.awaitsFacts === true)) beside.push(['await_facts', [[], []]]);
  return beside;
}

/** For a group, for one that also erases blobs, for one that also writes effects, for one that changes facts, and for one that does more than that. */
export interface Appends {
  readonly append: Statement;
  readonly erasing: Statement;
  readonly acting: Statement;
  readonly believing: Statement;
  readonly believingMore: Statement;
  /** Each of them, of so many parameters, with functions of two that are called with it once it is not refused. */
  readonly withBesides: (statement: Statement, count: number, beside: readonly Beside[]) => Statement;
  readonly eraserOf: Statement;
  readonly factStates: Statement;
  /** Names the store in errors. */
  readonly path: string;
}

function entryValues({ assumed, accepted }: Plan): unknown[] {
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
    entries.map(({ id }) => bytea(id)),
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
  return [answers.map(({ key }) => bytea(key)), answers.map(({ answer }) => answer), answers.map(({ at }) => at)];
}

/** One for each question, whoever asked first. */
function firstAnswers(puts: readonly OracleJob[]): OracleRow[] {
  const first = new Map<string, OracleRow>();
  for (const { row } of puts) if (!first.has(row.key)) first.set(row.key, row);
  return [...first.values()];
}

function storedAnswer({ key, answer, at }: OracleRow, kept: Kept[number] | undefined): OracleRow {
  return kept ? { key, answer: kept[0], at: kept[1] } : { key, answer, at };
}

function conflictAt({ trajectory_id, seq }: EntryRow): CommitResult {
  return { status: 'conflict', trajectory_id, seq };
}
