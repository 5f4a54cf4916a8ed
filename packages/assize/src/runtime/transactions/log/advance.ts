import type { Reservation } from '#authority';
import { errorMessage, type Json } from '#base';
import {
  type Claim,
  claimTexts,
  DidNothing,
  EffectError,
  type EffectRecord,
  type Failing,
  isUnresolved,
  type KnownEffect,
  type KnownTransaction,
  type LoggedEffect,
  type LogRecord,
  mayCostUndoing,
  nextStep,
  type RowAuthentication,
  recorded,
  type Step,
  type TransactionBody,
  type TransactionState,
} from '#effects';
import type { EffectStore, Hash } from '#ledger';
import type { Ruling } from '../../records/ruling.ts';
import type { AbortingRuling } from '../../records/tool-authority.ts';
import { tooLong, unreadable } from '../limits/answer-size.ts';
import { isPromise } from '../limits/time-limit.ts';
import type { EffectDecision, PendingEffect } from '../settle/effect-entries.ts';
import type { FailedCommit, OnFailureOutcome } from '../settle/on-failure.ts';
import { type EndedTransaction, type OutcomeRecorder, pendingEffectsOf } from '../settle/settle.ts';
import type { ToolCallPorts } from './call-ports.ts';
import { blobsOf, callRecordOf, type PreparedCall } from './call-record.ts';
import type { LastErrors } from './last-errors.ts';
import { type LogWrite, type TransactionIdentity, TransactionLog } from './log-writer.ts';
import { type AfterCrash, afterCrash } from './recover-calls.ts';
import { RecoveredTrust } from './recovered-trust.ts';
import type { CommitReader } from './require-commit.ts';
import type { StagedWrites } from './staged-writes.ts';
import { ToolCalls, UNAUTHENTICATED } from './tool-calls.ts';
import type { UndoBudget, UndoBudgetHolder } from './undo-budget.ts';

/** The finding of an operator about an effect. */
interface FoundOut extends Pick<EffectDecision, 'as' | 'by'> {
  readonly n: number;
  readonly tokenBy?: readonly string[];
  readonly evidence: Json;
}

/** The log, the tools and the settlement that all runs share. */
export interface TransactionPorts extends ToolCallPorts {
  readonly store: EffectStore;
  readonly ledger: CommitReader;
  /** The key of the rows' MACs (`EffectOptions.recoveryKey`). */
  readonly recoveryKey: Uint8Array;
  /** Records in the ledger how transactions ended, and which effects are unresolved. */
  readonly outcomes: OutcomeRecorder;
  /** The budget that is reserved to compensate the effects of active transactions. */
  readonly undoBudget: UndoBudget;
  readonly lastErrors: LastErrors;
  /** Proposes the action to commit after effects have failed. */
  readonly proposeOnFailure: (failure: FailedCommit) => Promise<OnFailureOutcome | undefined>;
}

/**
 * The progress of a transaction without a body. `person`: an effect needs a human decision.
 * `lacking`: the transaction needs a process that has a missing tool or domain. `later`: another
 * condition is not met, and the engine retries. `ended`: the transaction has ended.
 */
export type AdvanceResult = 'needs_human' | 'missing_dependency' | 'retry_later' | 'ended';

/**
 * One tool transaction. It advances by the next step of its log (`nextStep`), from its body or
 * after a crash. Each event is logged before another step depends on it. One caller at a time uses
 * an instance.
 */
export class TransactionRun implements UndoBudgetHolder {
  readonly epoch: number;
  readonly trajectoryId: string;
  readonly body: TransactionBody;
  readonly #ports: TransactionPorts;
  readonly #log: TransactionLog;
  readonly #calls: ToolCalls;
  /** The commit entry. Also set after a failure: then its effects are compensated. */
  #entry: Hash | undefined;
  #cause: string | undefined;
  /** Whether the planned action declares `onFailure`. */
  #hasOnFailure = false;
  /** The ruling on the `onFailure` action, if this process has proposed it. */
  #ruledOnFailure: Ruling | undefined;
  /** The calls of the commit that may still be compensated. */
  #planned: readonly LoggedEffect[] = [];
  /**
   * For abandoned or approved transactions: aborted when this process leaves them to another one.
   */
  #leaving: AbortSignal | undefined;
  /** Resolves when the log has the end of the transaction. */
  readonly #ended = Promise.withResolvers<void>();
  /** Whether the outcomes of all effects are durable. Undefined: they were before the end. */
  #isDurable: Promise<boolean> | undefined;

  /**
   * `isNamed`: whether its keys can be used again, so that the log must record their use. `left`:
   * the state after a crash, and what this process may do with it.
   */
  constructor(
    ports: TransactionPorts,
    identity: TransactionIdentity,
    left: Partial<AfterCrash> & Partial<Recovered> & { readonly length?: number } = {},
  ) {
    this.#ports = ports;
    this.#leaving = left.leaving;
    this.epoch = identity.epoch;
    this.trajectoryId = identity.trajectoryId;
    this.body = identity.body;
    const noted = (): void => ports.undoBudget.changed(this);
    const isAuthentic = left.trust === undefined || left.authentication !== undefined;
    const recoveryKey = isAuthentic ? ports.recoveryKey : undefined;
    this.#log = new TransactionLog(ports, identity, noted, { ...left, recoveryKey });
    this.#calls = new ToolCalls(
      ports,
      this.#log,
      identity.epoch,
      (n, record) => this.#markUnresolved(n, record),
      left,
    );
    // Not every owner waits for the end.
    this.#ended.promise.catch(() => undefined);
  }

  /** A run of an abandoned transaction. */
  static recover(
    ports: TransactionPorts,
    { known, authentication, committed }: ConfirmedTransaction,
  ): TransactionRun {
    const { epoch, trajectoryId, body, length } = known;
    const { tools, leaving } = ports;
    const run = new TransactionRun(
      ports,
      { epoch, trajectoryId, body, isNamed: true },
      {
        ...afterCrash(known, tools),
        length,
        leaving,
        authentication,
        trust: new RecoveredTrust(authentication !== undefined, committed),
      },
    );
    run.#entry = known.entry;
    run.#cause = known.cause;
    if (run.effects.some(costsUndoing)) ports.undoBudget.add(run);
    return run;
  }

  get state(): TransactionState {
    return this.#log.state;
  }

  get effects(): readonly KnownEffect[] {
    return this.#calls.effects;
  }

  /**
   * Resolves when the log has the end of the transaction. Stays pending while the outcome is
   * unknown. @throws the error of a failed write
   */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /**
   * For an ended transaction: whether the outcomes of its effects are durable, after the first
   * attempt to write them. Undefined if they were durable before the end.
   */
  get isDurable(): Promise<boolean> | undefined {
    return this.#isDurable;
  }

  /** Whether the log has an entry of the transaction. */
  get isLogged(): boolean {
    return this.#log.isLogged;
  }

  /** Number of rows that the log has or will have. */
  get length(): number {
    return this.#log.length;
  }

  reserved(committing: boolean): readonly Reservation[] {
    const more = this.#hasOnFailure ? { hasOnFailure: true as const } : {};
    const state = committing
      ? recorded(this.state, { is: 'committed', planned: [], ...more })
      : this.state;
    const begun = this.effects.filter((_, n) => mayCostUndoing(state, n));
    // The commit is in flight, or its outcome is unknown.
    const planned = this.state.phase === 'open' && !committing ? this.#planned : [];
    return [...begun, ...planned].flatMap(({ undo_cost: cost }) =>
      cost === undefined ? [] : { writId: this.body.writ_id, cost },
    );
  }

  /**
   * Calls a tool before the commit. Logs the intent first, and returns the effect's index and
   * result, or throws the reason why it has none. `begun` receives the index before any wait.
   *
   * @throws EffectError
   */
  async call(
    { effect, input, blobs }: PreparedCall,
    begun?: (n: number) => void,
  ): Promise<
    | { readonly n: number; readonly result: Json; readonly refusal?: undefined }
    | { readonly n: number; readonly result?: undefined; readonly refusal: EffectError }
  > {
    const n = this.effects.length;
    begun?.(n);
    this.#calls.effects.push({ ...effect, input });
    // Added with the intent that was just noted, before any wait.
    if (costsUndoing(effect)) this.#ports.undoBudget.add(this);
    await this.#log.write([intended(effect)], blobs, [{ key: effect.key, epoch: this.epoch, n }]);
    await this.#calls.call(n, 'call');
    await this.advance(true);
    const { phase } = this.state.effects[n]!;
    if (phase === 'executed') {
      const { answer = null, isTooLong, isUnreadable } = this.#calls.effects[n]!;
      if (isUnreadable === true) return { n, refusal: unreadable(effect.tool, effect.key) };
      return isTooLong === true
        ? { n, refusal: tooLong(effect.tool, effect.key) }
        : { n, result: answer };
    }
    const { why: said } = this.#calls.effects[n]!;
    if (phase === 'in_doubt')
      throw new EffectError(
        'outcome_unknown',
        `The outcome of ${effect.tool} is unknown${said === undefined ? '' : ` (${said})`}. Check its sink, then run: assize effects resolve ${this.epoch} ${n}.`,
        {
          evidence: {
            tool: effect.tool,
            key: effect.key,
            epoch: this.epoch,
            n,
            ...(said !== undefined && { why: said }),
          },
          cause: this.#calls.failureOf(n),
        },
      );
    const cause = this.#calls.failureOf(n);
    throw new EffectError('tool_failed', `${effect.tool} did nothing: ${why(cause)}.`, {
      evidence: { tool: effect.tool, key: effect.key },
      cause,
      retryable: !(cause instanceof DidNothing && cause.isFinal),
    });
  }

  /** Whether no effect of the call exists: the call did nothing or was compensated. */
  isGone(n: number): boolean {
    const phase = this.state.effects[n]?.phase;
    return phase === 'dropped' || phase === 'undone';
  }

  /**
   * Compensates the calls of a branch that was not chosen, the last first. An effect that cannot be
   * compensated or is in doubt needs a human decision after the end.
   */
  async discard(ns: readonly number[]): Promise<void> {
    const discarded = ns.filter((n) => this.state.effects[n]!.phase !== 'dropped');
    if (discarded.length === 0) return;
    await this.#log.write(discarded.map((n) => ({ is: 'discarded', n })));
    await this.advance(true);
  }

  /** @throws the error of a failed write: later records cannot be written either */
  check(): void {
    this.#log.check();
  }

  /**
   * Plans the commit, after the last call of the body. `stagedWrites`: the staged writes of the
   * body. @throws the error of a failed write, even if the body caught it
   */
  plan(planned: readonly PreparedCall[], hasOnFailure: boolean, stagedWrites?: StagedWrites) {
    this.check();
    this.#hasOnFailure = hasOnFailure;
    this.#calls.stagedWrites = stagedWrites;
    /** The last ledger entry that was to carry the records of a ruling. */
    let ruling: Hash | undefined;
    return {
      epoch: this.epoch,
      planned,
      hasOnFailure,
      /** Executed effects that will stay if the transaction commits. */
      surviving: (): readonly KnownEffect[] =>
        this.effects.filter((_, n) => {
          const { phase, isDiscarded } = this.state.effects[n]!;
          return phase === 'executed' && isDiscarded !== true;
        }),
      /** The records to write with the commit entry, in one store transaction. */
      commitRecords: (entry: Hash): LogWrite => {
        ruling = entry;
        return this.#commitRecords(entry, planned);
      },
      /**
       * The records to write with an entry that aborts the transaction, in one store transaction.
       * No later ruling follows.
       */
      abortRecords: (entry: Hash, by: AbortingRuling): LogWrite | undefined => {
        if (!this.isLogged) return undefined;
        ruling = entry;
        return this.#log.withUnsent([{ cause: by, entry, is: 'aborting' }]);
      },
      /**
       * Called when a commit entry and its records are durable. Returns false if the entry has
       * committed another attempt of the same name.
       */
      committed: (entry: Hash): boolean => {
        if (ruling !== entry) return false;
        this.#log.markSent();
        this.#entry = entry;
        this.#calls.effects.push(...planned.map(callRecordOf));
        this.#log.note(this.#committing(entry, planned));
        return true;
      },
      /** Called when an aborting entry is durable. Its records are durable too, if it has any. */
      aborted: (entry: Hash, by: AbortingRuling): void => {
        if (ruling !== entry) return;
        this.#log.markSent();
        this.#cause = by;
        this.#log.note({ is: 'aborting', cause: by });
      },
    };
  }

  #commitRecords(entry: Hash, planned: readonly PreparedCall[]): LogWrite {
    const from = this.effects.length;
    const { epoch } = this;
    const keys = planned.map(({ effect }, i) => ({ key: effect.key, epoch, n: from + i }));
    if (this.#hasOnFailure) {
      this.#planned = planned.map(({ effect }) => effect);
      if (this.#planned.some(costsUndoing)) this.#ports.undoBudget.add(this);
      else this.#ports.undoBudget.changed(this);
    }
    return this.#log.withUnsent([this.#committing(entry, planned)], keys, blobsOf(planned));
  }

  /** Asks queryable sinks before the due calls, because a copy of the store may have made them. */
  askFirst(): void {
    this.#calls.askFirst();
  }

  /** From now on, the run is abandoned when `leaving` aborts, like after a crash. */
  abandonOn(leaving: AbortSignal): void {
    this.#leaving = leaving;
    this.#calls.leaving = leaving;
  }

  #committing(entry: Hash, planned: readonly PreparedCall[]): LogRecord {
    const effects = planned.map(({ effect }) => effect);
    // Fields in canonical order: it serialises fastest.
    return this.#hasOnFailure
      ? { entry, is: 'committed', on_failure: true, planned: effects }
      : { entry, is: 'committed', planned: effects };
  }

  /** The ruling on the `onFailure` action, if this process has proposed it. */
  get ruledOnFailure(): Ruling | undefined {
    return this.#ruledOnFailure;
  }

  /** Notes expanded claims. The log has them before any effect on their scopes. */
  expanded(claims: readonly Claim[]): void {
    this.#log.append({ is: 'expanded', claims: claimTexts(claims) });
  }

  /**
   * Aborts the transaction and compensates its effects. @throws StoreError from the store; the next
   * owner then resumes the transaction
   */
  async abort(cause: string): Promise<void> {
    if (!this.isLogged || this.state.phase !== 'open') return;
    this.#cause = cause;
    await this.#log.write([{ is: 'aborting', cause }]);
  }

  /** The effects that need a human decision. */
  get unresolved(): readonly PendingEffect[] {
    return pendingEffectsOf(this.#ending(undefined, []), this.#entry);
  }

  /**
   * Performs all steps that are possible now. `body`: the transaction waits for its running body.
   */
  async advance(hasBody: true): Promise<AdvanceResult | 'body'>;
  async advance(hasBody: false): Promise<AdvanceResult>;
  async advance(hasBody: boolean): Promise<AdvanceResult | 'body'> {
    const knowing = {
      hasBody,
      isInFlight: () => false,
      maxAttempts: this.#ports.maxAttempts,
      ...this.#calls.batches,
    };
    for (;;) {
      this.#log.check();
      const step = nextStep(this.state, knowing);
      if (step.do === 'nothing' || step.do === 'wait') {
        if (step.do === 'nothing') {
          this.#handOver();
          return 'ended';
        }
        if (step.for === 'body') {
          this.#log.flushSoon();
          return 'body';
        }
        this.#log.flush();
        return 'needs_human';
      }
      // Between two steps the log has everything that the next owner needs.
      if (this.#leaving?.aborted === true && isActing(step)) {
        this.#log.flush();
        return 'retry_later';
      }
      if (step.do === 'propose') {
        const waits = await this.#answerFailure();
        if (waits !== undefined) return waits;
      } else {
        const taking = this.#take(step);
        const isTaken = isPromise(taking) ? await taking : taking;
        if (!isTaken && !(await this.#calls.markErased())) {
          this.#log.flush();
          return this.#blockedBy;
        }
      }
    }
  }

  /**
   * A step cannot be performed here. If another effect needs a human decision, that is reported
   * instead.
   */
  get #blockedBy(): 'needs_human' | 'missing_dependency' {
    return this.unresolved.length > 0 ? 'needs_human' : 'missing_dependency';
  }

  /**
   * Resolves when all records are written, or cannot be written; the next writer then gets the
   * error. Returns undefined if no unawaited write is in flight.
   */
  flushed(): Promise<void> | undefined {
    return this.#log.flushed;
  }

  /**
   * Records an operator's decision. The decision is durable when this returns; `move` performs the
   * steps that follow.
   */
  async resolve({ n, as, by, tokenBy = [], evidence }: FoundOut): Promise<void> {
    const ref = this.#calls.storeBlob(n, evidence);
    const left = this.unresolved.find((each) => each.n === n) as PendingEffect;
    this.#calls.change(n, { resolved: { as, by, evidence: ref } });
    this.#calls.trust?.decide(n);
    this.#log.append({ is: 'resolved', n, as, by, evidence: ref });
    // The effect may still be compensated if another one fails.
    const isOpen = as === 'applied' && this.state.hasOnFailure === true;
    const { outcomes } = this.#ports;
    await this.#log.send((write, blobs) =>
      outcomes.recordDecision(
        this.trajectoryId,
        left,
        { as, by, tokenBy, evidence: ref, isOpen },
        write,
        blobs,
      ),
    );
  }

  /**
   * All effects are compensated: proposes the `onFailure` action that ends the transaction. Returns
   * undefined if the transaction continues.
   */
  async #answerFailure(): Promise<
    'needs_human' | 'missing_dependency' | 'retry_later' | undefined
  > {
    // A retry must find the same log, or it would be another proposal.
    await this.#log.written();
    await this.#ports.coordination.confirmLease();
    const { n, refusals } = this.state.failing as Failing;
    if (this.#calls.trust?.allowsOnFailure(n) === false) {
      await this.#markUnresolved(n, { is: 'refused', n, why: UNAUTHENTICATED });
      return undefined;
    }
    const { principal, writ_id: writId } = this.body;
    const answer = await this.#ports.proposeOnFailure({
      trajectoryId: this.trajectoryId,
      commit: this.#entry as Hash,
      principal: principal === '' ? undefined : principal,
      writId,
      refusals,
      effects: this.effects.map(({ key, tool }, at) => {
        const { phase } = this.state.effects[at]!;
        return {
          id: key,
          tool,
          outcome: at === n ? 'failed' : (phase as 'dropped' | 'undone' | 'accepted'),
        };
      }),
    });
    if (answer === undefined) return this.#blockedBy;
    this.#ruledOnFailure = answer.ruling;
    if (answer.is === 'deferred') return 'retry_later';
    if (answer.is === 'proposed') this.#log.append({ is: 'settled' });
    else {
      this.#calls.change(n, { refused: answer.why });
      await this.#markUnresolved(n, { is: 'refused', n, why: answer.why });
    }
    return undefined;
  }

  /**
   * Returns false if this process cannot perform the step, because a tool or an erased value is
   * missing.
   */
  #take(step: Exclude<Step, { do: 'nothing' | 'wait' | 'propose' }>): Promise<boolean> | boolean {
    if (step.do === 'ask') return this.#calls.reconcile(step.n);
    if (step.do !== 'log') return this.#calls.callAgain(step.n, step.do);
    const { record } = step;
    switch (record.is) {
      case 'applying':
      case 'undoing':
        if (this.#calls.mayHaveBeenCalled(record.n)) return this.#calls.wasCalled(record.n);
        return this.#calls.call(record.n, record.is === 'applying' ? 'call' : 'undo', record);
      case 'settled':
      case 'aborted':
        this.#log.append(record);
        return true;
      default:
        return this.#logDurably(record);
    }
  }

  /** Writes a record that must be durable before the next step. */
  async #logDurably(record: EffectRecord): Promise<true> {
    switch (record.is) {
      case 'aborting':
        await this.abort(PROCESS_ENDED);
        return true;
      case 'failing':
        // The remaining calls run in order after the failed one, except calls after an effect that
        // was marked unresolved.
        if (this.#isRecovered && this.#calls.firstPerhaps !== undefined)
          return this.#calls.wasCalled(this.#calls.firstPerhaps);
        await this.#log.write([record]);
        return true;
      case 'in_doubt':
      case 'unresolved':
        await this.#markUnresolved(record.n, record);
        return true;
      default:
        throw new TypeError(`A step must not log ${record.is}.`);
    }
  }

  get #isRecovered(): boolean {
    return this.effects.some(
      ({ resolved }, n) => resolved !== undefined || isUnresolved(this.state.effects[n]!.phase),
    );
  }

  /**
   * Marks an effect unresolved; durable when this returns. While a body runs, the body decides how
   * to continue.
   */
  async #markUnresolved(
    n: number,
    given: LogRecord & { readonly is: 'in_doubt' | 'unresolved' | 'refused' },
  ): Promise<void> {
    const record = given.is === 'refused' ? given : this.#withWhy(given);
    if (this.state.phase === 'open') return this.#log.write([record]);
    this.#log.append(record);
    const left = this.unresolved.find((each) => each.n === n) as PendingEffect;
    const { outcomes } = this.#ports;
    await this.#log.send((write, blobs) =>
      outcomes.recordUnresolved(this.trajectoryId, left, write, blobs),
    );
  }

  /**
   * The tool's error stays in this process. The log and the ledger have only the tool's code for
   * it.
   */
  #withWhy(given: LogRecord & { readonly is: 'in_doubt' | 'unresolved' }): typeof given {
    const { n, is } = given;
    const why = given.why ?? this.#calls.unresolvedReason(n, is);
    this.#calls.change(n, { why });
    this.#ports.lastErrors.set(this.epoch, n, this.#calls.failureOf(n));
    return why === undefined ? given : { ...given, why };
  }

  /** Nothing is left to do: the last records are written with the settlement in the ledger. */
  #handOver(): void {
    const { outcomes } = this.#ports;
    const isAwaited = !this.#log.hasAllButLast;
    const { row, blobs } = this.#log.takeUnsent();
    this.#ports.undoBudget.ended(this);
    const ending = this.#ending(row, blobs);
    if (this.state.phase === 'settled') {
      const durable = outcomes.recordSettled({ ...ending, entry: this.#entry as Hash }, isAwaited);
      if (isAwaited) this.#isDurable = durable;
    } else {
      const told = outcomes.recordAborted(ending, this.#cause as string);
      this.#log.waitLater(told);
      told.catch(this.#ended.reject);
      this.#isDurable = told.then(
        () => true,
        () => false,
      );
    }
  }

  #ending(row: EndedTransaction['row'], blobs: EndedTransaction['blobs']): EndedTransaction {
    const { epoch, trajectoryId, body } = this;
    const effects = this.effects.map((effect, n) => ({ ...effect, ...this.state.effects[n]! }));
    const written = (isTold: boolean): void => {
      this.#ports.lastErrors.delete(epoch);
      // The cost of the compensation is booked, or can never be booked.
      if (isTold) this.#ports.undoBudget.drop(epoch);
      this.#ended.resolve();
    };
    return { epoch, trajectoryId, writId: body.writ_id, row, blobs, effects, written };
  }
}

/** A transaction of the log that this process may resume. */
export interface ConfirmedTransaction {
  readonly known: KnownTransaction;
  /** The MACs of the next rows. Undefined if earlier rows are not under the runtime's key. */
  readonly authentication: RowAuthentication | undefined;
  /** The keys of the calls that the commit in the ledger names. */
  readonly committed: ReadonlySet<Hash>;
}

/** The part of a recovered transaction that restricts this process. */
interface Recovered {
  readonly leaving: AbortSignal;
  readonly authentication: RowAuthentication | undefined;
  readonly trust: RecoveredTrust;
}

/** A run whose commit is planned. The records of its ruling are written with the ruling. */
export type PlannedRun = ReturnType<TransactionRun['plan']>;

/** The abort reason of a transaction without a body. */
const PROCESS_ENDED = 'process_ended';

/** Whether the step does more than record a state. */
function isActing(step: Step): boolean {
  return step.do !== 'log' || step.record.is === 'applying' || step.record.is === 'undoing';
}

/** Fields in canonical order: it serialises fastest. */
function intended({ branch, class: sort, key, payload, tool, undo_cost }: LoggedEffect): LogRecord {
  const record = { class: sort, is: 'intended', key, payload, tool } as const;
  const told = branch === undefined ? record : { branch, ...record };
  return undo_cost === undefined ? told : { ...told, undo_cost };
}

function costsUndoing({ undo_cost }: LoggedEffect): boolean {
  return undo_cost !== undefined;
}

function why(failure: unknown): string {
  return errorMessage(failure)?.replace(/\.$/, '') ?? 'its sink has no record of the call';
}
