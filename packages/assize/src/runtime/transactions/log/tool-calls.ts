import { isInstance, type Json, thrownText } from '#base';
import { copyJson, plainText } from '#canon';
import {
  type BatchOf,
  batchesOf,
  type CallContext,
  DidNothing,
  type EffectPayload,
  type LogRecord,
  logDamaged,
  NoAnswer,
  ownFailure,
  type Tool,
  whyOf,
} from '#effects';
import type { BlobRef } from '#ledger';
import { type Step, type Told, traced } from '#traces';
import { PayloadBlobs } from '../../records/payload-blobs.ts';
import { positionedSalts } from '../../records/salts.ts';
import {
  keepable,
  keepableOrWhy,
  longer,
  oversizedResidue,
  storedResidue,
  UNDO_ANSWER_LIMITS,
} from '../limits/answer-size.ts';
import { afterMsOf, backoffMs } from '../limits/backoff.ts';
import { isPromise, TimeLimit } from '../limits/time-limit.ts';
import { readSalted } from '../settle/quarantine.ts';
import { batchWith, callBatch } from './batched-calls.ts';
import type { MarkUnresolved, ToolCallPorts } from './call-ports.ts';
import {
  type CallKind,
  type CallRecord,
  isLoggedFirst,
  requireReconciled,
  residueOf,
  residueOfLostAnswer,
} from './call-record.ts';
import type { TransactionLog } from './log-writer.ts';
import type { RecoveredTrust } from './recovered-trust.ts';
import type { StagedWrites } from './staged-writes.ts';

/** The state that a crash leaves. */
interface RecoveredTransaction {
  readonly effects?: CallRecord[];
  /** Effects that may have been called although the log has no record of it. */
  readonly perhaps?: Set<number>;
  /**
   * Aborted when the transaction is abandoned again: calls that can be repeated are no longer
   * waited for.
   */
  readonly leaving?: AbortSignal;
  readonly trust?: RecoveredTrust;
}

/** The code of a call that rows of the log request, without a MAC under the runtime's key. */
export const UNAUTHENTICATED = 'unauthenticated';

/**
 * The effects of one transaction, and the calls that execute, compensate and query them. Each
 * outcome is written to its log.
 */
export class ToolCalls {
  readonly ports: ToolCallPorts;
  readonly log: TransactionLog;
  readonly epoch: number;
  readonly leave: MarkUnresolved;
  readonly effects: CallRecord[];
  /** Undefined for a transaction that this process began: its memory is the cause of every call. */
  readonly trust: RecoveredTrust | undefined;
  /** The staged writes of the body, while they are available. */
  stagedWrites: StagedWrites | undefined;
  #perhaps: Set<number> | undefined;
  /**
   * Aborted when the transaction is abandoned: calls that can be repeated are no longer waited for.
   */
  leaving: AbortSignal | undefined;
  #failures: Map<number, unknown> | undefined;
  /**
   * The last effect that could not be read back because it was erased, until it is marked
   * unresolved.
   */
  #erased: number | undefined;
  /** Undefined before the first call. After an operator's decision, a new instance is used. */
  #patience: CallTimeBudget | undefined;

  constructor(
    ports: ToolCallPorts,
    log: TransactionLog,
    epoch: number,
    leave: MarkUnresolved,
    { effects = [], perhaps, leaving, trust }: RecoveredTransaction,
  ) {
    this.trust = trust;
    this.ports = ports;
    this.log = log;
    this.leave = leave;
    this.effects = effects;
    this.epoch = epoch;
    this.#perhaps = perhaps;
    this.leaving = leaving;
  }

  /** The batches that the tools of this process define. */
  get batches(): { readonly batchOf?: BatchOf } {
    const { tools } = this.ports;
    const batchOf = batchesOf(this.effects.map(({ tool }) => tools.get(tool)?.spec));
    return batchOf === undefined ? {} : { batchOf };
  }

  /**
   * Makes a call or its compensation and records the outcome. `record`: the intent, written before
   * the call if the class requires it.
   */
  call(n: number, how: CallKind, record?: LogRecord): Promise<boolean> {
    return traced(
      () => this.#step(n, how),
      () => this.#call(n, how, record),
    );
  }

  #step(n: number, how: CallKind): Step<boolean> {
    const { tool } = this.effects[n] as CallRecord;
    const told = (): Told => ({ facts: { phase: this.log.state.effects[n]?.phase } });
    return { name: 'effect', facts: { epoch: this.epoch, effect: n, tool, how }, told };
  }

  async #call(n: number, how: CallKind, record: LogRecord | undefined): Promise<boolean> {
    if (!this.isReady(n) && !(await this.readBack(n))) return false;
    if (await this.#isBarred([n], how)) return true;
    const { batch } = this.specOf(n);
    if (batch !== undefined) {
      // Compared with the staged answer, as in batched calls.
      const isHeld = how === 'call' && this.effects[n]!.reported !== undefined;
      const all = batchWith(this, n, how);
      if (all === undefined) return false;
      if (await this.#isBarred(all, how)) return true;
      if (all.length > 1 || isHeld) return callBatch(this, all, how);
    }
    if (record !== undefined) {
      if (isLoggedFirst(this.effects[n]!.class)) await this.log.write([record]);
      else this.log.note(record);
    }
    const sure = this.ports.coordination.confirmLease();
    if (sure !== undefined) await sure;
    if (this.hasLostTooMany(n)) {
      await this.leave(n, { is: 'in_doubt', n });
      return true;
    }
    const effect = this.effects[n]!;
    const spec = this.specOf(n);
    const { input, answer = null } = effect;
    const stays = how === 'undo' ? this.whyNotCompensated(n) : undefined;
    if (stays !== undefined) {
      await this.leave(n, { is: 'unresolved', n, why: stays });
      return true;
    }
    try {
      if (how === 'call') {
        const calling = this.#bounded(effect, (call) =>
          spec.execute(copyJson(input as Json), call, []),
        );
        const result = isPromise(calling) ? await calling : calling;
        this.answered(n, result ?? null);
      } else {
        const undone = await this.#bounded(effect, (call) =>
          spec.compensate!(copyJson(input as Json), copyJson(answer, UNDO_ANSWER_LIMITS), call),
        );
        const residue = residueOf(effect.tool, undone);
        this.undone(
          n,
          residue === undefined ? undefined : await this.#mitigated(effect, spec, residue),
        );
      }
    } catch (error) {
      await this.#failed(n, error);
    }
    return true;
  }

  /**
   * Repeats a call that is in doubt, because the log records its sink as keyed. If the tool in this
   * process no longer is keyed, the sink is queried or the effect is marked unresolved.
   */
  async callAgain(n: number, how: CallKind): Promise<boolean> {
    const tool = this.ports.tools.get(this.effects[n]!.tool);
    const sink = tool?.class?.sink;
    if (tool === undefined || sink === 'keyed') return this.call(n, how);
    if (sink === 'queryable') return this.reconcile(n);
    await this.leave(n, { is: 'in_doubt', n });
    return true;
  }

  /** Asks the sink for the outcome of a call or of its compensation. */
  async reconcile(n: number): Promise<boolean> {
    if (!this.isReady(n) && !(await this.readBack(n))) return false;
    if (await this.#isBarred([n], this.log.state.effects[n]!.phase === 'undoing' ? 'undo' : 'call'))
      return true;
    await this.ports.coordination.confirmLease();
    const effect = this.effects[n]!;
    const spec = this.specOf(n);
    try {
      const answer = await this.#bounded(effect, (call) =>
        spec.reconcile!(copyJson(effect.input as Json), call),
      );
      const said = requireReconciled(effect.tool, answer);
      const isUndoing = this.log.state.effects[n]!.phase === 'undoing';
      // A query after a compensation sees a final state.
      if (isUndoing)
        said.happened ? this.#absent(n) : this.undone(n, residueOfLostAnswer(effect.class));
      else if (said.happened) this.answered(n, said.result ?? null);
      else this.#absent(n);
    } catch (error) {
      // No answer arrived: counts as a lost answer, and the sink is asked again.
      await this.#lose(n);
      if (this.hasLostTooMany(n)) {
        this.noteFailure(n, error);
        await this.leave(n, { is: 'in_doubt', n });
      }
    }
    return true;
  }

  /**
   * From now on, queryable sinks are asked before their due calls are made: a copy of the store may
   * have made them under the same keys.
   */
  askFirst(): void {
    const due = [...this.log.state.effects.entries()].filter(
      ([, { phase, class: kind }]) => phase === 'due' && kind.sink === 'queryable',
    );
    this.#perhaps = new Set(due.map(([n]) => n));
  }

  /** Whether the effect may have been called before a crash without a log record. */
  mayHaveBeenCalled(n: number): boolean {
    return this.#perhaps?.has(n) === true;
  }

  /** The first effect that may have been called without a log record. */
  get firstPerhaps(): number | undefined {
    return this.#perhaps?.values().next().value;
  }

  /**
   * A call that needs no record beforehand may have been made before a crash; it is treated as
   * made.
   */
  wasCalled(n: number): true {
    this.#perhaps?.delete(n);
    this.change(n, { isOpen: true });
    this.log.note({ is: 'applying', n });
    return true;
  }

  /** Whether too many answers were lost for another attempt. */
  hasLostTooMany(n: number): boolean {
    return (this.effects[n]!.lost ?? 0) >= this.ports.maxAttempts;
  }

  /** The last error of an effect. */
  failureOf(n: number): unknown {
    return this.#failures?.get(n);
  }

  /** The reason why an effect is unresolved, as a code. Undefined if its tool gave none. */
  unresolvedReason(n: number, as: 'in_doubt' | 'unresolved'): string | undefined {
    if (this.#failures?.has(n) === true) return whyOf(this.#failures.get(n));
    // Another process made the call, or its answer could not be recorded.
    return as === 'in_doubt' ? 'answer_lost' : undefined;
  }

  noteFailure(n: number, error: unknown): void {
    this.#failures ??= new Map();
    this.#failures.set(n, ownFailure(error));
  }

  change(n: number, more: Partial<CallRecord>): void {
    this.effects[n] = { ...this.effects[n]!, ...more };
  }

  specOf(n: number): Tool['spec'] {
    return this.ports.tools.get(this.effects[n]!.tool)!.spec;
  }

  /** Whether everything that a call of the effect needs is available. */
  isReady(n: number): boolean {
    const { tool, input } = this.effects[n]!;
    return input !== undefined && this.ports.tools.has(tool);
  }

  /** Reads an effect back from its blobs. Returns false if a blob or the tool is missing. */
  async readBack(n: number): Promise<boolean> {
    const effect = this.effects[n]!;
    if (!this.ports.tools.has(effect.tool)) return false;
    const payload = (await this.#read(effect.payload)) as EffectPayload | undefined;
    const answer = effect.result === undefined ? null : await this.#read(effect.result);
    if (payload === undefined || answer === undefined) {
      this.#erased = n;
      return false;
    }
    if (payload.tool !== effect.tool)
      throw logDamaged(this.epoch, `calls ${effect.tool} with the input of ${payload.tool}`);
    if (payload.class !== undefined && plainText(payload.class) !== plainText(effect.class))
      throw logDamaged(this.epoch, `has another class of ${effect.tool} than its payload`);
    const { input, told } = payload;
    const known = effect.isTooLong === true || effect.isUnreadable === true ? {} : { answer };
    this.effects[n] = {
      ...effect,
      input,
      ...known,
      ...(told === undefined ? {} : { reported: told }),
    };
    return true;
  }

  /**
   * Marks the effect that could not be read back unresolved: its input was erased, so no process
   * can call it. Returns false if there is no such effect.
   */
  async markErased(): Promise<boolean> {
    const n = this.#erased;
    if (n === undefined) return false;
    this.#erased = undefined;
    await this.#leaveUncalled(n, 'erased');
    return true;
  }

  /**
   * Marks the first effect unresolved that this process has no proven cause to call. Returns false
   * if there is none.
   */
  async #isBarred(ns: readonly number[], how: CallKind): Promise<boolean> {
    const { trust } = this;
    if (trust === undefined) return false;
    const barred = ns.find((n) => !trust.allows(n, this.effects[n]!.key, how));
    if (barred === undefined) return false;
    await this.#leaveUncalled(barred, UNAUTHENTICATED);
    return true;
  }

  /** Marks an effect unresolved that this process does not call. */
  #leaveUncalled(n: number, why: string): Promise<void> {
    const { phase } = this.log.state.effects[n]!;
    // Without a call since, the effect is unchanged. Otherwise it is in doubt, like an effect that
    // another call may have included.
    const isUnchanged = (phase === 'due' || phase === 'executed') && !this.mayHaveBeenCalled(n);
    return this.leave(n, { is: isUnchanged ? 'unresolved' : 'in_doubt', n, why });
  }

  /**
   * The reason why the tool cannot compensate the effect, as a code, or undefined. A compensation
   * never receives an answer other than the original.
   */
  whyNotCompensated(
    n: number,
  ): 'no_compensate' | 'answer_too_long' | 'answer_unreadable' | undefined {
    if (this.specOf(n).compensate === undefined) return 'no_compensate';
    const { isTooLong, isUnreadable, answer } = this.effects[n]!;
    if (isUnreadable === true) return 'answer_unreadable';
    return isTooLong === true && answer === undefined ? 'answer_too_long' : undefined;
  }

  answered(n: number, result: unknown): void {
    const is = this.log.state.effects[n]!.phase === 'intended' ? 'executed' : 'applied';
    // Copied first, because the tool may keep changing its object.
    const read = keepableOrWhy(result);
    if (read.kept === undefined) {
      this.#answeredUnkept(n, is, result, read.why);
      return;
    }
    const answer = read.kept;
    const ref = answer === null ? undefined : this.storeBlob(n, answer);
    const effect = { ...this.effects[n]!, answer, lost: 0, isOpen: false };
    this.effects[n] = ref === undefined ? effect : { ...effect, result: ref };
    this.log.append(ref === undefined ? { is, n } : { is, n, result: ref });
  }

  /**
   * The effect was executed, and no query is needed. Its compensation has a long answer while this
   * process lives.
   */
  #answeredUnkept(
    n: number,
    is: 'executed' | 'applied',
    result: unknown,
    why: 'too_long' | 'unreadable',
  ): void {
    const flag = why === 'too_long' ? { isTooLong: true } : { isUnreadable: true };
    const { compensate } = this.specOf(n);
    const answer = compensate === undefined ? undefined : longer(result);
    // A recovered call has the answer null until it is repeated.
    const { answer: _, ...effect } = this.effects[n]!;
    const unkept = { ...effect, ...flag, lost: 0, isOpen: false };
    this.effects[n] = answer === undefined ? unkept : { ...unkept, answer };
    this.log.append({ is, n, [why]: true });
  }

  /**
   * Also applies if the residue is too long to store: the effect is compensated and need not be
   * compensated again.
   */
  undone(n: number, residue: Json | undefined): void {
    const left = residue === undefined ? undefined : storedResidue(this.effects[n]!.tool, residue);
    const ref = left === undefined ? undefined : this.storeBlob(n, left);
    this.change(n, { lost: 0, isOpen: false });
    this.log.append(ref === undefined ? { is: 'undone', n } : { is: 'undone', n, residue: ref });
  }

  /** Stores a value so that the log can name it. @throws CanonError for a value that is not JSON */
  storeBlob(n: number, value: Json): BlobRef {
    const kept = new PayloadBlobs(positionedSalts(this.ports.random, this.effects[n]!.key));
    const ref = kept.store(value, true) as BlobRef;
    this.log.addBlobs(kept.blobs);
    return ref;
  }

  /** Waits before the next attempt, after `times` failed attempts and the last error. */
  backOff(times: number, failure?: unknown): Promise<void> {
    const told = afterMsOf(failure);
    const wished = backoffMs(times, failure);
    const patience = this.#callBudget();
    const longest = patience.limit(2 * wished);
    patience.spend(longest);
    return this.ports.pause(Math.min(longest, Math.max(told, longest / 2)), longest, this.leaving);
  }

  /**
   * Continues without an answer after the limit, so a tool that hangs does not block other
   * transactions. A synchronous result is used directly.
   */
  withTimeout<T>(
    effects: readonly CallRecord[],
    wishedMs: number,
    make: (signal: AbortSignal) => T | Promise<T>,
  ): T | Promise<T> {
    const ms = this.#callBudget().limit(wishedMs);
    const limit = new TimeLimit(ms, this.ports.coordination.lost);
    const { inFlight } = this.ports;
    const { epoch } = this;
    inFlight.started(
      limit,
      effects.map(({ tool, key }) => ({ epoch, tool, key })),
    );
    const over = (): void => {
      inFlight.ended(limit);
      limit.end();
    };
    const failed = (error: unknown): never => {
      this.#callBudget().spend(limit.signal.aborted ? ms : limit.elapsedMs);
      over();
      throw ownFailure(error);
    };
    const answered = (value: T): T => {
      over();
      return value;
    };
    let made: T | Promise<T>;
    try {
      made = limit.run(
        () => make(limit.signal),
        () => new NoAnswer(`it did not answer within ${ms} ms`, { why: 'too_slow' }),
        (error) => isInstance(error, DidNothing),
      );
    } catch (error) {
      return failed(error);
    }
    return isPromise(made) ? made.then(answered, failed) : answered(made);
  }

  #bounded<T>(effect: CallRecord, make: (call: CallContext) => T | Promise<T>): T | Promise<T> {
    const { key } = effect;
    return this.withTimeout([effect], this.ports.callTimeoutMs, (signal) =>
      make({ key, signal, epoch: this.epoch }),
    );
  }

  #callBudget(): CallTimeBudget {
    this.#patience ??= new CallTimeBudget(this.ports.callBudgetMs);
    return this.#patience;
  }

  /** The residue, and the tool's mitigation of it, if the tool defines one. */
  async #mitigated(effect: CallRecord, { mitigate }: Tool['spec'], residue: Json): Promise<Json> {
    if (mitigate === undefined) return residue;
    try {
      const said = await this.#bounded(effect, (call) =>
        mitigate(copyJson(effect.input as Json), copyJson(residue, UNDO_ANSWER_LIMITS), call),
      );
      const mitigated = storedResidue(effect.tool, said ?? null);
      return (
        keepable({ mitigated, residue }) ?? { mitigated, residue: oversizedResidue(effect.tool) }
      );
    } catch (cause) {
      const why = `the residue could not be mitigated: ${thrownText(cause)}`;
      // A blind sink would execute the compensated call again.
      const said = whyOf(cause);
      if (effect.class.sink !== 'blind') throw new DidNothing(why, { cause, why: said });
      throw said === undefined
        ? new Error(why, { cause })
        : new NoAnswer(why, { cause, why: said });
    }
  }

  async #failed(n: number, thrown: unknown): Promise<void> {
    const error = ownFailure(thrown);
    this.noteFailure(n, error);
    if (!isInstance(error, DidNothing) || this.effects[n]!.isOpen === true)
      return this.#lose(n, error);
    const wasOpen = this.log.state.effects[n]!.phase === 'intended';
    this.log.append(error.isFinal ? { is: 'failed', n, final: true } : { is: 'failed', n });
    // The body gets the error immediately, and decides itself whether to retry.
    const { failures } = this.log.state.effects[n]!;
    if (!wasOpen && !error.isFinal && failures < this.ports.maxAttempts)
      await this.backOff(failures, error);
  }

  async #lose(n: number, error?: unknown): Promise<void> {
    const lost = (this.effects[n]!.lost ?? 0) + 1;
    this.change(n, { lost, isOpen: true });
    if (this.effects[n]!.class.sink !== 'blind' && lost < this.ports.maxAttempts)
      await this.backOff(lost, error);
  }

  /** The call did nothing, or the effect to compensate still exists. */
  #absent(n: number): void {
    // A failed attempt counts, even if the sink itself reports the failure.
    const is = (this.effects[n]!.lost ?? 0) > 0 ? 'failed' : 'absent';
    this.change(n, { lost: 0, isOpen: false });
    this.log.append({ is, n });
  }

  #read(ref: BlobRef): Promise<Json | undefined> {
    return readSalted(this.ports.blob, ref);
  }
}

/**
 * The total time that a transaction spends on tools that do not answer or that refuse. The limit
 * bounds the wait of other transactions, however many effects and attempts there are
 * (docs/decisions/015-effect-order.md). One call may use half of the remaining time, so that later
 * calls have some left. An answered call uses none, however long it took.
 */
export class CallTimeBudget {
  #leftMs: number;

  constructor(ms: number) {
    this.#leftMs = ms;
  }

  /** The part of these milliseconds that may be waited now, at least one. */
  limit(ms: number): number {
    return Math.max(1, Math.min(ms, Math.floor(this.#leftMs / 2)));
  }

  /** Subtracts milliseconds of a wait without an answer. */
  spend(ms: number): void {
    this.#leftMs = Math.max(0, this.#leftMs - ms);
  }
}
