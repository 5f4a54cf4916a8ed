import { type AssizeError, isAssizeError, isInstance } from '#base';
import type { Compiled, MemoryStatement } from '#kernel';
import {
  type BeliefChange,
  type BlobRef,
  beliefChange,
  type ContentRef,
  type FactStore,
  type FactVersion,
  type FactWrite,
  type Hash,
  type Instant,
  inheritanceOf,
  isFactStore,
  type LedgerStore,
  type PartitionName,
  placedProvenance,
  type SaltedRef,
} from '#ledger';
import {
  type Answer,
  type Assertion,
  declarePredicate,
  type Ending,
  type FactRow,
  MemoryError,
  mergeProvenance,
  OPEN_END,
  OPEN_START,
  type Period,
  type Plan,
  type PlanInput,
  type PredicateDeclaration,
  planAssert,
  planChange,
  planCorrect,
  planRetract,
  planWithdraw,
  type Question,
  type QuestionPlan,
  trustProvenance,
  writeToken,
} from '#memory';
import type { Random } from '#oracle';
import { RuntimeError } from '../../errors.ts';
import { type NeedsFacts, needs } from '../../records/needs.ts';
import type { PayloadBlobs } from '../../records/payload-blobs.ts';
import type { OpenQuestions } from '../../records/questions.ts';
import { type VisibilityChain, VisibilityChains, type VisibleMemory } from '../visible/visibility.ts';
import { type ClaimStatement, idFrom, idOf } from './claim-ids.ts';
import { type ErasedPartition, planErasedChanges } from './close-erased.ts';
import { isErasedRow } from './erased-row.ts';
import { InFlightWrites } from './in-flight.ts';
import { type OpenRows, orderedRow, type Touch } from './open-rows.ts';
import { type InheritedPartition, PartitionCache } from './partition-cache.ts';
import { inheritedSize, requireAnswerable, requireEntryFits } from './size-limits.ts';
import { type StatedWrites, statedWrites, tokensOf } from './stated-writes.ts';
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

/** The proposal with the statements. */
export interface StatementContext {
  /** The same object each time that a call plans the proposal. */
  readonly call: object;
  /**
   * The generation of its trajectory's writer; changes when another writer commits there and the
   * proposal is adjudicated again.
   */
  readonly generation: number;
  readonly compiled: Pick<Compiled, 'statements'>;
  readonly proposalId: Hash;
  readonly trajectoryId: string;
  readonly at: Instant;
  /**
   * The time of the statements, if it was earlier than `at`: the start of valid time for statements
   * without a time. Default: `at`.
   */
  readonly assertedAt?: Instant | undefined;
  readonly predicates: { readonly [predicate: string]: Parameters<typeof declarePredicate>[0] };
  readonly blobs: PayloadBlobs;
  /** The counselor's answers. */
  readonly answers?: readonly Answer[];
  /**
   * Throws if the counselor may not choose that answer; its error is passed on. Default: any answer
   * is allowed.
   */
  readonly mayAnswer?: (question: Question) => void;
  /** Whether the ruling is only foreseen. Questions to the judge then stay open. */
  readonly isJudgement?: boolean;
}

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
  /** The claims behind the facts that a call withdraws a source from. */
  readonly #stated: WeakMap<object, StatedWrites> = new WeakMap();
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
    if (line === undefined) return needs(async () => void (await this.visibility.of(sayer.trajectoryId)));
    const outcome = this.#outcome(key, sayer, line);
    if ('needs' in outcome) return outcome;
    // A commit verifies only the partitions that it changes.
    const changed = 'changes' in outcome ? outcome.changes.length : 0;
    const comparison = changed < partitionsIn(sayer, line) ? this.#comparison(sayer, line) : undefined;
    return comparison ?? outcome;
  }

  #outcome(
    key: Uint8Array,
    sayer: StatementContext,
    line: VisibilityChain,
  ): PlannedBeliefs | RefusedBeliefs | NeedsFacts {
    try {
      const names = namesIn(sayer, line);
      const awaited = names.flatMap((name) => this.#partitions.whenIdle(name, senderOf(sayer)) ?? []);
      if (awaited.length > 0) return needs(async () => void (await Promise.all(awaited)));
      // Before claims get their ids, which is most of the work for many statements.
      const unknown = names.filter((name) => this.#partitions.get(name, []) === undefined);
      if (unknown.length > 0)
        return needs(() =>
          this.#read(
            line,
            unknown.map((name) => ({ name, sourced: [] })),
          ),
        );
      const groups = grouped(key, sayer, line);
      const unread = groups.filter(({ name, sourced }) => this.#partitions.get(name, sourced) === undefined);
      if (unread.length === 0) return this.#planned(groups, sayer, line);
      return needs(() => this.#read(line, unread));
    } catch (error) {
      // The statements are at fault, or do not fit the current facts.
      if (isInstance(error, MemoryError) || isAssizeError(error, 'bad_instant')) return { refusal: error };
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
    groups: readonly Group[],
    sayer: StatementContext,
    line: VisibilityChain,
  ): PlannedBeliefs | RefusedBeliefs | NeedsFacts {
    const begun: PartialPlan[] = [];
    let inherited = 0;
    for (const group of groups) {
      const known = this.#partitions.get(group.name, group.sourced)!;
      const said = group.said.filter(({ claim }) => claim === undefined || known.claims.get(claim) !== true);
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
      const stated = this.#stated.get(sayer.call);
      if (said.some(({ saying }) => saying.verb === 'withdraw') && !isStated(touched, stated))
        return needs(() => this.#readStated(sayer.call, touched));
      const plan = planOf(said, writing, stated);
      if (!isChange(plan)) continue;
      if (state === undefined) inherited += inheritedSize(group.name.predicate, source);
      const from = { touched, open, names: state?.names, ...(state === undefined && { source }) };
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
    if (questions.length > 0) return { questions, repeats: [...new Set(repeats)], partitions: namesIn(sayer, line) };
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
    }: { readonly sayer: StatementContext; readonly untimed: readonly string[]; readonly line: VisibilityChain },
  ): Plan | QuestionPlan | NeedsFacts {
    if (plan.kind === 'plan') return plan;
    const votes = this.#votes;
    const voted = ({ request }: Question): Answer | undefined => votes?.get(sayer.call, request);
    const unasked = plan.questions.filter((question) => this.isJudged(question) && voted(question) === undefined);
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
    const answers = plan.questions.map((question) => given.get(question.request) ?? voted(question));
    const open = plan.questions.filter((_, i) => answers[i] === undefined);
    for (const { request } of plan.questions) given.delete(request);
    if (open.length > 0) return { ...plan, questions: open };
    return planOf(said, { ...writing, answers: answers as Answer[] });
  }

  #written(planned: readonly PlannedPartition[], sayer: StatementContext): PlannedBeliefs {
    const { blobs } = sayer;
    const parts = planned.map(({ group, plan, version, touched, open, names: known, source }) => {
      const { name } = group;
      const names = known ?? contentOf(blobs.storeOwn({ ...name }));
      const contents = new Map(touched.map(({ lineage, content }) => [lineage, content]));
      const insert = plan.insert.map((row): [FactRow, ContentRef] => {
        // One blob per claim, so it is erased with the claim in every place. A witness is a
        // separate blob.
        if (row.row_kind === 'audit') return [row, contentOf(blobs.storeOwn(row.object))];
        const content = contents.get(row.lineage) ?? contentOf(blobs.storeOwn(row.object));
        contents.set(row.lineage, content);
        return [row, content];
      });
      const inherit = source?.until === undefined ? undefined : { until: source.until, rows: source.open };
      // Blobs that must not be erased before the commit. For a branch these are all open rows,
      // because an erasure in the source does not change the branch's partition.
      const repeats = name.branch === undefined ? repeatedBy(plan, touched) : [...new Set(textsOf(open.all))];
      const reads = source?.reads ?? [];
      return { name, names, plan, version, insert, cardinality: group.cardinality, inherit, repeats, reads };
    });
    const changes = parts.map(({ names, plan, version, insert, cardinality, inherit }) =>
      beliefChange(plan, {
        partition: referenceTo(names),
        version,
        cardinality,
        objects: insert.map(([, content]) => referenceTo(content)),
        ...(inherit !== undefined && { inherit: inheritanceOf(inherit.until, inherit.rows) }),
      }),
    );
    requireEntryFits(changes);
    return {
      changes,
      accept: (entryId) => {
        const writes = parts.map(({ name, names, plan, version, insert, inherit, repeats, reads }) => ({
          partition: name,
          names,
          version,
          system_time: plan.systemTime,
          close: plan.close,
          insert: insert.map(([row, content]) => ({
            ...row,
            ...(name.branch !== undefined && { branch: name.branch }),
            provenance_id: placedProvenance(row.provenance_id, entryId),
            entry_id: entryId,
            content,
          })),
          ...(inherit !== undefined && { inherit }),
          ...(repeats.length > 0 && { repeats }),
          ...(reads.length > 0 && { reads }),
        }));
        this.#partitions.accept(writes, senderOf(sayer));
        for (const { name, plan } of parts) this.#partitions.rowlessClaims(name, plan.merged ?? []);
        this.#underWay.add(writes);
        return writes;
      },
    };
  }

  async #read(line: VisibilityChain, groups: readonly Pick<Group, 'name' | 'sourced'>[]): Promise<void> {
    for (const { name, sourced } of groups) await this.#partitions.read(name, sourced, line);
  }

  /** Facts of several partitions are read one after the other. */
  async #readStated(call: object, facts: readonly FactVersion[]): Promise<void> {
    const found = await statedWrites(this.#store, this.#key!, facts);
    this.#stated.set(call, new Map([...(this.#stated.get(call) ?? []), ...found]));
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
    this.#key = (await this.#store.claimKey()) ?? (await this.#store.claimKey(this.#random.bytes(KEY_BYTES)));
  }
}

/** Whether all writes of the facts are in the map. */
function isStated(facts: readonly FactVersion[], stated: StatedWrites | undefined): boolean {
  const tokens = facts
    .flatMap(({ provenance_id }) => tokensOf(provenance_id))
    .filter((token) => token.startsWith('w:'));
  return tokens.every((token) => stated?.has(token) === true);
}

interface Group {
  readonly name: PartitionName;
  readonly cardinality: PredicateDeclaration['cardinality'];
  readonly said: readonly {
    readonly saying: MemoryStatement;
    readonly n: number;
    readonly claim: string | undefined;
    readonly id: string;
    readonly saidAt: Instant;
  }[];
  /** Claims that may have been made before. */
  readonly sourced: readonly string[];
}

/** The known state of a partition to change. */
interface PlanBase {
  /** The open rows that the plan depends on. */
  readonly touched: readonly FactVersion[];
  readonly open: OpenRows;
  readonly names: ContentRef | undefined;
  /** The source, for a branch that has not changed the partition yet. */
  readonly source?: InheritedPartition | undefined;
}

/** The plan before any answer. */
interface PartialPlan {
  readonly group: Group;
  readonly said: Group['said'];
  readonly writing: PlanInput;
  readonly plan: Plan | QuestionPlan;
  readonly from: PlanBase;
}

interface PlannedPartition extends PlanBase {
  readonly group: Group;
  readonly plan: Plan;
  readonly version: number;
}

/** The counselor's answers, by question. @throws MemoryError `repeated_answer` */
function givenBy({ answers = [] }: StatementContext): Map<string, Answer> {
  const given = new Map<string, Answer>();
  for (const answer of answers) {
    const { request } = answer;
    if (given.has(request))
      throw new MemoryError('repeated_answer', `The question ${request} has two answers. Give one.`, {
        evidence: { request },
      });
    given.set(request, answer);
  }
  return given;
}

/** @throws the errors of `mayAnswer` */
function checkChosen(
  plan: Plan | QuestionPlan,
  given: ReadonlyMap<string, Answer>,
  { mayAnswer }: StatementContext,
): void {
  if (plan.kind !== 'ask' || mayAnswer === undefined) return;
  for (const question of plan.questions) if (given.has(question.request)) mayAnswer(question);
}

function isChange(plan: Plan | QuestionPlan): boolean {
  return plan.kind === 'ask' || plan.close.length + plan.insert.length > 0;
}

/** The sender of changes that may be planned on one another before the store has them. */
function senderOf({ trajectoryId, generation }: Pick<StatementContext, 'trajectoryId' | 'generation'>): string {
  return `${generation} ${trajectoryId}`;
}

function namesIn({ compiled }: StatementContext, [own]: VisibilityChain): PartitionName[] {
  return compiled.statements.map((saying) => nameOf(saying, own));
}

function nameOf({ space, subject, predicate }: MemoryStatement, { branch }: VisibleMemory): PartitionName {
  return { space, subject, predicate, ...(branch !== undefined && { branch }) };
}

/**
 * The greatest position in the order of commits, 0 if there are no rows. A branch that inherits the
 * rows continues from it.
 */
function seqOf(rows: readonly FactVersion[]): number {
  return rows.reduce((last, { seq }) => Math.max(last, seq), 0);
}

/**
 * The blobs with texts that the plan's witnesses repeat: those of all open rows of a contradiction.
 */
function repeatedBy({ insert }: Plan, touched: readonly FactVersion[]): Hash[] {
  const lost = insert.filter(({ row_kind }) => row_kind === 'audit');
  const isRepeated = (row: FactVersion): boolean =>
    lost.some(({ valid_from, valid_to }) => row.valid_from < valid_to && valid_from < row.valid_to);
  return [...new Set(textsOf(touched.filter(isRepeated)))];
}

/** The blobs of rows, unless erased. */
function textsOf(rows: readonly FactVersion[]): Hash[] {
  return rows.filter((row) => !isErasedRow(row)).map(({ content }) => content.hash);
}

function partitionsIn(sayer: StatementContext, line: VisibilityChain): number {
  return new Set(namesIn(sayer, line).map((name) => JSON.stringify(name))).size;
}

/** The statements by partition, in order of each partition's first statement. */
function grouped(
  key: Uint8Array,
  { compiled, proposalId, predicates, at, assertedAt = at }: StatementContext,
  [own]: VisibilityChain,
): Group[] {
  const groups = new Map<string, Group & { said: Group['said'][number][]; sourced: string[] }>();
  for (const [n, saying] of compiled.statements.entries()) {
    const { space, subject, predicate } = saying;
    const name = nameOf(saying, own);
    const at = JSON.stringify([space, subject, predicate]);
    const group = groups.get(at) ?? {
      name,
      cardinality: predicates[predicate]!.cardinality,
      said: [] as Group['said'][number][],
      sourced: [] as string[],
    };
    groups.set(at, group);
    const isClaim = saying.verb !== 'retract' && saying.verb !== 'withdraw';
    const id = isClaim ? idOf(key, saying, proposalId, n) : '';
    const claim = isClaim && saying.source !== undefined ? id : undefined;
    group.said.push({ saying, n, claim, id, saidAt: assertedAt });
    if (claim !== undefined) group.sourced.push(claim);
  }
  return [...groups.values()];
}

/**
 * Claims without a time of their own, in code-unit order: they are valid from the time of their
 * statement.
 */
function untimedIn(groups: readonly Group[]): string[] {
  const isUntimed = ({ saying }: Group['said'][number]): boolean =>
    saying.verb === 'change' ? saying.from === undefined : saying.verb === 'assert' && saying.valid?.from === undefined;
  return groups.flatMap(({ said }) => said.filter(isUntimed).map(({ id }) => id)).sort();
}

function planOf(said: Group['said'], writing: PlanInput, stated: StatedWrites = new Map()): Plan | QuestionPlan {
  const [{ saying, n, id, saidAt }] = said as [Group['said'][number]];
  if (said.every((each) => each.saying.verb === 'assert')) return planAssert(writing, said.flatMap(assertionsOf));
  if (said.length > 1)
    throw new MemoryError(
      'repeated_claim',
      'A proposal can assert several facts of a subject and predicate, or change, correct or retract one. Propose the others separately.',
    );
  switch (saying.verb) {
    case 'change': {
      const { object, confidence = 1, from = saidAt } = saying;
      return planChange(writing, { claim: id, object, confidence, provenance: writeToken(n), from });
    }
    case 'correct': {
      const { object, confidence = 1, valid, was } = saying;
      const provenance = writeToken(n);
      return planCorrect(writing, {
        claim: id,
        object,
        confidence,
        provenance,
        valid,
        ...(was !== undefined && { was }),
      });
    }
    case 'retract': {
      const { object, valid } = saying;
      return planRetract(writing, { valid, ...(object !== undefined && { object }) });
    }
    case 'withdraw':
      return planWithdraw(writing, { source: saying.source, claims: stated });
    case 'assert':
      throw new Error('unreachable: all assertions were planned together');
  }
}

/** The periods and objects of a statement; for a correction, also the object that was wrong. */
function touchesOf({ saying, saidAt }: Group['said'][number]): readonly Touch[] {
  if (saying.verb === 'withdraw') return [{ valid: { from: OPEN_START, to: OPEN_END } }];
  const { object } = saying;
  switch (saying.verb) {
    case 'assert': {
      if (saying.ends !== true) return [{ valid: periodOf(saying.valid, saidAt), object }];
      const ends = endOf(saying);
      return [{ valid: { from: saying.valid?.from ?? ends, to: OPEN_END }, object }];
    }
    case 'change':
      return [{ valid: periodOf(saying, saidAt), object }];
    case 'correct':
      return [
        { valid: saying.valid, object },
        { valid: saying.valid, object: saying.was },
      ];
    case 'retract':
      return [{ valid: saying.valid, object }];
  }
}

/**
 * Without a period: from the time of the statement, without an end. @throws MemoryError
 * `reversed_period`, `empty_period`
 */
function periodOf(
  { from, to = OPEN_END }: { readonly from?: Instant; readonly to?: Instant } = {},
  saidAt: Instant,
): Period {
  // With a given end, only the end can be at fault.
  if (from === undefined && to <= saidAt)
    throw new MemoryError(
      to < saidAt ? 'reversed_period' : 'empty_period',
      'The fact ends before it is asserted, and without `from` it starts then. Set `from`.',
      { evidence: { to, said: saidAt } },
    );
  return { from: from ?? saidAt, to };
}

/** The asserted period, and its end. An end without a start asserts no period. */
function assertionsOf({ saying, n, id, saidAt }: Group['said'][number]): (Assertion | Ending)[] {
  const said = saying as AssertStatement;
  const { object, confidence = 1, valid, strategy } = said;
  const stated = {
    claim: id,
    object,
    confidence,
    provenance: writeToken(n),
    ...(strategy !== undefined && { strategy }),
  };
  if (said.ends !== true) return [{ ...stated, valid: periodOf(valid, saidAt) }];
  const ends = endOf(said);
  if (valid?.from === undefined) return [{ ...stated, ends }];
  return [
    { ...stated, valid: periodOf(valid, saidAt) },
    { ...stated, ends },
  ];
}

type AssertStatement = Extract<MemoryStatement, { verb: 'assert' }>;

/** @throws MemoryError `no_instant` */
function endOf({ valid }: AssertStatement): Instant {
  if (valid?.to !== undefined) return valid.to;
  throw new MemoryError('no_instant', 'The statement ends a fact at no instant. Set `valid.to`.', {
    evidence: { border: 'to' },
  });
}

/** The row without store-only columns, and without its memory, which may not be the reader's. */
export function rowOf({ content: _, branch: __, ...row }: FactVersion): FactRow {
  return row as FactRow;
}

function contentOf({ $blob: hash, bytes }: BlobRef): ContentRef {
  return { hash, bytes };
}

function referenceTo({ hash, bytes }: ContentRef): SaltedRef {
  return { $blob: hash, bytes, salted: true };
}

/** @throws RuntimeError `bad_option` */
export function requireFactStore(beliefs: BeliefPlanner | undefined): BeliefPlanner {
  if (beliefs !== undefined) return beliefs;
  throw new RuntimeError(
    'bad_option',
    'The domain declares a memory, but the store has no facts. Open the runtime with a store that stores facts.',
  );
}
