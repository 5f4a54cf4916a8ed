import { type AssizeError, isAssizeError, type Json } from '#base';
import { canonicalize } from '#canon';
import {
  ANY_COUNSELOR,
  type Authority,
  approvePending,
  type Cost,
  type CounselorCommit,
  counselorKind,
  type Domain,
  ERASE_ACTION,
  invalidAmendment,
  KernelError,
  type PendingProposal,
  PROPOSE_AGAIN_HINT,
  seenOf,
} from '#kernel';
import {
  approvalsOf,
  type Chain,
  type CounselorRecord,
  type EffectPendingPayload,
  erasureArgs,
  type Hash,
  type Instant,
  isEffectPending,
  isExpired,
  isHash,
  isSamePrincipal,
  isSettlement,
  type Payload,
  type PendingPayload,
  pendingEffectOf,
  readRow,
} from '#ledger';
import { MemoryError, type Question } from '#memory';
import { holdersOf } from '../authority/holders.ts';
import type { WritChain } from '../authority/writs.ts';
import { RuntimeError } from '../errors.ts';
import { type ErasedPartition, partitionsToErase } from '../memory/plan/close-erased.ts';
import type { BeliefPlanner } from '../memory/plan/plan-beliefs.ts';
import { type PlannedBeliefs, requireFactStore, type StatementContext } from '../memory/plan/plan-beliefs.ts';
import { submittedRequests } from '../memory/plan/questions.ts';
import { WithdrawnSources } from '../memory/plan/withdrawn-sources.ts';
import {
  approvalPayload,
  batchErasureOf,
  digestOf,
  partialApprovalPayload,
  resolutionPayload,
} from '../records/entry-payloads.ts';
import { type Judgement, refusedBy } from '../records/judgement.ts';
import { type Needs, needs } from '../records/needs.ts';
import { PayloadBlobs } from '../records/payload-blobs.ts';
import { readPendingProposal, readSeenProposal } from '../records/pending-proposal.ts';
import {
  APPROVAL,
  type ApprovalInput,
  checkedResolution,
  REJECTION,
  type RejectionInput,
  type Resolution,
  type Ruling,
  rulingFrom,
} from '../records/ruling.ts';
import { SaltSource } from '../records/salt-source.ts';
import { type CommitPlan, costOf, hasToolObservation, sum, withTools } from '../records/tool-authority.ts';
import { isCollision } from '../transactions/body/abort-reasons.ts';
import { withOutcomes } from '../transactions/body/await-outcome.ts';
import { planOfPending } from '../transactions/body/plan-only.ts';
import { type ResumedTransaction, resumeApproved } from '../transactions/body/resume-approved.ts';
import type { TransactionEngines } from '../transactions/engine/engines.ts';
import type { Moves } from '../writer/apply.ts';
import type { NamedRun } from '../writer/domain-watch.ts';
import { checkOthers, checkReservations } from '../writer/freeze.ts';
import type { PreparedCommit } from '../writer/prepared.ts';
import type { OpenReservation } from '../writer/reservations.ts';
import { scrub } from '../writer/scrub.ts';
import { type Ruled, type RulingStep, untilCommitted } from '../writer/until-committed.ts';
import type { Writer } from '../writer/writer.ts';
import { type ApprovalSteps, amend, judgeAmendment, type ResolutionStep } from './amend.ts';
import { approvalJudgement } from './approval-judgement.ts';
import { approvalRun } from './approval-run.ts';

/** The most expired proposals in one batch. A caller waits for one batch, some tens of ms. */
export const EXPIRED_IN_GROUP = 256;

/** A pending proposal that has expired, with the time of the check. */
interface ExpiredPending {
  readonly id: Hash;
  readonly pending: PendingPayload;
  readonly at: Instant;
}

/** The requester of a pending proposal, and principals that may decide about it. */
export interface Deciders {
  readonly requester: string;
  readonly deciders: readonly string[];
}

/** Resolves pending proposals: a counselor approves or rejects them, or they expire. */
export class Resolutions {
  readonly #writer: Writer;
  readonly #beliefs: BeliefPlanner | undefined;
  readonly #effects: TransactionEngines | undefined;
  /** The withdrawals since a proposal, by its resolution. */
  readonly #withdrawn: WeakMap<object, WithdrawnSources> = new WeakMap();
  /** The group of expired proposals that is being recorded. */
  #recording: Promise<void> | undefined;

  constructor(writer: Writer, beliefs: BeliefPlanner | undefined, effects: TransactionEngines | undefined) {
    this.#writer = writer;
    this.#beliefs = beliefs;
    this.#effects = effects;
  }

  async approve(pendingId: Hash, given: ApprovalInput): Promise<Ruling> {
    const writer = this.#writer;
    const input = checkedResolution(given, APPROVAL);
    if (input.args !== undefined || input.role !== undefined) return this.#amend(pendingId, input);
    let taken: ResumedTransaction | undefined;
    let erases = false;
    let letGo: (() => void) | undefined;
    const chance = new SaltSource(writer.context.random);
    const named = (action: string): NamedRun => approvalRun(pendingId, action, input);
    const approving = this.#resolve(pendingId, input, named, async (pending) => {
      const asked = await this.#asked(pendingId, pending, input);
      taken ??= await this.#resumeEffects(pending);
      let losing = await this.#losing(asked.waiting);
      if (losing.length > 0 && letGo === undefined) {
        // Writers of the same partitions in other trajectories would otherwise commit first each
        // time.
        letGo = await requireFactStore(this.#beliefs).lock(losing.map(({ name }) => name));
        losing = await this.#losing(asked.waiting);
      }
      return (at) => {
        const { chain } = writer.parts;
        const kept = new PayloadBlobs(writer.context.saltGenerator(chance.restartAt(chain.head)));
        const judged = this.#judged({ ...asked, losing, acting: taken?.commitPlan }, at, kept);
        if ('needs' in judged) return judged;
        if ('conflict' in judged) {
          const counselor = { principal: input.principal, as: judged.as, method: input.method };
          return this.#refuse(pendingId, pending, at, { reason: 'conflict', detail: judged.conflict, counselor }, {});
        }
        const { commit, believed } = judged;
        const counselor: CounselorRecord = {
          principal: input.principal,
          as: commit.as,
          method: input.method,
          ...(commit.overridden ? { override: true, overridden: commit.overrides } : {}),
          ...(input.reason === undefined ? {} : { reason: input.reason }),
        };
        if (!commit.complete) {
          commit.undo();
          return this.#resolved(partialApprovalPayload(writer.nextPosition(at), pendingId, pending, counselor));
        }
        const owing = taken;
        if (owing?.hasCallsToRepeat === true) {
          commit.undo();
          return needs(() =>
            owing.repeatCalls(() =>
              writer.runRuling(
                () => named(asked.waiting.intent.action),
                () => this.#counseled({ ...asked, losing, acting: owing.commitPlan }, writer.now(), false, []).undo(),
              ),
            ),
          );
        }
        const approval = () =>
          approvalPayload(
            writer.nextPosition(at),
            chain.lastCommit,
            pendingId,
            pending,
            commit,
            counselor,
            taken?.commitPlan.epoch,
            kept,
            believed?.changes,
          );
        const { row, payload, batch } = writer.apply(approval, { change: commit, facts: believed });
        const erasure = batchErasureOf(row.id, asked.waiting.intent);
        erases = erasure !== undefined;
        const acts = taken?.commitPlan.commitRecords(row.id);
        const blobs = acts === undefined ? kept.blobs : [...kept.blobs, ...acts.blobs];
        return { ...batch, blobs, erasure, effects: acts?.write, answer: rulingFrom(row, payload) };
      };
    });
    const decided = approving.finally(() => letGo?.());
    return decided.then(
      async (ruling) => {
        if (ruling.ruling === 'committed') await taken?.committed(ruling.entry.id);
        else await taken?.abort();
        if (erases) await scrub(writer.context.store);
        return taken === undefined ? ruling : withOutcomes(ruling, this.#effects, writer.context.store);
      },
      async (error: unknown) => {
        await taken?.abort(error);
        throw error;
      },
    );
  }

  /**
   * The ruling that `approve` would give with the same input. Writes nothing, begins no
   * transaction, asks no judge of contradictions and calls no tool.
   */
  async judge(pendingId: Hash, given: ApprovalInput): Promise<Judgement> {
    const input = checkedResolution(given, APPROVAL);
    const isAmending = input.args !== undefined || input.role !== undefined;
    const pending = this.#writer.parts.chain.open.get(pendingId);
    const { args } = input;
    const amended = pending && isAmending ? { action: pending.proposal.action.name, args: args as Json } : undefined;
    try {
      return isAmending
        ? await judgeAmendment(this.#writer, this.#effects, pendingId, input, this.#dryStepsOf(pendingId, input))
        : await this.#judgeExactly(pendingId, input);
    } catch (error) {
      return refusedBy(error, this.#writer.parts.domain, args === undefined ? undefined : amended);
    }
  }

  #judgeExactly(pendingId: Hash, input: ApprovalInput): Promise<Judgement> {
    const { resolve } = this.#dryStepsOf(pendingId, input);
    const chance = new SaltSource(this.#writer.context.random);
    return resolve(async (pending) => {
      const asked = await this.#asked(pendingId, pending, input);
      const acting = await this.#plannedOnly(pending);
      const losing = await this.#losing(asked.waiting);
      return (at) => {
        const { context, parts } = this.#writer;
        const kept = new PayloadBlobs(context.saltGenerator(chance.restartAt(parts.chain.head)));
        const judged = this.#judged({ ...asked, losing, acting, isJudgement: true }, at, kept);
        if ('needs' in judged) return judged;
        if ('conflict' in judged)
          return { unrecorded: { ruling: 'rejected', reason: 'conflict', detail: judged.conflict } };
        const { commit } = judged;
        return { unrecorded: approvalJudgement(commit, pending, acting, asked.waiting.inputs.calls ?? []) };
      };
    });
  }

  #dryStepsOf(pendingId: Hash, input: ApprovalInput): ApprovalSteps<Judgement> {
    const named = (action: string): NamedRun => approvalRun(pendingId, action, input);
    return {
      resolve: (prepare) => this.#resolve(pendingId, input, named, prepare, {}, expiredJudgement),
      planBeliefs: (pending, commit, at, kept) =>
        this.#planBeliefs(pendingId, pending, commit, { call: input, isJudgement: true }, at, kept, AMENDED),
    };
  }

  #amend(pendingId: Hash, input: ApprovalInput): Promise<Ruling> {
    return amend(this.#writer, this.#effects, pendingId, input, {
      resolve: (prepare) => this.#resolve(pendingId, input, (action) => approvalRun(pendingId, action, input), prepare),
      planBeliefs: (pending, commit, at, kept) =>
        this.#planBeliefs(pendingId, pending, commit, { call: input }, at, kept, AMENDED),
    });
  }

  /** The recorded proposal, and the choices of its counselor. */
  async #asked(pendingId: Hash, pending: PendingPayload, input: ApprovalInput): Promise<AskedApproval> {
    const writer = this.#writer;
    const writ = writer.parts.writs.present(pending.proposal.writ_id);
    const waiting = await writer.readValues(() => readPendingProposal(pending, holdersOf(writ), writer.context));
    const chosen = await this.#checkAnswers(pendingId, pending, input, waiting);
    return { pendingId, pending, input, writ, waiting, chosen };
  }

  /**
   * The approval on the current state, up to its entry: the change that memory has then, or the
   * conflict that ends a proposal which reserved only its changes.
   */
  #judged(asked: JudgedApproval, at: Instant, kept: PayloadBlobs): Needs | ApprovedChange | ConflictingChange {
    const writer = this.#writer;
    const { chain, domain } = writer.parts;
    const { pendingId, pending, input, waiting, losing, isJudgement = false } = asked;
    const others = writer.reservations.of(chain, domain, at, pendingId);
    if ('needs' in others) return others;
    let commit: CounselorCommit;
    try {
      commit = this.#counseled(asked, at, true, others);
    } catch (error) {
      const conflict = conflictOf(domain, pending, error);
      if (conflict === undefined) throw error;
      const as = counselorKind(domain, pending.channel, input.principal, waiting.requesters, seenOf(waiting));
      return { conflict, as };
    }
    if (!commit.complete) {
      if (!isAnswering(input)) return { commit };
      commit.undo();
      throw answersTooEarly(pendingId, pending);
    }
    if (isAnswering(input) && commit.compiled.statements.length === 0) {
      commit.undo();
      throw asksNothing(pendingId);
    }
    const by = { trajectoryId: writer.id, generation: writer.generation };
    const believed =
      losing.length > 0
        ? requireFactStore(this.#beliefs).planErasure(losing, at, by)
        : this.#planBeliefs(pendingId, pending, commit, { ...asked.chosen, isJudgement }, at, kept);
    if (believed === undefined || !('needs' in believed)) return { commit, believed };
    commit.undo();
    return believed;
  }

  /** `committing`: the budget reserved for compensation is released with the commit. */
  #counseled(
    { pendingId, pending, input, writ, waiting, acting }: JudgedApproval,
    at: Instant,
    committing: boolean,
    others: readonly OpenReservation[],
  ): CounselorCommit {
    const writer = this.#writer;
    const { world, chain } = writer.parts;
    const { principal, override = false, replacement } = input;
    const epoch = committing ? acting?.epoch : undefined;
    const authority = writer.authority(writ, writ.writ.subject, at, { approving: true, committing: epoch });
    const commit = approvePending(
      world,
      waiting,
      { principal, at, override, ...(replacement === undefined ? {} : { replacement }) },
      submittedCost(authority, acting, pending),
    );
    try {
      checkCost(pending, costOf(commit, acting));
      checkOthers(chain, world.domain, pendingId, commit.changes, at);
    } catch (error) {
      commit.undo();
      throw error;
    }
    checkReservations(commit, others);
    return commit;
  }

  /**
   * Plans the proposal's statements on the current facts. If they do not fit, the state is as
   * before. @throws KernelError `changed_since`, `invalid_amendment`
   */
  #planBeliefs(
    pendingId: Hash,
    pending: PendingPayload,
    commit: CounselorCommit,
    chosen: CounselorAnswers,
    at: Instant,
    kept: PayloadBlobs,
    errors: StatementErrors = UNCHANGED,
  ): PlannedBeliefs | Needs | undefined {
    const { compiled } = commit;
    const { proposal } = pending;
    if (compiled.statements.length === 0) return undefined;
    try {
      const withdrawn = this.#withdrawnSince(pending, chosen.call);
      if ('needs' in withdrawn) {
        commit.undo();
        return withdrawn;
      }
      const gone = withdrawn.refusalOf(compiled.statements);
      if (gone !== undefined) throw gone;
      const predicates = this.#writer.parts.domain.memory?.predicates ?? {};
      const { proposal_id: proposalId } = proposal;
      const beliefs = requireFactStore(this.#beliefs);
      const planned = beliefs.plan({
        ...chosen,
        generation: this.#writer.generation,
        compiled,
        proposalId,
        trajectoryId: this.#writer.id,
        at,
        // The time of submission, so that the question is the same, however late the approval.
        assertedAt: proposal.said_at ?? proposal.at,
        predicates,
        blobs: kept,
      });
      if (planned === undefined || 'changes' in planned || 'needs' in planned) return planned;
      if ('questions' in planned) throw errors.unanswered(pendingId, planned.questions);
      const { refusal } = planned;
      // The answers are at fault, not the pending proposal.
      if (chosen.answers !== undefined && isAssizeError(refusal, 'stale_answer')) throw staleAnswer(pendingId, refusal);
      if (chosen.answers !== undefined && ANSWER_FAULTS.has(refusal.code)) throw refusal;
      throw errors.refused(refusal.message.replace(/\.$/, ''));
    } catch (error) {
      commit.undo();
      throw error;
    }
  }

  /** The sources that the trajectory withdrew after the proposal was submitted. */
  #withdrawnSince(pending: PendingPayload, call: object): WithdrawnSources | Needs {
    const { parts, context } = this.#writer;
    const known = this.#withdrawn.get(call);
    if (known?.hasRead(parts.chain.seq) === true) return known;
    const withdrawn = known ?? new WithdrawnSources(context.store, pending);
    this.#withdrawn.set(call, withdrawn);
    return needs(async () => {
      await this.#writer.busy;
      // Memory can be ahead of the store, and a read alone would never let the store catch up.
      await this.#writer.flushed();
      await withdrawn.read();
    });
  }

  /**
   * The counselor's choices, after a check that the counselor may make them. The right to approve
   * does not include every choice.
   */
  async #checkAnswers(
    pendingId: Hash,
    pending: PendingPayload,
    input: ApprovalInput,
    waiting: PendingProposal,
  ): Promise<CounselorAnswers> {
    if (!isAnswering(input)) return { call: input };
    const { context, parts } = this.#writer;
    const { principal, answers = [] } = input;
    const submitted = await submittedRequests(pending, context.replayer);
    return {
      call: input,
      answers: answers.map(({ request, winner }) => ({ request, winner, judge: pendingId, approver: principal })),
      mayAnswer: (question) => {
        if (requireFactStore(this.#beliefs).isJudged(question)) throw changedVoteError(principal, question);
        if (submitted?.has(question.request) === false) throw notSubmittedError(pendingId, question);
        const channel = parts.domain.memory?.predicates[question.predicate]?.channel ?? ANY_COUNSELOR;
        counselorKind(parts.domain, channel, principal, waiting.requesters, seenOf(waiting));
      },
    };
  }

  /** The partitions that lose facts, if the proposal is an erasure. */
  async #losing({ intent }: PendingProposal): Promise<readonly ErasedPartition[]> {
    const values = intent.action === ERASE_ACTION ? erasureArgs(intent.args)?.values : undefined;
    return values === undefined ? [] : partitionsToErase(this.#writer.context, this.#writer.id, values);
  }

  /** The effects of the proposal, once no earlier transaction blocks their scopes. */
  async #resumeEffects(pending: PendingPayload): Promise<ResumedTransaction | undefined> {
    if (pending.proposal.delta.effects.length === 0) return undefined;
    const { id, parts } = this.#writer;
    const { subject } = parts.writs.present(pending.proposal.writ_id).writ;
    return resumeApproved(requireToolsFor(this.#effects), id, parts.domain, { pending, principal: subject });
  }

  /** The costs of the recorded calls, for a judgement. */
  async #plannedOnly(pending: PendingPayload): Promise<CommitPlan | undefined> {
    if (pending.proposal.delta.effects.length === 0) return undefined;
    const { parts, context } = this.#writer;
    const effects = requireToolsFor(this.#effects);
    return this.#writer.readValues(() =>
      planOfPending(effects, parts.domain, pending, (hash) => context.store.blob(hash)),
    );
  }

  async reject(pendingId: Hash, given: RejectionInput): Promise<Ruling> {
    const writer = this.#writer;
    const input = checkedResolution(given, REJECTION, ['principal', 'method', 'reason']);
    return this.#resolve(
      pendingId,
      input,
      (action) => ({ step: 'rejection', id: pendingId, action, principal: input.principal }),
      async (pending) => {
        const writ = writer.parts.writs.present(pending.proposal.writ_id);
        const seen = await writer.readValues(() => readSeenProposal(pending, writer.context.replayer));
        return (at) => {
          const as = counselorKind(writer.parts.domain, pending.channel, input.principal, holdersOf(writ), seen);
          const counselor = { principal: input.principal, as, method: input.method };
          const resolution = { reason: 'counselor_rejected', detail: input.reason, counselor } as const;
          return this.#refuse(pendingId, pending, at, resolution, { undelayed: true });
        };
      },
      { undelayed: true },
    );
  }

  /** The requester of a pending proposal, and those of the principals that may decide about it. */
  async decidersAmong(pending: PendingPayload, principals: readonly string[]): Promise<Deciders> {
    const { parts, context } = this.#writer;
    const holders = holdersOf(parts.writs.present(pending.proposal.writ_id));
    const seen = await this.#writer.readValues(() => readSeenProposal(pending, context.replayer));
    const given = approvalsOf(pending).given;
    const may = (principal: string): boolean => {
      if (given.some((one) => isSamePrincipal(one.principal, principal))) return false;
      try {
        counselorKind(parts.domain, pending.channel, principal, holders, seen);
        return true;
      } catch (error) {
        if (isAssizeError(error, 'unauthorised_counselor')) return false;
        throw error;
      }
    };
    const named = (): NamedRun => ({ step: 'counselors', id: pending.digest, action: pending.proposal.action.name });
    const deciders = this.#writer.watched(named, () => principals.filter(may));
    return { requester: holders[0] ?? '', deciders };
  }

  /** Whether a pending proposal has expired by now. A halted trajectory records no expiry. */
  hasExpired(): boolean {
    return this.#expired(1).length > 0;
  }

  /** Whether the pending proposal that freezes the whole state has expired by now. */
  hasExpiredFreeze(): boolean {
    return this.#expiredFreeze(this.#writer.parts.chain) !== undefined;
  }

  /** Records all expired proposals, until memory turns out to be stale. */
  async recordExpired(): Promise<void> {
    while (!this.#writer.stale && this.hasExpired()) await this.recordSomeExpired();
  }

  /**
   * Records a group of expired proposals in one batch: the freeze of the whole state, then the
   * earliest expiries. Concurrent callers wait for the same batch. Later callers record the rest,
   * which freezes nothing meanwhile.
   */
  recordSomeExpired(): Promise<void> {
    this.#recording ??= this.#recordSome().finally(() => {
      this.#recording = undefined;
    });
    return this.#recording;
  }

  async #recordSome(): Promise<void> {
    const [first, ...rest] = this.#expired(EXPIRED_IN_GROUP);
    if (first === undefined) return;
    const writer = this.#writer;
    const batch = this.#expire(first);
    try {
      const closing = rest.map((expired) => ({ row: this.#expire(expired).rows[0], resolves: expired.id }));
      await writer.commit({ ...batch, rows: [batch.rows[0], ...closing.map(({ row }) => row)], closing });
    } catch (error) {
      // Memory may have entries that the store never gets.
      writer.stale = true;
      throw error;
    }
  }

  #expired(most: number): readonly ExpiredPending[] {
    const { chain } = this.#writer.parts;
    if (chain.open.size === 0 || chain.halted !== undefined) return [];
    const at = this.#writer.now();
    const freeze = this.#expiredFreeze(chain);
    const others = chain.open.dueAt(at, most).filter(([id]) => id !== freeze?.[0]);
    const due = freeze === undefined ? others : [freeze, ...others].slice(0, most);
    return due.map(([id, pending]) => ({ id, pending, at }));
  }

  #expiredFreeze({ open, halted }: Chain): readonly [Hash, PendingPayload] | undefined {
    const { freezing } = open;
    if (freezing === undefined || halted !== undefined) return undefined;
    const pending = open.get(freezing) as PendingPayload;
    return isExpired(pending, this.#writer.now()) ? [freezing, pending] : undefined;
  }

  #expire({ id, pending, at }: ExpiredPending, moves: Undelayed = {}): PreparedCommit<Ruling> {
    return this.#refuse(id, pending, at, { reason: 'expired', detail: expiredDetail(pending) }, moves);
  }

  /** `expired`: the end of a proposal that expired first. Default: recorded as such. */
  #resolve<Answer = Ruling>(
    pendingId: Hash,
    input: Resolution,
    named: (action: string) => NamedRun,
    prepare: (pending: PendingPayload) => Promise<ResolutionStep<Answer>>,
    moves: Undelayed = {},
    expired: (due: ExpiredPending) => Ruled<Answer> = (due) => this.#expire(due, moves) as Ruled<Answer>,
  ): Promise<Answer> {
    const writer = this.#writer;
    const isOpen = (): boolean => writer.parts.chain.open.has(pendingId);
    const plan = async (): Promise<RulingStep<Answer> | undefined> => {
      if (!isOpen()) {
        if (await writer.isBehind()) return undefined;
        throw notPending(pendingId, await this.#endOf(pendingId), isAnswering(input));
      }
      if (!moves.undelayed) writer.refuseIfHalted();
      const step = await prepare(this.#pendingOf(pendingId, input));
      return () => {
        // The proposal may have been resolved while the step was being prepared.
        if (!isOpen()) return undefined;
        if (!moves.undelayed) writer.refuseIfHalted();
        const pending = this.#pendingOf(pendingId, input);
        const at = moves.undelayed ? writer.undelayedNow() : writer.now();
        if (isExpired(pending, at)) return expired({ id: pendingId, pending, at });
        return writer.runRuling(
          () => named(pending.proposal.action.name),
          () => step(at),
        );
      };
    };
    // Another process committed first with the same effect keys. The outcome of the proposal is the
    // better answer.
    return untilCommitted(writer, plan, (error) => isCollision(error) && !isOpen());
  }

  #refuse(
    pendingId: Hash,
    pending: PendingPayload,
    at: Instant,
    resolution: Parameters<typeof resolutionPayload>[3],
    moves: Undelayed,
  ): PreparedCommit<Ruling> {
    return this.#resolved(resolutionPayload(this.#writer.nextPosition(at), pendingId, pending, resolution), moves);
  }

  /** Applies a resolution that changes no state. */
  #resolved(resolution: Payload, moves: Undelayed = {}): PreparedCommit<Ruling> {
    const { row, payload, batch } = this.#writer.apply(() => resolution, moves);
    return { ...batch, blobs: [], answer: rulingFrom(row, payload) };
  }

  /**
   * The outcome of a pending proposal, followed through all its approvals. Undefined if it was
   * never pending, or if the store cannot tell yet.
   */
  async #endOf(pendingId: Hash): Promise<PendingOutcome | undefined> {
    if (!isHash(pendingId)) return undefined;
    const { id: trajectoryId, context } = this.#writer;
    for (let id = pendingId; ; ) {
      const { chain, requests } = this.#writer.parts;
      const next = chain.open.inPlaceOf(id);
      if (next !== undefined) return { now: next[0], approvals: next[1].approvals ?? 1 };
      const seq = requests.seqOf(id);
      const [row] = seq === undefined ? [] : await context.store.entries(trajectoryId, { from: seq, limit: 1 });
      const payload = row === undefined ? undefined : readRow(row).payload;
      if (row === undefined || payload === undefined || !('resolves' in payload) || payload.resolves !== id)
        return undefined;
      if (payload.kind !== 'pending_approval') return { by: row.id, payload };
      id = row.id;
    }
  }

  #pendingOf(id: Hash, input: Resolution): PendingPayload {
    const pending = this.#writer.parts.chain.open.get(id) as PendingPayload;
    if (isEffectPending(pending)) throw effectUnresolvedError(id, pending);
    if (
      digestOf(pending.proposal) !== pending.digest ||
      (input.digest !== undefined && input.digest !== pending.digest)
    ) {
      throw new RuntimeError(
        'digest_mismatch',
        `The pending proposal ${id} is not the proposal that was shown. Review it again and approve its digest.`,
        {
          evidence: { shown: input.digest, pending: pending.digest },
        },
      );
    }
    return pending;
  }
}

/**
 * The difference if a proposal that reserved only its changes would now do something else. Other
 * freezes leave no such difference, and a missing authority is none: it stays an error.
 */
function conflictOf({ freeze }: Domain, { freezes }: PendingPayload, error: unknown): string | undefined {
  if (freeze !== 'reserve' || freezes === 'world' || !isAssizeError(error, 'changed_since')) return undefined;
  const { difference } = error.evidence;
  return typeof difference === 'string' ? difference : undefined;
}

function expiredDetail({ expires }: PendingPayload): string {
  return `the proposal was not resolved before ${expires}`;
}

function expiredJudgement({ pending }: ExpiredPending): { readonly unrecorded: Judgement } {
  return { unrecorded: { ruling: 'rejected', reason: 'expired', detail: expiredDetail(pending) } };
}

/** @throws RuntimeError `bad_option` */
function requireToolsFor(effects: TransactionEngines | undefined): TransactionEngines {
  if (effects !== undefined) return effects;
  throw new RuntimeError(
    'bad_option',
    'The pending proposal uses tools. Open the runtime with `tools` to approve it (on the command line: --tools FILE).',
  );
}

/** An approval with the proposal that it is about, read from the ledger. */
interface AskedApproval {
  readonly pendingId: Hash;
  readonly pending: PendingPayload;
  readonly input: ApprovalInput;
  readonly writ: WritChain;
  readonly waiting: PendingProposal;
  readonly chosen: CounselorAnswers;
}

/** The same with the effects of the commit, and the partitions that an erasure takes facts from. */
interface JudgedApproval extends AskedApproval {
  readonly losing: readonly ErasedPartition[];
  readonly acting: CommitPlan | undefined;
  /** Whether the ruling is only foreseen. */
  readonly isJudgement?: boolean;
}

/** The change as memory has it, with the planned facts. */
interface ApprovedChange {
  readonly commit: CounselorCommit;
  readonly believed?: PlannedBeliefs | undefined;
}

interface ConflictingChange {
  readonly conflict: string;
  /** The kind of the counselor. */
  readonly as: string;
}

/** Whether no clock may delay the resolution. */
type Undelayed = Pick<Moves, 'undelayed'>;

const ANSWER_FAULTS: ReadonlySet<string> = new Set(['unknown_member', 'repeated_answer', 'bad_text']);

/**
 * The proposal is not submitted anew with current facts. An entry exists only for an intent or for
 * a resolution (docs/decisions/003-what-writes-an-entry.md). A pending proposal is submitted again
 * only unchanged (`ledger/rules/approvals.ts`).
 */
function staleAnswer(pendingId: Hash, { evidence }: AssizeError): MemoryError {
  return new MemoryError(
    'stale_answer',
    `The question of ${pendingId} is out of date, because the facts have changed since. Approve it without answers, or reject it and propose it again under a new idempotency key.`,
    { evidence: { ...evidence, id: pendingId } },
  );
}

type CounselorAnswers = Pick<StatementContext, 'call' | 'answers' | 'mayAnswer' | 'isJudgement'>;

/**
 * An entry that is not the last approval stores no answers. So the next counselor's answers could
 * not be compared with them.
 */
function answersTooEarly(pendingId: Hash, pending: PendingPayload): RuntimeError {
  const { needed, given } = approvalsOf(pending);
  return new RuntimeError(
    'bad_intent',
    `The proposal ${pendingId} needs ${needed} approvals, and this is number ${given.length + 1}; only the last approval has answers. Approve it without answers.`,
    { evidence: { id: pendingId } },
  );
}

/**
 * Answers show that the counselor expects questions. Without an error the counselor would not learn
 * that there are none.
 */
function asksNothing(pendingId: Hash): RuntimeError {
  return new RuntimeError(
    'bad_intent',
    `The proposal ${pendingId} has no questions, because none of its statements can be contradicted. Review it again and approve it without answers.`,
    { evidence: { id: pendingId } },
  );
}

/** The log may have a vote already, and a question is never decided twice. */
function changedVoteError(principal: string, { predicate, request }: Question): KernelError {
  return new KernelError(
    'unauthorised_counselor',
    `${principal} cannot answer ${request}, because the judge decides contradictions of ${predicate}. Approve the proposal without an answer to ${request}.`,
    { evidence: { principal, request } },
  );
}

function notSubmittedError(pendingId: Hash, { predicate, request }: Question): KernelError {
  return new KernelError(
    'changed_since',
    `The proposal ${pendingId} did not ask ${request} (${predicate}) when it was submitted: the facts have changed, or the judge of another process decides it. ${PROPOSE_AGAIN_HINT}.`,
    { evidence: { id: pendingId, request } },
  );
}

function unanswered(pendingId: Hash, questions: readonly Question[]): RuntimeError {
  const requests = questions.map(({ request }) => request);
  return new RuntimeError(
    'answers_needed',
    `The proposal ${pendingId} contradicts current facts. Approve it with an answer to each question (${requests.join(', ')}); on the command line, pass --answer N, with the number of a claim in assize pending. If these questions were not shown: ${PROPOSE_AGAIN_HINT}.`,
    { evidence: { id: pendingId, requests } },
  );
}

/** The errors for statements that do not fit the current facts. */
interface StatementErrors {
  unanswered(pendingId: Hash, questions: readonly Question[]): Error;
  refused(why: string): Error;
}

const UNCHANGED: StatementErrors = {
  unanswered,
  refused: (why) =>
    new KernelError(
      'changed_since',
      `The statements of the proposal do not fit the current facts: ${why}. ${PROPOSE_AGAIN_HINT}.`,
    ),
};

const AMENDED: StatementErrors = {
  unanswered: () =>
    invalidAmendment(
      'The amended statements contradict current facts, and an amendment has no answers. Amend it otherwise, or reject it.',
    ),
  refused: (why) =>
    invalidAmendment(`The amended statements do not fit the current facts: ${why}. Amend it otherwise, or reject it.`),
};

/**
 * The cost of the tools' earlier reads was paid then, and is recorded only in the submitted
 * proposal.
 */
function submittedCost(authority: Authority, acting: CommitPlan | undefined, { proposal }: PendingPayload): Authority {
  const asked = withTools(authority, acting);
  if (!hasToolObservation(proposal.observations)) return asked;
  const { cost = {}, undoCost = {} } = acting ?? {};
  const total = (own: Cost): Cost => greatest(sum(own, cost), proposal.budget_cost);
  return { ...asked, affords: (own) => authority.affords(sum(total(own), undoCost)) };
}

function greatest(one: Cost, other: Cost): Cost {
  const units = Object.keys({ ...one, ...other });
  return Object.fromEntries(units.map((unit) => [unit, Math.max(one[unit] ?? 0, other[unit] ?? 0)]));
}

/** The submitted cost is booked. The budgets were checked for the current cost. */
function checkCost({ proposal }: PendingPayload, cost: Cost): void {
  const isLess = hasToolObservation(proposal.observations);
  const [then, now] = [proposal.budget_cost, isLess ? greatest(cost, proposal.budget_cost) : cost].map((each) =>
    canonicalize(each),
  );
  if (then === now) return;
  throw new KernelError(
    'changed_since',
    `The proposal has changed since it was submitted: its cost is now ${now}, not ${then}. ${PROPOSE_AGAIN_HINT}.`,
  );
}

/**
 * The outcome of an id that is no longer pending, or the id of the proposal's current pending
 * entry.
 */
type PendingOutcome =
  | { readonly now: Hash; readonly approvals: number }
  | { readonly by: Hash; readonly payload: Extract<Payload, { kind: 'commit' | 'rejection' }> };

export function effectUnresolvedError(id: Hash, pending: EffectPendingPayload): RuntimeError {
  const { epoch, n, tool } = pendingEffectOf(pending);
  return new RuntimeError(
    'effect_unresolved',
    `${id} is an unresolved effect (${tool}, effect ${n} of transaction ${epoch}), not a proposal. Resolve it with resolveEffect (assize effects resolve ${epoch} ${n}).`,
    { evidence: { id, epoch, n } },
  );
}

/** `answers`: the approval came with answers to questions. */
function notPending(given: unknown, end: PendingOutcome | undefined, answers: boolean): RuntimeError | MemoryError {
  const id = typeof given === 'string' ? given : `a value of type ${typeof given}`;
  const evidence = end === undefined ? { id } : 'now' in end ? { id, now: end.now } : { id, by: end.by };
  if (answers && end !== undefined && 'by' in end)
    return new MemoryError(
      'stale_callback',
      `${approvalProgress(id, end)}, so the answer has no effect. Assert the fact again to ask the question anew.`,
      { evidence },
    );
  const advice = typeof given === 'object' ? ' Pass ruling.pending, not the ruling.' : '';
  return new RuntimeError('not_pending', `${approvalProgress(id, end)}.${advice}`, { evidence });
}

function isAnswering(input: Resolution & { readonly answers?: readonly unknown[] }): boolean {
  return input.answers !== undefined && input.answers.length > 0;
}

/** How a pending proposal ends without a commit, before the words `by` and the counselor. */
const REJECTED_AS: { readonly [reason: string]: string } = {
  counselor_rejected: 'was rejected',
  conflict: 'had a conflict when it was approved',
  expired: 'has expired',
  upgraded: 'was closed by an upgrade',
};

function approvalProgress(id: string, end: PendingOutcome | undefined): string {
  if (end === undefined)
    return `No proposal ${id} is pending: it was resolved earlier, or never submitted. Pass the id that a ruling returned as \`pending\``;
  if ('now' in end)
    return `Another approver has approved ${id}, which needs ${end.approvals} approvals: the proposal is now pending as ${end.now}`;
  const { kind, counselor } = end.payload;
  if (isSettlement(end.payload)) return `The effect ${id} is no longer pending: it was resolved in ${end.by}`;
  const what = kind === 'commit' ? 'was approved' : REJECTED_AS[end.payload.reason];
  const by = counselor === undefined ? '' : ` by ${counselor.principal}`;
  return `The proposal ${id} is no longer pending: it ${what}${by}, at ${end.payload.at}, in ${end.by}`;
}
