import type { Reservation } from '#authority';
import type { Json } from '#base';
import {
  type Claim,
  claimTexts,
  type Decision,
  DidNothing,
  EffectError,
  type EffectRecord,
  type Failing,
  isLeft,
  type KnownEffect,
  type KnownTransaction,
  type LoggedEffect,
  type LogRecord,
  mayCostUndoing,
  nextStep,
  recorded,
  type Step,
  type TransactionBody,
  type TransactionState,
} from '#effects';
import type { EffectStore, Hash } from '#ledger';
import type { Ruling } from '../../records/ruling.ts';
import type { UndoneBy } from '../../records/tool-authority.ts';
import { tooLong } from '../limits/answer-size.ts';
import { isPromise } from '../limits/time-limit.ts';
import type { EffectLeft } from '../settle/effect-entries.ts';
import type { Failure, FailureAnswer } from '../settle/on-failure.ts';
import { type Ended, leftOf, type Settling } from '../settle/settle.ts';
import type { CallPorts } from './call-ports.ts';
import { blobsOf, calledOf, type Prepared } from './call-record.ts';
import type { Thrown } from './last-errors.ts';
import { type LogWrite, RunLog } from './log-writer.ts';
import { type AfterCrash, afterCrash } from './recover-calls.ts';
import type { Holdings } from './staged-writes.ts';
import { Calls } from './tool-calls.ts';
import type { Reserved, Reserving } from './undo-budget.ts';

/** The log, the tools and the settlement that all runs share. */
export interface RunPorts extends CallPorts {
  readonly store: EffectStore;
  /** Records in the ledger how transactions ended, and which effects are unresolved. */
  readonly settling: Settling;
  /** The budget that is reserved to compensate the effects of active transactions. */
  readonly reserved: Reserved;
  readonly thrown: Thrown;
  /** Proposes the action to commit after effects have failed. */
  readonly answer: (failure: Failure) => Promise<FailureAnswer | undefined>;
}

/**
 * The progress of a transaction without a body. `person`: an effect needs a human decision.
 * `lacking`: the transaction needs a process that has a missing tool or domain. `later`: another
 * condition is not met, and the engine retries. `ended`: the transaction has ended.
 */
export type Moved = 'person' | 'lacking' | 'later' | 'ended';

/**
 * One tool transaction. It advances by the next step of its log (`nextStep`), from its body or
 * after a crash. Each event is logged before another step depends on it. One caller at a time uses
 * an instance.
 */
export class Run implements Reserving {
  readonly epoch: number;
  readonly trajectoryId: string;
  readonly body: TransactionBody;
  readonly #ports: RunPorts;
  readonly #log: RunLog;
  readonly #calls: Calls;
  /** The commit entry. Also set after a failure: then its effects are compensated. */
  #entry: Hash | undefined;
  #cause: string | undefined;
  /** Whether the committed action declares `onFailure`. Set this before the commit. */
  hasOnFailure = false;
  /** The ruling on the `onFailure` action, as far as this process has proposed it. */
  #ruledOnFailure: Ruling | undefined;
  /** The last ledger entry that was to carry log records: it commits or rejects the transaction. */
  #ruling: Hash | undefined;
  /** The calls of the commit that may still be compensated. */
  #planned: readonly LoggedEffect[] = [];
  /**
   * For abandoned or approved transactions: aborted when this process leaves them to another one.
   */
  #leaving: AbortSignal | undefined;
  /** Resolves when the log has the end of the transaction. */
  readonly #ended = Promise.withResolvers<void>();

  /**
   * `isNamed`: whether its keys can be used again, so that the log must record their use. `left`:
   * the state after a crash.
   */
  constructor(
    ports: RunPorts,
    epoch: number,
    trajectoryId: string,
    body: TransactionBody,
    isNamed: boolean,
    left: Partial<AfterCrash> & { readonly length?: number; readonly leaving?: AbortSignal } = {},
  ) {
    this.#ports = ports;
    this.#leaving = left.leaving;
    this.epoch = epoch;
    this.trajectoryId = trajectoryId;
    this.body = body;
    const noted = (): void => ports.reserved.changed(this);
    this.#log = new RunLog(ports.store, ports.coordination, { epoch, trajectoryId, body, isNamed }, noted, left);
    this.#calls = new Calls(ports, this.#log, epoch, (n, record) => this.#leave(n, record), left);
    // Not every owner waits for the end.
    this.#ended.promise.catch(() => undefined);
  }

  /** A run of an abandoned transaction. */
  static of(ports: RunPorts, known: KnownTransaction): Run {
    const { epoch, trajectoryId, body, length } = known;
    const { tools, leaving } = ports;
    const run = new Run(ports, epoch, trajectoryId, body, true, { ...afterCrash(known, tools), length, leaving });
    run.#entry = known.entry;
    run.#cause = known.cause;
    if (run.effects.some(costsUndoing)) ports.reserved.add(run);
    return run;
  }

  get state(): TransactionState {
    return this.#log.state;
  }

  get effects(): readonly KnownEffect[] {
    return this.#calls.effects;
  }

  /** The staged writes of the body, while they are available. Set this before the commit. */
  set holdings(holdings: Holdings) {
    this.#calls.holdings = holdings;
  }

  /**
   * Resolves when the log has the end of the transaction. Stays pending while the outcome is
   * unknown. @throws the error of a failed write
   */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Whether the log has an entry of the transaction. */
  get isLogged(): boolean {
    return this.#log.isLogged;
  }

  /** Number of rows that the log has or will have. */
  get length(): number {
    return this.#log.length;
  }

  /** Executed effects that will stay if the transaction commits. */
  get standing(): readonly KnownEffect[] {
    return this.effects.filter((_, n) => {
      const { phase, isDiscarded } = this.state.effects[n]!;
      return phase === 'executed' && isDiscarded !== true;
    });
  }

  reserved(committing: boolean): readonly Reservation[] {
    const more = this.hasOnFailure ? { hasOnFailure: true as const } : {};
    const state = committing ? recorded(this.state, { is: 'committed', planned: [], ...more }) : this.state;
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
    { effect, input, blobs }: Prepared,
    begun?: (n: number) => void,
  ): Promise<
    | { readonly n: number; readonly result: Json; readonly refusal?: undefined }
    | { readonly n: number; readonly result?: undefined; readonly refusal: EffectError }
  > {
    const n = this.effects.length;
    begun?.(n);
    this.#calls.effects.push({ ...effect, input });
    // Added with the intent that was just noted, before any wait.
    if (costsUndoing(effect)) this.#ports.reserved.add(this);
    await this.#log.write([intended(effect)], blobs, [{ key: effect.key, epoch: this.epoch, n }]);
    await this.#calls.make(n, 'call');
    await this.move(true);
    const { phase } = this.state.effects[n]!;
    if (phase === 'executed') {
      const { answer = null, isTooLong } = this.#calls.effects[n]!;
      return isTooLong === true ? { n, refusal: tooLong(effect.tool, effect.key) } : { n, result: answer };
    }
    const { why: said } = this.#calls.effects[n]!;
    if (phase === 'in_doubt')
      throw new EffectError(
        'outcome_unknown',
        `Nobody can tell whether ${effect.tool} was done${said === undefined ? '' : ` (${said})`}; a person has to look, and say what they found: assize effects resolve ${this.epoch} ${n}.`,
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
    throw new EffectError('tool_failed', `${effect.tool} was not done: ${why(cause)}.`, {
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
    await this.move(true);
  }

  /** @throws the error of a failed write: later records cannot be written either */
  check(): void {
    this.#log.check();
  }

  /** The records to write with the commit entry, in one store transaction. */
  commitWrite(entry: Hash, planned: readonly Prepared[]): LogWrite {
    const from = this.effects.length;
    const { epoch } = this;
    const keys = planned.map(({ effect }, i) => ({ key: effect.key, epoch, n: from + i }));
    this.#ruling = entry;
    if (this.hasOnFailure) {
      this.#planned = planned.map(({ effect }) => effect);
      if (this.#planned.some(costsUndoing)) this.#ports.reserved.add(this);
      else this.#ports.reserved.changed(this);
    }
    return this.#log.offered([this.#committing(entry, planned)], keys, blobsOf(planned));
  }

  /**
   * Whether a durable entry has committed this attempt, and not another attempt of the same name.
   */
  isRuledBy(entry: Hash): boolean {
    return this.#ruling === entry;
  }

  /** Called when the commit entry and its records are durable. */
  committed(entry: Hash, planned: readonly Prepared[]): void {
    this.#log.sent();
    this.#entry = entry;
    this.#calls.effects.push(...planned.map(calledOf));
    this.#log.note(this.#committing(entry, planned));
  }

  /** From now on, the run is abandoned when `leaving` aborts, like after a crash. */
  leaveBy(leaving: AbortSignal): void {
    this.#leaving = leaving;
    this.#calls.leaving = leaving;
  }

  #committing(entry: Hash, planned: readonly Prepared[]): LogRecord {
    const effects = planned.map(({ effect }) => effect);
    // Fields in canonical order, which serialises fastest.
    return this.hasOnFailure
      ? { entry, is: 'committed', on_failure: true, planned: effects }
      : { entry, is: 'committed', planned: effects };
  }

  /** The ruling on the `onFailure` action, as far as this process has proposed it. */
  get ruledOnFailure(): Ruling | undefined {
    return this.#ruledOnFailure;
  }

  /** Notes expanded claims. The log has them before any effect on their scopes. */
  expanded(claims: readonly Claim[]): void {
    this.#log.later({ is: 'expanded', claims: claimTexts(claims) });
  }

  /**
   * The records to write with an entry that aborts the transaction, in one store transaction. No
   * later ruling follows.
   */
  undoingWrite(entry: Hash, by: UndoneBy): LogWrite | undefined {
    if (!this.isLogged) return undefined;
    this.#ruling = entry;
    return this.#log.offered([{ cause: by, entry, is: 'aborting' }]);
  }

  /**
   * Called when that entry is durable. If the entry is the one of `undoingWrite`, its records are
   * durable too.
   */
  undoneBy(entry: Hash, by: UndoneBy): void {
    if (!this.isRuledBy(entry)) return;
    this.#log.sent();
    this.#cause = by;
    this.#log.note({ is: 'aborting', cause: by });
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
  get left(): readonly EffectLeft[] {
    return leftOf(this.#ending(undefined, []), this.#entry);
  }

  /**
   * Performs all steps that are possible now. `body`: the transaction waits for its running body.
   */
  async move(hasBody: true): Promise<Moved | 'body'>;
  async move(hasBody: false): Promise<Moved>;
  async move(hasBody: boolean): Promise<Moved | 'body'> {
    const knowing = { hasBody, isUnderWay: () => false, tries: this.#ports.tries, ...this.#calls.mates };
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
        return 'person';
      }
      // Between two steps the log has everything that the next owner needs.
      if (this.#leaving?.aborted === true && isActing(step)) {
        this.#log.flush();
        return 'later';
      }
      if (step.do === 'propose') {
        const waits = await this.#answerFailure();
        if (waits !== undefined) return waits;
      } else {
        const taking = this.#take(step);
        const isTaken = isPromise(taking) ? await taking : taking;
        if (!isTaken && !(await this.#calls.leaveErased())) {
          this.#log.flush();
          return this.#lacking;
        }
      }
    }
  }

  /**
   * A step cannot be performed here. If another effect needs a human decision, that is reported
   * instead.
   */
  get #lacking(): 'person' | 'lacking' {
    return this.left.length > 0 ? 'person' : 'lacking';
  }

  /**
   * Resolves when all records are written, or cannot be written; the next writer then gets the
   * error. Returns undefined if no unawaited write is in flight.
   */
  settled(): Promise<void> | undefined {
    return this.#log.settled;
  }

  /**
   * Records an operator's decision. The decision is durable when this returns; `move` performs the
   * steps that follow.
   */
  async resolve(n: number, as: Decision, by: string, evidence: Json): Promise<void> {
    const ref = this.#calls.kept(n, evidence);
    const left = this.left.find((each) => each.n === n) as EffectLeft;
    this.#calls.change(n, { resolved: { as, by, evidence: ref } });
    this.#log.later({ is: 'resolved', n, as, by, evidence: ref });
    // The effect may still be compensated if another one fails.
    const isOpen = as === 'applied' && this.state.hasOnFailure === true;
    const { settling } = this.#ports;
    await this.#log.send((write, blobs) =>
      settling.decide(this.trajectoryId, left, { as, by, evidence: ref, isOpen }, write, blobs),
    );
  }

  /**
   * All effects are compensated: proposes the `onFailure` action, which ends the transaction.
   * Returns undefined if the transaction continues.
   */
  async #answerFailure(): Promise<'person' | 'lacking' | 'later' | undefined> {
    // A retry must find the same log, or it would be another proposal.
    await this.#log.written();
    await this.#ports.coordination.sure();
    const { n, refusals } = this.state.failing as Failing;
    const { principal, writ_id: writId } = this.body;
    const answer = await this.#ports.answer({
      trajectoryId: this.trajectoryId,
      commit: this.#entry as Hash,
      principal: principal === '' ? undefined : principal,
      writId,
      refusals,
      effects: this.effects.map(({ key, tool }, at) => {
        const { phase } = this.state.effects[at]!;
        return { id: key, tool, outcome: at === n ? 'failed' : (phase as 'dropped' | 'undone' | 'accepted') };
      }),
    });
    if (answer === undefined) return this.#lacking;
    this.#ruledOnFailure = answer.ruling;
    if (answer.is === 'later') return 'later';
    if (answer.is === 'made') this.#log.later({ is: 'settled' });
    else {
      this.#calls.change(n, { refused: answer.why });
      await this.#leave(n, { is: 'refused', n, why: answer.why });
    }
    return undefined;
  }

  /**
   * Returns false if this process cannot perform the step, because a tool or an erased value is
   * missing.
   */
  #take(step: Exclude<Step, { do: 'nothing' | 'wait' | 'propose' }>): Promise<boolean> | boolean {
    if (step.do === 'ask') return this.#calls.ask(step.n);
    if (step.do !== 'log') return this.#calls.makeAgain(step.n, step.do);
    const { record } = step;
    switch (record.is) {
      case 'applying':
      case 'undoing':
        if (this.#calls.mayHaveBeenCalled(record.n)) return this.#calls.wasCalled(record.n);
        return this.#calls.make(record.n, record.is === 'applying' ? 'call' : 'undo', record);
      case 'settled':
      case 'aborted':
        this.#log.later(record);
        return true;
      default:
        return this.#takeDown(record);
    }
  }

  /** Writes a record that must be durable before the next step. */
  async #takeDown(record: EffectRecord): Promise<true> {
    switch (record.is) {
      case 'aborting':
        await this.abort(PROCESS_ENDED);
        return true;
      case 'failing':
        // The remaining calls run in order after the failed one, except calls after an effect that
        // was marked unresolved.
        if (this.#wasLeft && this.#calls.firstPerhaps !== undefined)
          return this.#calls.wasCalled(this.#calls.firstPerhaps);
        await this.#log.write([record]);
        return true;
      case 'in_doubt':
      case 'unresolved':
        await this.#leave(record.n, record);
        return true;
      default:
        throw new TypeError(`A step is never to log ${record.is}.`);
    }
  }

  get #wasLeft(): boolean {
    return this.effects.some(({ resolved }, n) => resolved !== undefined || isLeft(this.state.effects[n]!.phase));
  }

  /**
   * Marks an effect unresolved; durable when this returns. While a body runs, the body decides how
   * to continue.
   */
  async #leave(n: number, given: LogRecord & { readonly is: 'in_doubt' | 'unresolved' | 'refused' }): Promise<void> {
    const record = given.is === 'refused' ? given : this.#withWhy(given);
    if (this.state.phase === 'open') return this.#log.write([record]);
    this.#log.later(record);
    const left = this.left.find((each) => each.n === n) as EffectLeft;
    const { settling } = this.#ports;
    await this.#log.send((write, blobs) => settling.leave(this.trajectoryId, left, write, blobs));
  }

  /**
   * The tool's error stays in this process. The log and the ledger have only the tool's code for
   * it.
   */
  #withWhy(given: LogRecord & { readonly is: 'in_doubt' | 'unresolved' }): typeof given {
    const { n, is } = given;
    const why = given.why ?? this.#calls.whyLeft(n, is);
    this.#calls.change(n, { why });
    this.#ports.thrown.note(this.epoch, n, this.#calls.failureOf(n));
    return why === undefined ? given : { ...given, why };
  }

  /** Nothing is left to do: the last records are written with the settlement in the ledger. */
  #handOver(): void {
    const { settling } = this.#ports;
    const { row, blobs } = this.#log.handOver();
    this.#ports.reserved.ended(this);
    const ending = this.#ending(row, blobs);
    if (this.state.phase === 'settled') settling.settled({ ...ending, entry: this.#entry as Hash });
    else {
      const told = settling.aborted(ending, this.#cause as string);
      this.#log.waitLater(told);
      told.catch(this.#ended.reject);
    }
  }

  #ending(row: Ended['row'], blobs: Ended['blobs']): Ended {
    const { epoch, trajectoryId, body } = this;
    const effects = this.effects.map((effect, n) => ({ ...effect, ...this.state.effects[n]! }));
    const written = (isTold: boolean): void => {
      this.#ports.thrown.drop(epoch);
      // The cost of the compensation is booked, or can never be booked.
      if (isTold) this.#ports.reserved.drop(epoch);
      this.#ended.resolve();
    };
    return { epoch, trajectoryId, writId: body.writ_id, row, blobs, effects, written };
  }
}

/** The abort reason of a transaction without a body. */
const PROCESS_ENDED = 'process_ended';

/** Whether the step does more than record a state. */
function isActing(step: Step): boolean {
  return step.do !== 'log' || step.record.is === 'applying' || step.record.is === 'undoing';
}

/** Fields in canonical order, which serialises fastest. */
function intended({ branch, class: sort, key, payload, tool, undo_cost }: LoggedEffect): LogRecord {
  const record = { class: sort, is: 'intended', key, payload, tool } as const;
  const told = branch === undefined ? record : { branch, ...record };
  return undo_cost === undefined ? told : { ...told, undo_cost };
}

function costsUndoing({ undo_cost }: LoggedEffect): boolean {
  return undo_cost !== undefined;
}

function why(failure: unknown): string {
  return failure instanceof Error ? failure.message.replace(/\.$/, '') : 'its sink has nothing of it';
}
