import { type AssizeError, isAssizeError, isInstance, TransientMap } from '#base';
import type { Instant } from '#canon';
import {
  type BeliefChange,
  type FactStore,
  type FactVersion,
  type FactWrite,
  type Hash,
  isFactStore,
  type LedgerStore,
  type PartitionName,
} from '#ledger';
import {
  type Answer,
  declarePredicate,
  MemoryError,
  mergeProvenance,
  type Plan,
  type PlanInput,
  type Question,
  type QuestionPlan,
  readWitness,
  trustProvenance,
} from '#memory';
import type { Random } from '#oracle';
import { RuntimeError } from '../../errors.ts';
import { type NeedsFacts, needs } from '../../records/needs.ts';
import type { OpenQuestions } from '../../records/questions.ts';
import { visibleFacts } from '../visible/facts.ts';
import { type VisibilityChain, VisibilityChains } from '../visible/visibility.ts';
import { type ErasedPartition, planErasedChanges } from './close-erased.ts';
import { isErasedRow } from './erased-row.ts';
import { factWrites, type PlanBase, type PlannedPartition, textsOf } from './fact-writes.ts';
import { orderedRow } from './open-rows.ts';
import { PartitionCache } from './partition-cache.ts';
import { inheritedSize, requireAnswerable } from './size-limits.ts';
import {
  grouped,
  type PartitionHistory,
  planOf,
  type StatedPartition,
  touchesOf,
  untimedIn,
} from './stated-partitions.ts';
import { nameKey, type StatedWrites, statedWrites, writeTokensOf } from './stated-writes.ts';
import {
  type ClaimStatement,
  idFrom,
  nameOf,
  namesIn,
  partitionsIn,
  type StatementContext,
  senderOf,
} from './statement-context.ts';
import { type Judge, Votes } from './votes.ts';

const KEY_BYTES = 32;

/** The planned fact changes of a proposal's statements, ready to be written. */
export interface PlannedBeliefs {
  /** As the commit has them. */
  readonly changes: readonly BeliefChange[];
  /**
   * As the store takes them, once the commit has its id. From then on they are the current facts
   * here.
   */
  accept(entryId: Hash): readonly FactWrite[];
}

/** The statements are refused, or a counselor must choose first. */
export type RefusedBeliefs = { readonly refusal: AssizeError } | OpenQuestions;

/** Plans the fact changes of statements, on the cached facts. One instance per runtime. */
export class BeliefPlanner {
  readonly #store: LedgerStore & FactStore;
  readonly #random: Random;
  readonly #partitions: PartitionCache;
  readonly #votes: Votes | undefined;
  readonly #underWay: InFlightWrites = new InFlightWrites();
  #key: Uint8Array | undefined;
  /** For judgements on a store that has no key yet. */
  #judgementKey: Uint8Array | undefined;
  /** Calls during which the cache was compared with the store, with the generation then. */
  readonly #compared: WeakMap<object, number> = new WeakMap();
  /** The history of each partition that a call withdraws a source from. */
  readonly #histories: WeakMap<object, Map<string, ReadHistory>> = new WeakMap();
  readonly visibility: VisibilityChains;

  constructor(store: LedgerStore & FactStore, random: Random, judge?: Judge) {
    this.#store = store;
    this.#random = random;
    this.visibility = new VisibilityChains(store);
    this.#partitions = new PartitionCache(store);
    this.#votes = judge === undefined ? undefined : new Votes(judge);
  }

  static forStore(store: LedgerStore, random: Random, judge?: Judge): BeliefPlanner | undefined {
    return isFactStore(store) ? new BeliefPlanner(store, random, judge) : undefined;
  }

  get store(): FactStore {
    return this.#store;
  }

  /**
   * Undefined without statements. Synchronous: if a read is needed first, the result names it.
   */
  plan(sayer: StatementContext): PlannedBeliefs | RefusedBeliefs | NeedsFacts | undefined {
    if (sayer.compiled.statements.length === 0) return undefined;
    const isJudgement = sayer.isJudgement === true;
    const key = this.#key ?? (isJudgement ? this.#judgementKey : undefined);
    if (key === undefined) return needs(() => (isJudgement ? this.#lookAtKey() : this.#readKey()));
    const line = this.visibility.known(sayer.trajectoryId);
    if (line === undefined)
      return needs(async () => void (await this.visibility.of(sayer.trajectoryId)));
    const outcome = this.#outcome(key, sayer, line);
    if ('needs' in outcome) return outcome;
    // A commit verifies only the partitions that it changes.
    const changed = 'changes' in outcome ? outcome.changes.length : 0;
    const comparison =
      changed < partitionsIn(sayer, line) ? this.#comparison(sayer, line) : undefined;
    return comparison ?? outcome;
  }

  #outcome(
    key: Uint8Array,
    sayer: StatementContext,
    line: VisibilityChain,
  ): PlannedBeliefs | RefusedBeliefs | NeedsFacts {
    try {
      const names = namesIn(sayer, line);
      const awaited = names.flatMap(
        (name) => this.#partitions.whenIdle(name, senderOf(sayer)) ?? [],
      );
      if (awaited.length > 0) return needs(async () => void (await Promise.all(awaited)));
      // Before claims get their ids: that is most of the work for many statements.
      const unknown = names.filter((name) => this.#partitions.get(name, []) === undefined);
      if (unknown.length > 0)
        return needs(() =>
          this.#read(
            line,
            unknown.map((name) => ({ name, sourced: [] })),
          ),
        );
      const groups = grouped(key, sayer, line);
      const unread = groups.filter(
        ({ name, sourced }) => this.#partitions.get(name, sourced) === undefined,
      );
      if (unread.length === 0) return this.#planned(groups, sayer, line);
      return needs(() => this.#read(line, unread));
    } catch (error) {
      // The statements are at fault, or do not fit the current facts.
      if (isInstance(error, MemoryError) || isAssizeError(error, 'bad_instant'))
        return { refusal: error };
      throw error;
    }
  }

  /** The comparison of the cache with the store. Undefined after it was made for this call. */
  #comparison(sayer: StatementContext, line: VisibilityChain): NeedsFacts | undefined {
    if (this.#compared.get(sayer.call) === sayer.generation) return undefined;
    return needs(async () => {
      for (const name of namesIn(sayer, line)) await this.#partitions.compare(name, line);
      this.#compared.set(sayer.call, sayer.generation);
    });
  }

  /** Whether the judge decides this question, instead of a human. */
  isJudged({ strategy }: Question): boolean {
    return this.#votes !== undefined && strategy === 'rule';
  }

  /**
   * Waits until no change is in flight to these partitions. From then on no other caller here plans
   * on them until they are released. Callers must release them.
   */
  lock(names: readonly PartitionName[]): Promise<() => void> {
    return this.#partitions.lock(names);
  }

  /**
   * Whether a claim is in the store and visible to this trajectory. Always false without a source,
   * because each such assertion is a new claim.
   */
  async has(claim: ClaimStatement, trajectoryId: string): Promise<boolean> {
    const key = this.#key ?? (await this.#store.claimKey());
    // Without a key the store has no statements yet.
    if (key === undefined || claim.source === undefined) return false;
    const line = await this.visibility.of(trajectoryId);
    return this.#partitions.has(idFrom(key, claim, claim.source), nameOf(claim, line[0]), line);
  }

  /**
   * The partition changes of an erasure. Once it is settled, nothing of the partitions stays
   * cached.
   */
  planErasure(
    losing: readonly ErasedPartition[],
    at: Instant,
    by: Pick<StatementContext, 'trajectoryId' | 'generation'>,
  ): PlannedBeliefs {
    const { changes, writes } = planErasedChanges(losing, at);
    return {
      changes,
      accept: () => {
        this.#partitions.accept(writes, senderOf(by));
        return writes;
      },
    };
  }

  /** The store has answered the accepted changes; `isWritten`: whether they were committed. */
  complete(writes: readonly FactWrite[], isWritten: boolean): void {
    if (!isWritten) this.#partitions.evict(writes);
    this.#partitions.complete(writes);
    this.#underWay.complete(writes);
  }

  /** Same as `UnderWay.arrived`, for the changes that this runtime has accepted. */
  waitUntil(...asked: Parameters<InFlightWrites['waitUntil']>): Promise<unknown> | undefined {
    return this.#underWay.waitUntil(...asked);
  }

  /** The questions were not submitted, because a fact that they quote was erased. */
  withdrawQuestions(partitions: readonly PartitionName[]): void {
    this.#partitions.evictNames(partitions);
  }

  #planned(
    groups: readonly StatedPartition[],
    sayer: StatementContext,
    line: VisibilityChain,
  ): PlannedBeliefs | RefusedBeliefs | NeedsFacts {
    const begun: PartialPlan[] = [];
    let inherited = 0;
    for (const group of groups) {
      const known = this.#partitions.get(group.name, group.sourced)!;
      const said = group.said.filter(
        ({ claim }) => claim === undefined || known.claims.get(claim) !== true,
      );
      if (said.length === 0) continue;
      const { state, source, open } = known;
      const version = (state?.version ?? seqOf(source?.open ?? [])) + 1;
      const declaration = declarePredicate(sayer.predicates[group.name.predicate]!);
      const touched = open.touched(said.flatMap(touchesOf), declaration);
      const writing: PlanInput = {
        partition: group.name,
        declaration,
        open: touched.map(orderedRow),
        latest: state?.latest ?? source?.begins ?? null,
        at: sayer.at,
        seq: version,
        merge: mergeProvenance,
        trust: trustProvenance,
      };
      const isWithdrawal = said.some(({ saying }) => saying.verb === 'withdraw');
      const past = isWithdrawal
        ? this.#histories.get(sayer.call)?.get(nameKey(group.name))
        : undefined;
      if (
        isWithdrawal &&
        (past?.version !== (state?.version ?? 0) || !isStated(touched, past.stated))
      )
        return needs(() => this.#readHistory(sayer.call, group.name, { line, touched }));
      const plan = planOf(said, writing, past);
      if (!isChange(plan)) continue;
      if (state === undefined) inherited += inheritedSize(group.name.predicate, source);
      const from = {
        touched,
        past: past?.rows ?? [],
        open,
        names: state?.names,
        ...(state === undefined && { source }),
      };
      begun.push({ group, said, writing, plan, from });
    }
    requireAnswerable(
      begun.map(({ plan }) => plan),
      inherited,
    );
    const planned: PlannedPartition[] = [];
    const questions: Question[] = [];
    const repeats: Hash[] = [];
    const given = givenBy(sayer);
    // Checked before a judge is asked, so a refused answer has no effect.
    for (const { plan } of begun) checkChosen(plan, given, sayer);
    const untimed = untimedIn(groups);
    for (const each of begun) {
      const plan = this.#answered(each, given, { sayer, untimed, line });
      const { group, writing, from } = each;
      if ('needs' in plan) return plan;
      if (plan.kind === 'ask') {
        questions.push(...plan.questions);
        repeats.push(...textsOf(from.touched));
      } else if (isChange(plan)) planned.push({ group, plan, version: writing.seq, ...from });
    }
    const [stale] = given.keys();
    if (stale !== undefined)
      throw new MemoryError(
        'stale_answer',
        `The question ${stale} is out of date, because the facts have changed since it was asked.`,
        {
          evidence: { request: stale },
        },
      );
    if (questions.length > 0)
      return { questions, repeats: [...new Set(repeats)], partitions: namesIn(sayer, line) };
    return this.#written(planned, sayer);
  }

  /**
   * The plan with the counselor's answers and the judge's votes. Missing votes are requested before
   * the next plan. Used answers are removed from `given`.
   */
  #answered(
    { said, writing, plan }: PartialPlan,
    given: Map<string, Answer>,
    {
      sayer,
      untimed,
      line,
    }: {
      readonly sayer: StatementContext;
      readonly untimed: readonly string[];
      readonly line: VisibilityChain;
    },
  ): Plan | QuestionPlan | NeedsFacts {
    if (plan.kind === 'plan') return plan;
    const votes = this.#votes;
    const voted = ({ request }: Question): Answer | undefined => votes?.get(sayer.call, request);
    const unasked = plan.questions.filter(
      (question) => this.isJudged(question) && voted(question) === undefined,
    );
    if (votes !== undefined && unasked.length > 0 && sayer.isJudgement !== true) {
      // No question is asked about facts that are known to be outdated.
      const comparison = this.#comparison(sayer, line);
      if (comparison !== undefined) return comparison;
      if (sayer.assertedAt === undefined && untimed.length > 0)
        return needs(() => votes.assertedAt(writing.partition, untimed, sayer.at));
      return needs(async () => {
        for (const question of unasked) await votes.ask(sayer.call, question);
      });
    }
    const answers = plan.questions.map(
      (question) => given.get(question.request) ?? voted(question),
    );
    const open = plan.questions.filter((_, i) => answers[i] === undefined);
    for (const { request } of plan.questions) given.delete(request);
    if (open.length > 0) return { ...plan, questions: open };
    return planOf(said, { ...writing, answers: answers as Answer[] });
  }

  #written(planned: readonly PlannedPartition[], sayer: StatementContext): PlannedBeliefs {
    const { changes, writesOf } = factWrites(planned, sayer.blobs);
    return {
      changes,
      accept: (entryId) => {
        const writes = writesOf(entryId);
        this.#partitions.accept(writes, senderOf(sayer));
        for (const { group, plan } of planned)
          this.#partitions.rowlessClaims(group.name, plan.merged ?? []);
        this.#underWay.add(writes);
        return writes;
      },
    };
  }

  async #read(
    line: VisibilityChain,
    groups: readonly Pick<StatedPartition, 'name' | 'sourced'>[],
  ): Promise<void> {
    for (const { name, sourced } of groups) await this.#partitions.read(name, sourced, line);
  }

  /** The versions that the trajectory sees, as of one version of the partition. */
  async #readHistory(
    call: object,
    name: PartitionName,
    { line, touched }: { readonly line: VisibilityChain; readonly touched: readonly FactVersion[] },
  ): Promise<void> {
    const version = (await this.#store.partition(name))?.version ?? 0;
    const rows: FactVersion[] = [];
    const { space, subject, predicate } = name;
    for await (const page of visibleFacts(this.#store, line, {
      space,
      subject,
      predicate,
      kind: 'all',
    }))
      rows.push(...page);
    const lost = rows.filter((row) => row.row_kind === 'audit' && !isErasedRow(row));
    const members = lost.flatMap((row) => readWitness(orderedRow(row)).members);
    const facts = [...touched, ...rows, ...members.flatMap((member) => member.rows)];
    const stated = await statedWrites(this.#store, this.#key!, facts);
    const of = this.#histories.get(call) ?? new Map<string, ReadHistory>();
    this.#histories.set(
      call,
      of.set(nameKey(name), { version, stated, history: rows.map(orderedRow), rows }),
    );
  }

  /**
   * The claims behind facts: their sources. Undefined values are of erased claims, or of actions of
   * a domain.
   * @throws LedgerFault
   */
  async stated(facts: readonly { readonly provenance_id: string }[]): Promise<StatedWrites> {
    const key = this.#key ?? (await this.#store.claimKey());
    return key === undefined ? new Map() : statedWrites(this.#store, key, facts);
  }

  /** Reads the key, and gives the store none. */
  async #lookAtKey(): Promise<void> {
    this.#key = await this.#store.claimKey();
    if (this.#key === undefined) this.#judgementKey = this.#random.bytes(KEY_BYTES);
  }

  async #readKey(): Promise<void> {
    // Randomness is used only for the first statement in a store.
    this.#key =
      (await this.#store.claimKey()) ?? (await this.#store.claimKey(this.#random.bytes(KEY_BYTES)));
  }
}

/** The history of a partition, with the version of its last change. */
interface ReadHistory extends PartitionHistory {
  readonly version: number;
  readonly rows: readonly FactVersion[];
}

/** Whether all writes of the facts are in the map. */
function isStated(facts: readonly FactVersion[], stated: StatedWrites): boolean {
  const tokens = facts.flatMap(({ provenance_id }) => writeTokensOf(provenance_id));
  return tokens.every((token) => stated.has(token));
}

/** The plan before any answer. */
interface PartialPlan {
  readonly group: StatedPartition;
  readonly said: StatedPartition['said'];
  readonly writing: PlanInput;
  readonly plan: Plan | QuestionPlan;
  readonly from: PlanBase;
}

/** The counselor's answers, by question. @throws MemoryError `repeated_answer` */
function givenBy({ answers = [] }: StatementContext): Map<string, Answer> {
  const given = new Map<string, Answer>();
  for (const answer of answers) {
    const { request } = answer;
    if (given.has(request))
      throw new MemoryError(
        'repeated_answer',
        `The question ${request} has two answers. Give one.`,
        {
          evidence: { request },
        },
      );
    given.set(request, answer);
  }
  return given;
}

/** @throws the errors of `mayAnswer` */
function checkChosen(
  plan: Plan | QuestionPlan,
  given: ReadonlyMap<string, Answer>,
  { mayAnswer, at }: StatementContext,
): void {
  if (plan.kind !== 'ask' || mayAnswer === undefined) return;
  for (const question of plan.questions) if (given.has(question.request)) mayAnswer(question, at);
}

function isChange(plan: Plan | QuestionPlan): boolean {
  return plan.kind === 'ask' || plan.close.length + plan.insert.length > 0;
}

/**
 * The greatest position in the order of commits, 0 if there are no rows. A branch that inherits the
 * rows continues from it.
 */
function seqOf(rows: readonly FactVersion[]): number {
  return rows.reduce((last, { seq }) => Math.max(last, seq), 0);
}

/** @throws RuntimeError `bad_argument` */
export function requireFactStore(beliefs: BeliefPlanner | undefined): BeliefPlanner {
  if (beliefs !== undefined) return beliefs;
  throw new RuntimeError(
    'bad_argument',
    'The domain declares a memory, but the store has no facts. Open the runtime with a store that stores facts.',
  );
}

/**
 * Changes that were accepted here but not yet answered by the store. They already have a system
 * time. A read as of that time, before they are stored, would differ from a later read as of the
 * same time. Erasures are excluded: they change past reads anyway, and may take long.
 */
export class InFlightWrites {
  /** Callbacks of waiting readers, by batch. */
  readonly #sent: TransientMap<readonly FactWrite[], (() => void)[]> = new TransientMap();

  add(writes: readonly FactWrite[]): void {
    if (writes.length > 0) this.#sent.set(writes, []);
  }

  /** The store has answered, with any result. */
  complete(writes: readonly FactWrite[]): void {
    const waiting = this.#sent.get(writes) ?? [];
    this.#sent.delete(writes);
    for (const go of waiting) go();
  }

  /**
   * Resolves when the store has answered all current changes of the requested facts up to this
   * instant; undefined if there are none. Changes accepted in the meantime are not awaited, because
   * they are later, except those of a turn that started before.
   */
  waitUntil(
    asked: Pick<PartitionName, 'space'> & Partial<PartitionName>,
    system: Instant,
  ): Promise<unknown> | undefined {
    const { space, subject, predicate } = asked;
    const isAsked = ({ partition, system_time }: FactWrite): boolean =>
      system_time <= system &&
      partition.space === space &&
      (subject === undefined || partition.subject === subject) &&
      (predicate === undefined || partition.predicate === predicate);
    const answers: Promise<void>[] = [];
    for (const [writes, waiting] of this.#sent)
      if (writes.some(isAsked)) answers.push(new Promise((resolve) => void waiting.push(resolve)));
    return answers.length === 0 ? undefined : Promise.all(answers);
  }
}
