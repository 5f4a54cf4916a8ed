import { writId } from '#authority';
import { isAssizeError, TransientMap } from '#base';
import { addMicros } from '#canon';
import { EffectError } from '#effects';
import {
  adjudicate,
  type Domain,
  type InputCall,
  type Ruling as Judgement,
  type Pattern,
  type ProposedCall,
  plannedCalls,
} from '#kernel';
import { type EntryRow, type Hash, type Instant, type Payload, readRow } from '#ledger';
import type { PendingStatus } from '../approve/approvals.ts';
import type { Resolutions } from '../approve/approve.ts';
import { verified, type WritChain } from '../authority/writs.ts';
import { concluded, RuntimeError } from '../errors.ts';
import type { ErasedPartition } from '../memory/plan/close-erased.ts';
import { type BeliefPlanner, type PlannedBeliefs, requireFactStore } from '../memory/plan/plan-beliefs.ts';
import { escalateForAnswers } from '../memory/plan/questions.ts';
import type { EffectOutcome } from '../records/effect-outcome.ts';
import { batchErasureOf, commitPayload, pendingPayload, rejectionPayload } from '../records/entry-payloads.ts';
import {
  checkProposal,
  type GatheredProposal,
  isForFailure,
  keyHashOf,
  type ProposalInput,
  proposalIdOf,
  readProposal,
  underWrit,
} from '../records/intent.ts';
import { type Judgement as Foreseen, judgementOf, refusedBy } from '../records/judgement.ts';
import { type NeedsFacts, needs } from '../records/needs.ts';
import { PayloadBlobs } from '../records/payload-blobs.ts';
import { checkObserved } from '../records/pending-proposal.ts';
import type { Proposer } from '../records/proposer.ts';
import type { PendingQuestions } from '../records/questions.ts';
import { randomHex } from '../records/random-hex.ts';
import { type Ruling, rulingFrom, rulingOf, withFindings } from '../records/ruling.ts';
import { SaltSource } from '../records/salt-source.ts';
import { type CommitPlan, checkBufferedTools, withTools } from '../records/tool-authority.ts';
import { withOutcomes } from '../transactions/body/await-outcome.ts';
import { proposeCalls } from '../transactions/body/declared-calls.ts';
import { planOnly } from '../transactions/body/plan-only.ts';
import { requireTools } from '../transactions/body/run-transaction.ts';
import { DEADLINE_MS } from '../transactions/body/transaction-options.ts';
import type { TransactionEngines } from '../transactions/engine/engines.ts';
import type { NamedRun } from '../writer/domain-watch.ts';
import { frozenByReservations, frozenByRules, frozenFor, frozenPatterns } from '../writer/freeze.ts';
import { COMMIT_ATTEMPTS_MAX, type PreparedCommit } from '../writer/prepared.ts';
import { requestKeyOf } from '../writer/request-index.ts';
import type { OpenReservation } from '../writer/reservations.ts';
import type { TurnScopedPorts } from '../writer/turn-ports.ts';
import { type RulingStep, type Unrecorded, untilCommitted } from '../writer/until-committed.ts';
import type { Writer } from '../writer/writer.ts';
import { Precondition } from './precondition.ts';

/** A proposal without the terms of its submission. */
export type ForeseenProposal = Omit<ProposalInput, 'idempotencyKey' | 'precondition'>;

interface RulingOptions {
  /** The runtime has made the arguments. */
  readonly builtIn?: boolean;
  /** The partitions that lose facts in an erasure. */
  readonly erasedPartitions?: readonly ErasedPartition[];
  readonly precondition?: Precondition | undefined;
  /**
   * The start of valid time for statements without a time of their own. Default: the time of the
   * ruling.
   */
  readonly assertedAt?: Instant | undefined;
  /** The randomness for all attempts. */
  readonly salts?: SaltSource;
  /**
   * The ruling is only foreseen: no judge of contradictions is asked. `stateOnly`: the statements
   * are not compared with facts, because only the current ones are known.
   */
  readonly foreseen?: 'completely' | 'stateOnly' | undefined;
}

/** A ruling that is not recorded yet. */
interface JudgedProposal {
  readonly judged: Judgement;
  readonly believed?: PlannedBeliefs;
  readonly at: Instant;
  readonly kept: PayloadBlobs;
  readonly unstored: ReturnType<Writer['parts']['writs']['unstored']>;
}

/**
 * From an intent to a durable ruling. The intent is gathered once and adjudicated on the current
 * head, again after another writer appended first.
 */
export class Proposals implements Proposer {
  readonly #writer: Writer;
  readonly #beliefs: BeliefPlanner | undefined;
  readonly #resolutions: Resolutions;
  readonly #effects: TransactionEngines | undefined;
  readonly #turn: Pick<TurnScopedPorts, 'unsalted' | 'isTurn'>;
  /**
   * Awaited rulings, by the hash of the caller's key: a concurrent repetition gets the same ruling.
   */
  readonly #inFlight: TransientMap<Hash, { readonly proposalId: Hash; readonly ruling: Promise<Ruling> }> =
    new TransientMap();

  constructor(
    writer: Writer,
    beliefs: BeliefPlanner | undefined,
    resolutions: Resolutions,
    effects: TransactionEngines | undefined,
    turn: Pick<TurnScopedPorts, 'unsalted' | 'isTurn'>,
  ) {
    this.#writer = writer;
    this.#beliefs = beliefs;
    this.#resolutions = resolutions;
    this.#effects = effects;
    this.#turn = turn;
  }

  /**
   * `acting`: the effects of tools. The key then belongs to a transaction. Its body may have made
   * another proposal before.
   */
  async propose(input: ProposalInput, acting?: CommitPlan): Promise<Ruling> {
    checkProposal(input);
    const { id: trajectoryId, context } = this.#writer;
    const { precondition, writ, idempotencyKey: key } = input;
    const unchanged = precondition === undefined ? undefined : new Precondition(this.#writer, precondition);
    const nonce = key ?? randomHex(context.random, 16);
    const { unsalted, isTurn } = this.#turn;
    const isRead = acting !== undefined;
    const isOwn = isRead || isForFailure(key);
    const { domain } = this.#writer.parts;
    const read = readProposal(input, { domain, trajectoryId, nonce, unsalted, isOwn, isRead, isTurn });
    if (this.#writer.isLikelyStale) await this.#writer.refresh();
    let presented: WritChain;
    try {
      presented = this.#present(writ);
    } catch (error) {
      // An error is not recorded, so no append would show that another process has brought the writ
      // here.
      if (!isAssizeError(error) || !(await this.#writer.isBehind())) throw error;
      await this.#writer.ready();
      presented = this.#present(writ);
    }
    const gathered = underWrit(read, presented, acting);
    const byKey = gathered.observations
      .map(({ unsalted }) => unsalted)
      .filter(({ oracle_key }) => oracle_key !== undefined);
    if (byKey.length > 0) await checkObserved(byKey, context.oracle);
    const { proposalId, keyHash } = gathered;
    const insist = (): Promise<Ruling> => {
      const ruling =
        acting === undefined
          ? this.#untilCallsRuled(gathered, key, unchanged)
          : this.#untilRuled(gathered, key, unchanged);
      return unchanged === undefined ? ruling : ruling.finally(() => unchanged.dispose());
    };
    if (keyHash === undefined) return await insist();
    let underWay = this.#inFlight.get(keyHash);
    while (underWay !== undefined) {
      if (underWay.proposalId === proposalId) return underWay.ruling;
      // The key may belong to this proposal, and the other one gets an error then.
      await underWay.ruling.catch(() => undefined);
      underWay = this.#inFlight.get(keyHash);
    }
    const ruling = insist().finally(() => this.#inFlight.delete(keyHash));
    this.#inFlight.set(keyHash, { proposalId, ruling });
    return ruling;
  }

  /** The id of a proposal with a key, as `propose` gives it. */
  idOf(input: ProposalInput): Hash {
    checkProposal(input);
    const { id: trajectoryId, parts } = this.#writer;
    const { unsalted, isTurn } = this.#turn;
    const nonce = input.idempotencyKey ?? '';
    const place = { domain: parts.domain, trajectoryId, nonce, unsalted, isOwn: false, isRead: false, isTurn };
    return underWrit(readProposal(input, place), this.#present(input.writ), undefined).proposalId;
  }

  /** The outcomes of the calls of the proposal with a key. `statusOf`: the end of an approval. */
  async callsOf(
    key: string,
    principal: string,
    statusOf: (pendingId: Hash) => Promise<PendingStatus>,
  ): Promise<readonly EffectOutcome[]> {
    const ruling = await this.lastRuling(key, principal, statusOf);
    if (ruling?.ruling !== 'committed') return [];
    const told = await this.#withOutcomes(ruling, key);
    return told.ruling === 'committed' ? (told.calls ?? []) : [];
  }

  /** The ruling on the proposal with a key, or the end of its approval. */
  async lastRuling(
    key: string,
    principal: string,
    statusOf: (pendingId: Hash) => Promise<PendingStatus>,
  ): Promise<Ruling | undefined> {
    const ruling = await this.rulingFor(key, principal);
    if (ruling?.ruling !== 'escalated') return ruling;
    const status = await statusOf(ruling.pending);
    return status.status === 'resolved' ? status.ruling : ruling;
  }

  declaredCalls(input: ProposalInput): readonly ProposedCall[] {
    const { id: trajectoryId, parts } = this.#writer;
    const { domain } = parts;
    if (!declaresCalls(domain, input.action)) return NO_CALLS;
    const { unsalted, isTurn } = this.#turn;
    const place = { domain, trajectoryId, nonce: '', unsalted, isOwn: true, isRead: true, isTurn };
    const read = readProposal(input, place);
    return this.#declaredCalls(underWrit(read, this.#present(input.writ), undefined));
  }

  /**
   * The ruling on an action and the calls that it declares. The calls are planned on the current
   * state, and again if the state of the ruling declares others. So they are planned also if
   * another process upgrades to a version whose action declares calls.
   */
  async #untilCallsRuled(
    gathered: GatheredProposal,
    key: string | undefined,
    precondition: Precondition | undefined,
  ): Promise<Ruling> {
    const writer = this.#writer;
    for (let tries = 0; tries < COMMIT_ATTEMPTS_MAX; tries++) {
      if (writer.stale) await writer.ready();
      const isDeclaring = declaresCalls(writer.parts.domain, gathered.intent.action);
      // A repetition gets the outcomes of its calls, also while one in doubt blocks new calls.
      const before = isDeclaring ? await this.#previousRuling(gathered, key) : undefined;
      if (before !== undefined && before.ruling !== 'escalated') return this.#withOutcomes(before, key);
      const calls = isDeclaring ? this.#declaredCalls(gathered) : NO_CALLS;
      let isCalled = false;
      try {
        const ruling =
          calls.length === 0
            ? await this.#untilRuled(gathered, key, precondition)
            : await proposeCalls(
                writer,
                this.#effects,
                { ...gathered, isForFailure: isForFailure(key) },
                calls,
                (plan) => {
                  isCalled = true;
                  return this.#untilRuled(
                    { ...gathered, commitPlan: { ...plan, isProposed: true } },
                    key,
                    precondition,
                  );
                },
              );
        return isDeclaring ? await this.#withOutcomes(ruling, key) : ruling;
      } catch (error) {
        if (!isAssizeError(error, 'stale') || !(isCalled || calls.length === 0)) throw error;
      }
    }
    throw await writer.conflictError();
  }

  /** The calls that the action declares on the current state. None if the proposal is refused. */
  #declaredCalls(gathered: GatheredProposal): readonly ProposedCall[] {
    const { intent, observed, writ, principal } = gathered;
    const writer = this.#writer;
    const { world, chain, domain } = writer.parts;
    if (frozenFor(chain, domain, intent, writer.now()) !== undefined) return NO_CALLS;
    const plan = (): readonly ProposedCall[] => {
      const at = writer.now();
      return plannedCalls(world, intent, writer.authority(writ, principal, at), { at, observations: observed });
    };
    return writer.runRuling(() => runOf(gathered, writer.id), plan);
  }

  /**
   * The ruling that a proposal would get now, and the change that it would record. Nothing is
   * written, and no tool is called. A proposal before an expired approval is recorded counts it as
   * ended.
   */
  async foresee(input: ForeseenProposal): Promise<Foreseen> {
    const gathered = await this.#gathered(input);
    return this.#foreseen(gathered, 'completely', (step) => untilCommitted(this.#writer, () => step));
  }

  /**
   * The same on the memory that this object was made with, which never moves. Statements are not
   * compared with facts.
   */
  async foreseeHere(input: ForeseenProposal): Promise<Foreseen> {
    const gathered = await this.#gathered(input);
    return this.#foreseen(gathered, 'stateOnly', async (step) => {
      for (;;) {
        const ruled = step();
        if (ruled !== undefined && 'unrecorded' in ruled) return ruled.unrecorded;
        if (ruled !== undefined && 'needs' in ruled) await ruled.needs();
      }
    });
  }

  async #gathered(input: ForeseenProposal): Promise<GatheredProposal> {
    checkProposal(input);
    const { id: trajectoryId, context } = this.#writer;
    const { unsalted, isTurn } = this.#turn;
    const { domain } = this.#writer.parts;
    const place = { domain, trajectoryId, nonce: '', unsalted, isOwn: false, isRead: false, isTurn };
    const gathered = underWrit(readProposal(input, place), this.#present(input.writ), undefined);
    const byKey = gathered.observations
      .map(({ unsalted }) => unsalted)
      .filter(({ oracle_key }) => oracle_key !== undefined);
    if (byKey.length > 0) await checkObserved(byKey, context.oracle);
    return gathered;
  }

  async #foreseen(
    gathered: GatheredProposal,
    foreseen: RulingOptions['foreseen'],
    run: (step: RulingStep<Foreseen>) => Promise<Foreseen>,
  ): Promise<Foreseen> {
    const writer = this.#writer;
    const { action } = gathered.intent;
    for (let tries = 0; tries < COMMIT_ATTEMPTS_MAX; tries++) {
      while (writer.busy !== undefined) await writer.busy;
      if (writer.stale) await writer.ready();
      try {
        const calls = declaresCalls(writer.parts.domain, action) ? this.#declaredCalls(gathered) : NO_CALLS;
        const commitPlan =
          calls.length === 0
            ? undefined
            : await planOnly(
                requireTools(this.#effects),
                calls,
                writer.parts.domain,
                action,
                AbortSignal.timeout(DEADLINE_MS),
              );
        return await run(this.#foreseeingStep({ ...gathered, commitPlan }, foreseen));
      } catch (error) {
        if (!isAssizeError(error, 'stale') || error.retryable !== true)
          return refusedBy(error, writer.parts.domain, undefined);
      }
    }
    throw await writer.conflictError();
  }

  #foreseeingStep(gathered: GatheredProposal, foreseen: RulingOptions['foreseen']): RulingStep<Foreseen> {
    const writer = this.#writer;
    const salts = new SaltSource(writer.context.random);
    let assertedAt: Instant | undefined;
    return () => {
      const { busy } = writer;
      if (busy !== undefined) return { needs: () => busy };
      return writer.runRuling(
        () => runOf(gathered, writer.id),
        () => {
          const step = this.#judged(gathered, { salts, foreseen, assertedAt });
          if ('needs' in step)
            return {
              needs: async () => {
                const said = await step.needs();
                assertedAt ??= said;
              },
            };
          if ('unrecorded' in step) return { unrecorded: step.unrecorded as Extract<Foreseen, { ruling: 'frozen' }> };
          const { judged } = step;
          // A proposal that is recorded comes after the expired ones, which make room.
          if (judged.verdict === 'escalated' && !this.#resolutions.hasExpired()) this.#queueFull(gathered.writ);
          const answer = judgementOf(judged, gathered.commitPlan, writer.parts.domain, gathered.intent);
          if (judged.verdict === 'approved') judged.undo();
          return { unrecorded: answer };
        },
      );
    };
  }

  /** Adds the outcomes of the calls to the ruling of a repeated key. */
  #withOutcomes(ruling: Ruling, key: string | undefined): Promise<Ruling> | Ruling {
    return key === undefined ? ruling : withOutcomes(ruling, this.#effects, this.#writer.context.store);
  }

  #untilRuled(
    gathered: GatheredProposal,
    key: string | undefined,
    precondition: Precondition | undefined,
  ): Promise<Ruling> {
    const writer = this.#writer;
    const salts = new SaltSource(writer.context.random);
    let assertedAt: Instant | undefined;
    const rule: RulingStep<Ruling> = () => {
      const { busy } = writer;
      if (busy !== undefined) return { needs: () => busy };
      if (precondition?.isOutdated || this.#resolutions.hasExpiredFreeze()) return undefined;
      const ruled = this.rule(gathered, { precondition, assertedAt, salts });
      if (!('needs' in ruled)) return ruled;
      return {
        needs: async () => {
          const said = await ruled.needs();
          assertedAt ??= said;
        },
      };
    };
    const readsNothing = gathered.keyHash === undefined && precondition === undefined;
    const plan = async (): Promise<RulingStep<Ruling> | { readonly answer: Ruling } | undefined> => {
      while (writer.busy !== undefined) await writer.busy;
      if (writer.stale) await writer.ready();
      const { parts } = writer;
      const before = await this.#previousRuling(gathered, key);
      if (before !== undefined) {
        // The pending proposal may have been resolved in another process.
        const isStale = before.ruling === 'escalated' && (await writer.isBehind(parts));
        return isStale ? undefined : { answer: before };
      }
      if (writer.stale) return undefined;
      if (gathered.invalidObservationName !== undefined) throw gathered.invalidObservationName;
      await precondition?.load();
      await this.#resolutions.recordSomeExpired();
      return rule;
    };
    return untilCommitted(writer, () => (readsNothing && !this.#hasExpired() ? rule : plan()));
  }

  /** Whether expired proposals must be recorded first. */
  #hasExpired(): boolean {
    return this.#writer.busy === undefined && this.#resolutions.hasExpired();
  }

  #present(given: ProposalInput['writ']): WritChain {
    const { parts, context } = this.#writer;
    const writ = parts.writs.present(given);
    // An intent under a writ that leads to no anchor has no requester, and leaves no entry
    // (docs/decisions/003-what-writes-an-entry.md).
    verified(context.verifier, writ, parts.writs.delegated);
    return writ;
  }

  /** The ruling on the proposal with that key. @throws RuntimeError `idempotency_conflict` */
  async #previousRuling(gathered: GatheredProposal, key: string | undefined): Promise<Ruling | undefined> {
    const { keyHash, proposalId } = gathered;
    const { id, parts, context } = this.#writer;
    if (keyHash === undefined || key === undefined) return undefined;
    const seq = parts.requests.seqOf(keyHash);
    if (seq === undefined) return context.sourceRulings.isRoot(id) ? undefined : this.#sourceRuling(gathered, key);
    // The entry that rules on it may still be in flight, or lost on its way to the store.
    await this.#writer.flushed();
    if (this.#writer.stale) return undefined;
    const [row] = await context.store.entries(id, { from: seq, limit: 1 });
    const keyed = row === undefined ? undefined : requestKeyOf(row);
    // Another entry is at that seq: memory is stale, and the append will report it.
    if (row === undefined || keyed?.keyHash !== keyHash) return undefined;
    if (keyed?.proposalId !== proposalId && isOfProposal(gathered)) throw usedForAnother(key, row);
    return withFindings(rulingOf(row), parts.domain, gathered.intent);
  }

  /**
   * The ruling that the branch has from a source. The writs of a branch are its own, so the
   * proposal is compared as under the writ of the source. @throws RuntimeError
   * `idempotency_conflict`
   */
  async #sourceRuling(gathered: GatheredProposal, key: string): Promise<Ruling | undefined> {
    const { id, context } = this.#writer;
    const found = await context.sourceRulings.find(id, key, gathered.principal);
    if (found === undefined) return undefined;
    const { payload } = readRow(found.row);
    const { trajectoryId } = found;
    const keyed = requestKeyOf(found.row);
    const isSame =
      'writ_id' in payload &&
      payload.writ_id !== undefined &&
      keyed?.proposalId === proposalIdOf(gathered, { trajectoryId, nonce: key, writ: payload.writ_id });
    if (!isSame && isOfProposal(gathered)) throw usedForAnother(key, found.row);
    return withFindings(rulingOf(found.row), this.#writer.parts.domain, gathered.intent);
  }

  /** The ruling on the transaction with that key. */
  async rulingFor(key: string, principal: string): Promise<Ruling | undefined> {
    const writer = this.#writer;
    const keyHash = keyHashOf(key, principal, writer.id);
    for (;;) {
      if (writer.stale) await writer.ready();
      const seq = writer.parts.requests.seqOf(keyHash);
      if (seq === undefined) {
        // A key without a ruling, as most keys are: no wait for appends in flight.
        if (await writer.isOvertaken()) continue;
        const { sourceRulings } = writer.context;
        const inherited = sourceRulings.isRoot(writer.id)
          ? undefined
          : await sourceRulings.find(writer.id, key, principal);
        return inherited && rulingOf(inherited.row);
      }
      await writer.flushed();
      if (writer.stale) continue;
      const [row] = await writer.context.store.entries(writer.id, { from: seq, limit: 1 });
      if (row !== undefined && requestKeyOf(row)?.keyHash === keyHash) return rulingOf(row);
      if (!(await writer.isBehind())) return undefined;
    }
  }

  // ── from here to the append nothing awaits ──

  /** `unrecorded`: an open approval blocks the proposal. `needs`: nothing has moved. */
  rule(gathered: GatheredProposal, how: RulingOptions = {}): PreparedCommit<Ruling> | Unrecorded<Ruling> | NeedsFacts {
    const writer = this.#writer;
    return writer.runRuling(
      () => runOf(gathered, writer.id),
      () => this.#rule(gathered, how),
    );
  }

  #rule(gathered: GatheredProposal, how: RulingOptions): PreparedCommit<Ruling> | Unrecorded<Ruling> | NeedsFacts {
    const step = this.#judged(gathered, how);
    if (!('judged' in step)) return step;
    const { judged, believed, at, kept, unstored } = step;
    const writer = this.#writer;
    const { domain } = writer.parts;
    const id = writId(gathered.writ.writ);
    const { commitPlan } = gathered;
    const full = judged.verdict === 'escalated' ? this.#queueFull(gathered.writ) : undefined;
    if (full !== undefined) return full;
    const waits =
      judged.verdict === 'escalated' && commitPlan?.pendingEffects !== undefined
        ? commitPlan.pendingEffects()
        : commitPlan;
    const ruled = waits === undefined || waits === commitPlan ? gathered : { ...gathered, commitPlan: waits };
    const change = judged.verdict === 'approved' ? judged : undefined;
    const moves = { change, facts: believed, writs: unstored };
    const { row, payload, batch } = writer.apply(() => this.#payload(ruled, id, judged, at, kept, believed), moves);
    const erasure = change && batchErasureOf(row.id, gathered.intent);
    const acts =
      judged.verdict === 'approved'
        ? commitPlan?.commitRecords(row.id)
        : commitPlan?.abortRecords(row.id, judged.verdict);
    const waiting = judged.verdict === 'escalated' ? waits?.blobs : undefined;
    const blobs =
      acts === undefined && waiting === undefined
        ? kept.blobs
        : [...kept.blobs, ...(waiting ?? []), ...(acts?.blobs ?? [])];
    const asked = 'asked' in judged ? (judged as PendingQuestions).asked : undefined;
    return {
      ...batch,
      blobs,
      erasure,
      effects: acts?.write,
      asked,
      answer: withFindings(rulingFrom(row, payload), domain, gathered.intent),
    };
  }

  /**
   * The ruling on the current state, up to its entry: an approved change is in memory then.
   * `unrecorded`: an open approval blocks the proposal. `needs`: nothing has moved.
   */
  #judged(
    gathered: GatheredProposal,
    {
      builtIn = false,
      erasedPartitions = [],
      precondition,
      assertedAt,
      salts = new SaltSource(this.#writer.context.random),
      foreseen,
    }: RulingOptions,
  ): JudgedProposal | Unrecorded<Ruling> | NeedsFacts {
    const writer = this.#writer;
    const { chain, domain, world, writs } = writer.parts;
    if (chain.answered !== undefined) throw concluded(writer.id, chain.answered);
    writer.refuseIfHalted();
    const at = writer.now();
    // A proposal that is recorded comes after the expiry.
    const over = foreseen !== undefined && this.#resolutions.hasExpiredFreeze() ? chain.open.freezing : undefined;
    const frozen = frozenFor(chain, domain, gathered.intent, at, over);
    if (frozen !== undefined) return { unrecorded: frozen };
    const reservations = writer.reservations.of(chain, domain, at);
    if ('needs' in reservations) return reservations;
    const { commitPlan } = gathered;
    const own = writer.authority(gathered.writ, gathered.principal, at, { committing: commitPlan?.epoch });
    const { refused, asked: askedFirst } = checkBufferedTools(own, commitPlan);
    const authority = withTools(own, commitPlan, askedFirst);
    const inputs = { at, observations: gathered.observed, calls: commitPlan?.calls ?? NO_CALLS };
    const adjudicated =
      refused ??
      adjudicate(world, gathered.intent, authority, inputs, {
        parsed: builtIn,
        conflict: () => precondition?.conflict(gathered.intent),
      });
    if (adjudicated.verdict === 'rejected' && adjudicated.outdated === true) throw outdatedCalls(adjudicated.detail);
    const stopped = undoing(adjudicated, () => this.#stopped(adjudicated, reservations, at));
    if (stopped !== undefined) return { unrecorded: stopped };
    const unstored = writs.unstored(gathered.writ);
    const kept = new PayloadBlobs(writer.context.saltGenerator(salts.restartAt(chain.head)), [
      ...gathered.blobs,
      ...unstored,
    ]);
    const planned = undoing(adjudicated, () =>
      this.#planBeliefs(adjudicated, gathered, { at, assertedAt, foreseen }, kept, erasedPartitions),
    );
    if ('needs' in planned) return planned;
    return { ...planned, at, kept, unstored };
  }

  /**
   * Refuses a proposal that would wait where too many wait already. Expired ones are recorded
   * first. @throws RuntimeError `too_many_pending`
   */
  #queueFull(writ: WritChain): NeedsFacts | undefined {
    const { context, parts, id } = this.#writer;
    const { maxPendingPerRoot } = context;
    if (maxPendingPerRoot === undefined) return undefined;
    const root = rootOf(writ);
    let open = 0;
    for (const [writId, count] of parts.chain.open.countsByWrit) {
      const proposed = parts.writs.get(writId);
      if (proposed !== undefined && rootOf(proposed) === root) open += count;
    }
    if (open < maxPendingPerRoot) return undefined;
    if (this.#resolutions.hasExpired()) return needs(() => this.#resolutions.recordSomeExpired());
    throw tooManyPending(id, root, open);
  }

  /**
   * The ruling if an open approval blocks the proposal. Only the adjudication shows that the rules
   * read paths that the approval would change. The state is then as before.
   */
  #stopped(judged: Judgement, waiting: readonly OpenReservation[], at: Instant): Ruling | undefined {
    if (judged.verdict === 'rejected') return undefined;
    const { chain, domain } = this.#writer.parts;
    if (domain.freeze === 'reserve') return frozenByReservations(chain, this.#writer.parts, judged, waiting, at);
    const judgedBy = (): readonly Pattern[] =>
      judged.verdict === 'approved' ? judged.checkedAgainst() : frozenPatterns(judged.freezes);
    const stopped = frozenByRules(chain, domain, judgedBy, at);
    if (stopped !== undefined && judged.verdict === 'approved') judged.undo();
    return stopped;
  }

  /**
   * Plans an approved proposal on the current facts. If the facts do not fit, the proposal is
   * refused or escalated.
   */
  #planBeliefs(
    judged: Judgement,
    gathered: GatheredProposal,
    {
      foreseen,
      ...when
    }: { readonly at: Instant; readonly assertedAt?: Instant | undefined } & Pick<RulingOptions, 'foreseen'>,
    kept: PayloadBlobs,
    losing: readonly ErasedPartition[],
  ): { readonly judged: Judgement; readonly believed?: PlannedBeliefs } | NeedsFacts {
    if (judged.verdict !== 'approved') return { judged };
    const { id } = this.#writer;
    if (losing.length > 0)
      return {
        judged,
        believed: requireFactStore(this.#beliefs).planErasure(losing, when.at, {
          trajectoryId: id,
          generation: this.#writer.generation,
        }),
      };
    if (judged.compiled.statements.length === 0 || foreseen === 'stateOnly') return { judged };
    const { domain } = this.#writer.parts;
    const planned = requireFactStore(this.#beliefs).plan({
      call: gathered,
      generation: this.#writer.generation,
      compiled: judged.compiled,
      proposalId: gathered.proposalId,
      trajectoryId: id,
      ...when,
      predicates: domain.memory?.predicates ?? {},
      blobs: kept,
      isJudgement: foreseen !== undefined,
    });
    if (planned !== undefined && 'needs' in planned) {
      judged.undo();
      return planned;
    }
    if (planned === undefined || 'changes' in planned) return { judged, ...(planned && { believed: planned }) };
    if ('questions' in planned) return { judged: escalateForAnswers(domain, judged, planned, when.assertedAt) };
    judged.undo();
    const { policy } = judged.compiled;
    const detail = `${planned.refusal.code}: ${planned.refusal.message}`;
    return { judged: { verdict: 'rejected', reason: 'precondition_failed', detail, ...(policy && { policy }) } };
  }

  #payload(
    gathered: GatheredProposal,
    id: Hash,
    judged: Judgement,
    at: Instant,
    kept: PayloadBlobs,
    believed: PlannedBeliefs | undefined,
  ): Payload {
    const writer = this.#writer;
    const { domain, chain } = writer.parts;
    const place = writer.nextPosition(at);
    if (judged.verdict === 'rejected') return rejectionPayload(place, gathered, id, judged, domain, kept);
    if (judged.verdict === 'approved')
      return commitPayload(place, chain.lastCommit, gathered, id, judged, domain, kept, believed?.changes);
    const { approvalTimeoutMs } = writer.context;
    const expires = approvalTimeoutMs === undefined ? undefined : addMicros(at, approvalTimeoutMs * 1_000);
    return pendingPayload(place, gathered, id, judged, expires, domain, kept);
  }
}

const NO_CALLS: readonly InputCall[] = [];

/** Without a key, equal content has an equal id. */
function runOf({ keyHash, principal, ...read }: GatheredProposal, trajectoryId: string): NamedRun {
  const id = keyHash ?? proposalIdOf(read, { trajectoryId, nonce: '', writ: '' });
  return { step: 'proposal', id, action: read.intent.action, principal };
}

/** A step between the verdict and the entry. An error undoes the approved change. */
function undoing<T>(judged: Judgement, step: () => T): T {
  try {
    return step();
  } catch (error) {
    if (judged.verdict === 'approved') judged.undo();
    throw error;
  }
}

function declaresCalls({ actions }: Domain, action: string): boolean {
  return Object.hasOwn(actions, action) && actions[action]?.calls !== undefined;
}

/** The caller plans the calls again, on the current state. */
function outdatedCalls(detail: string): EffectError {
  return new EffectError('stale', `The proposal was planned on an earlier state: ${detail}. Propose again.`, {
    retryable: true,
  });
}

/** Whether the key belongs to the proposal itself, and not to a transaction with a body. */
function isOfProposal({ commitPlan }: GatheredProposal): boolean {
  return commitPlan === undefined || commitPlan.isProposed === true;
}

/** All writs below one root share its queue, so that no holder fills it under new writs. */
function rootOf({ writ, chain }: WritChain): Hash {
  return writId(chain.at(-1) ?? writ);
}

function tooManyPending(trajectoryId: string, root: Hash, open: number): RuntimeError {
  return new RuntimeError(
    'too_many_pending',
    `${open} proposals under the root writ ${root} and the writs below it wait for a decision in ${trajectoryId}, and no more may. Resolve some of them, or raise approvals.maxPending.`,
    { evidence: { trajectory_id: trajectoryId, writ: root, pending: open }, retryable: true },
  );
}

function usedForAnother(key: string, { id, trajectory_id, seq }: EntryRow): RuntimeError {
  return new RuntimeError(
    'idempotency_conflict',
    `The idempotency key ${key} was used for another intent: entry ${id}, ${trajectory_id} seq ${seq}. Nothing was done. Use a new key only for a different request.`,
    { evidence: { entry: id, trajectory_id, seq } },
  );
}
