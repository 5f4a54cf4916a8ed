import { type Json, thrownOf } from '#base';
import { copyJson } from '#canon';
import {
  type Call,
  DidNothing,
  type EffectPayload,
  type LogRecord,
  type Mates,
  NoAnswer,
  type Tool,
  togetherBy,
  whyOf,
} from '#effects';
import type { BlobRef } from '#ledger';
import { Kept, saltsAt } from '../../records/payload-blobs.ts';
import { keepable, keptOf, LONG, longer, notKept } from '../limits/answer-size.ts';
import { afterMsOf, wishedPauseMs } from '../limits/backoff.ts';
import { Patience } from '../limits/patience.ts';
import { isPromise, TimeLimit } from '../limits/time-limit.ts';
import { readSalted } from '../settle/quarantine.ts';
import { makeTogether, withIt } from './batched-calls.ts';
import type { CallPorts, Leave } from './call-ports.ts';
import { type Called, type How, isToldFirst, requireTold, residueOf, unheardResidue } from './call-record.ts';
import type { RunLog } from './log-writer.ts';
import type { Holdings } from './staged-writes.ts';

/** The state that a crash leaves. */
interface Left {
  readonly effects?: Called[];
  /** Effects that may have been called although the log has no record of it. */
  readonly perhaps?: Set<number>;
  /**
   * Aborted when the transaction is abandoned again: calls that can be repeated are no longer
   * waited for.
   */
  readonly leaving?: AbortSignal;
}

/**
 * The effects of one transaction, and the calls that execute, compensate and query them. Each
 * outcome is written to its log.
 */
export class Calls {
  readonly ports: CallPorts;
  readonly log: RunLog;
  readonly epoch: number;
  readonly leave: Leave;
  readonly effects: Called[];
  /** The staged writes of the body, while they are available. */
  holdings: Holdings | undefined;
  readonly #perhaps: Set<number> | undefined;
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
  #patience: Patience | undefined;

  constructor(ports: CallPorts, log: RunLog, epoch: number, leave: Leave, { effects = [], perhaps, leaving }: Left) {
    this.ports = ports;
    this.log = log;
    this.leave = leave;
    this.effects = effects;
    this.epoch = epoch;
    this.#perhaps = perhaps;
    this.leaving = leaving;
  }

  /** The batches, as far as the tools of this process define them. */
  get mates(): { readonly together?: Mates } {
    const { tools } = this.ports;
    const together = togetherBy(this.effects.map(({ tool }) => tools.get(tool)?.spec));
    return together === undefined ? {} : { together };
  }

  /**
   * Makes a call or its compensation and records the outcome. `record`: the intent, written before
   * the call if the class requires it.
   */
  async make(n: number, how: How, record?: LogRecord): Promise<boolean> {
    if (!this.isReady(n) && !(await this.readBack(n))) return false;
    const { together } = this.specOf(n);
    if (together !== undefined) {
      // Compared with the staged answer, as in batched calls.
      const isHeld = how === 'call' && this.effects[n]!.told !== undefined;
      const all = withIt(this, n, how);
      if (all === undefined) return false;
      if (all.length > 1 || isHeld) return makeTogether(this, all, how);
    }
    if (record !== undefined) {
      if (isToldFirst(this.effects[n]!.class)) await this.log.write([record]);
      else this.log.note(record);
    }
    const sure = this.ports.coordination.sure();
    if (sure !== undefined) await sure;
    if (this.isLostFor(n)) {
      await this.leave(n, { is: 'in_doubt', n });
      return true;
    }
    const effect = this.effects[n]!;
    const spec = this.specOf(n);
    const { input, answer = null } = effect;
    const stays = how === 'undo' ? this.whyItStays(n) : undefined;
    if (stays !== undefined) {
      await this.leave(n, { is: 'unresolved', n, why: stays });
      return true;
    }
    try {
      if (how === 'call') {
        const calling = this.#bounded(effect, (call) => spec.execute(copyJson(input as Json), call, []));
        const result = isPromise(calling) ? await calling : calling;
        this.answered(n, (result ?? null) as Json);
      } else {
        const undone = await this.#bounded(effect, (call) =>
          spec.compensate!(copyJson(input as Json), copyJson(answer, LONG), call),
        );
        const residue = residueOf(effect.tool, undone);
        this.undone(n, residue === undefined ? undefined : await this.#mitigated(effect, spec, residue));
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
  async makeAgain(n: number, how: How): Promise<boolean> {
    const tool = this.ports.tools.get(this.effects[n]!.tool);
    const sink = tool?.class?.sink;
    if (tool === undefined || sink === 'keyed') return this.make(n, how);
    if (sink === 'queryable') return this.ask(n);
    await this.leave(n, { is: 'in_doubt', n });
    return true;
  }

  /** Asks the sink for the outcome of a call or of its compensation. */
  async ask(n: number): Promise<boolean> {
    if (!this.isReady(n) && !(await this.readBack(n))) return false;
    await this.ports.coordination.sure();
    const effect = this.effects[n]!;
    const spec = this.specOf(n);
    try {
      const answer = await this.#bounded(effect, (call) => spec.reconcile!(copyJson(effect.input as Json), call));
      const said = requireTold(effect.tool, answer);
      const isUndoing = this.log.state.effects[n]!.phase === 'undoing';
      // A query after a compensation sees a final state.
      if (isUndoing) said.happened ? this.#absent(n) : this.undone(n, unheardResidue(effect.class));
      else if (said.happened) this.answered(n, said.result ?? null);
      else this.#absent(n);
    } catch (error) {
      // No answer arrived: counts as a lost answer, and the sink is asked again.
      await this.#lose(n);
      if (this.isLostFor(n)) {
        this.noteFailure(n, error);
        await this.leave(n, { is: 'in_doubt', n });
      }
    }
    return true;
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
  isLostFor(n: number): boolean {
    return (this.effects[n]!.lost ?? 0) >= this.ports.tries;
  }

  /** The last error of an effect. */
  failureOf(n: number): unknown {
    return this.#failures?.get(n);
  }

  /** The reason why an effect is unresolved, as a code. Undefined if its tool gave none. */
  whyLeft(n: number, as: 'in_doubt' | 'unresolved'): string | undefined {
    if (this.#failures?.has(n) === true) return whyOf(this.#failures.get(n));
    // Another process made the call, or its answer could not be recorded.
    return as === 'in_doubt' ? 'answer_lost' : undefined;
  }

  noteFailure(n: number, error: unknown): void {
    this.#failures ??= new Map();
    this.#failures.set(n, error);
  }

  change(n: number, more: Partial<Called>): void {
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
    const { input, told } = payload;
    const known = effect.isTooLong === true ? {} : { answer };
    this.effects[n] = { ...effect, input, ...known, ...(told === undefined ? {} : { told }) };
    return true;
  }

  /**
   * Marks the effect that could not be read back unresolved: its input was erased, so no process
   * can call it. Returns false if there is no such effect.
   */
  async leaveErased(): Promise<boolean> {
    const n = this.#erased;
    if (n === undefined) return false;
    this.#erased = undefined;
    const { phase } = this.log.state.effects[n]!;
    // Without a call since, the effect is unchanged. Otherwise it is in doubt, like an effect that
    // another call may have included.
    const isWhereItWas = (phase === 'due' || phase === 'executed') && !this.mayHaveBeenCalled(n);
    await this.leave(n, { is: isWhereItWas ? 'unresolved' : 'in_doubt', n, why: 'erased' });
    return true;
  }

  /**
   * The reason why the tool cannot compensate the effect, as a code, or undefined. A compensation
   * never receives an answer other than the original.
   */
  whyItStays(n: number): 'no_compensate' | 'answer_too_long' | undefined {
    if (this.specOf(n).compensate === undefined) return 'no_compensate';
    const { isTooLong, answer } = this.effects[n]!;
    return isTooLong === true && answer === undefined ? 'answer_too_long' : undefined;
  }

  answered(n: number, result: Json): void {
    const is = this.log.state.effects[n]!.phase === 'intended' ? 'executed' : 'applied';
    // Copied first, because an answer that is not JSON is rejected and the tool may keep changing
    // its object.
    const answer = keepable(result);
    if (answer === undefined) {
      this.#answeredTooMuch(n, is, result);
      return;
    }
    const ref = answer === null ? undefined : this.kept(n, answer);
    const effect = { ...this.effects[n]!, answer, lost: 0, isOpen: false };
    this.effects[n] = ref === undefined ? effect : { ...effect, result: ref };
    this.log.later(ref === undefined ? { is, n } : { is, n, result: ref });
  }

  /**
   * The effect was executed, and no query is needed. Its compensation has the answer while this
   * process lives.
   */
  #answeredTooMuch(n: number, is: 'executed' | 'applied', result: Json): void {
    const change: Partial<Called> = { isTooLong: true, lost: 0, isOpen: false };
    const { compensate } = this.specOf(n);
    const answer = compensate === undefined ? undefined : longer(result);
    this.change(n, answer === undefined ? change : { ...change, answer });
    this.log.later({ is, n, too_long: true });
  }

  /**
   * Also applies if the residue is too long to store: the effect is compensated and need not be
   * compensated again.
   */
  undone(n: number, residue: Json | undefined): void {
    const left = residue === undefined ? undefined : keptOf(this.effects[n]!.tool, residue);
    const ref = left === undefined ? undefined : this.kept(n, left);
    this.change(n, { lost: 0, isOpen: false });
    this.log.later(ref === undefined ? { is: 'undone', n } : { is: 'undone', n, residue: ref });
  }

  /** Stores a value so that the log can name it. @throws CanonError for a value that is not JSON */
  kept(n: number, value: Json): BlobRef {
    const kept = new Kept(saltsAt(this.ports.random, this.effects[n]!.key));
    const ref = kept.value(value, true) as BlobRef;
    this.log.keep(kept.blobs);
    return ref;
  }

  /** Waits before the next attempt, after `times` failed attempts and the last error. */
  wait(times: number, failure?: unknown): Promise<void> {
    const told = afterMsOf(failure);
    const wished = wishedPauseMs(times, failure);
    const patience = this.#takePatience();
    const longest = patience.of(2 * wished);
    patience.lose(longest);
    return this.ports.pause(Math.min(longest, Math.max(told, longest / 2)), longest, this.leaving);
  }

  /**
   * Continues without an answer after the limit, so a tool that hangs does not block other
   * transactions. A synchronous result is used directly.
   */
  patiently<T>(wishedMs: number, make: (signal: AbortSignal) => T | Promise<T>): T | Promise<T> {
    const ms = this.#takePatience().of(wishedMs);
    const limit = new TimeLimit(ms, this.ports.coordination.lost);
    const { inFlight } = this.ports;
    inFlight.made(limit);
    const over = (): void => {
      inFlight.over(limit);
      limit.end();
    };
    const failed = (error: unknown): never => {
      this.#takePatience().lose(limit.signal.aborted ? ms : limit.elapsedMs);
      over();
      throw thrownOf(error);
    };
    const answered = (value: T): T => {
      over();
      return value;
    };
    let made: T | Promise<T>;
    try {
      made = limit.bound(
        () => make(limit.signal),
        () => new NoAnswer(`it did not answer within ${ms} ms`, { why: 'too_slow' }),
        (error) => error instanceof DidNothing,
      );
    } catch (error) {
      return failed(error);
    }
    return isPromise(made) ? made.then(answered, failed) : answered(made);
  }

  #bounded<T>({ key }: Called, make: (call: Call) => T | Promise<T>): T | Promise<T> {
    return this.patiently(this.ports.callMs, (signal) => make({ key, signal, epoch: this.epoch }));
  }

  #takePatience(): Patience {
    this.#patience ??= new Patience(this.ports.patienceMs);
    return this.#patience;
  }

  /** The residue, and the tool's mitigation of it, if the tool defines one. */
  async #mitigated(effect: Called, { mitigate }: Tool['spec'], residue: Json): Promise<Json> {
    if (mitigate === undefined) return residue;
    try {
      const said = await this.#bounded(effect, (call) =>
        mitigate(copyJson(effect.input as Json), copyJson(residue, LONG), call),
      );
      const mitigated = keptOf(effect.tool, said ?? null);
      return keepable({ mitigated, residue }) ?? { mitigated, residue: notKept(effect.tool) };
    } catch (cause) {
      const why = `what was left could not be mitigated: ${(cause as Error | undefined)?.message}`;
      // A blind sink would execute the compensated call again.
      const said = whyOf(cause);
      if (effect.class.sink !== 'blind') throw new DidNothing(why, { cause, why: said });
      throw said === undefined ? new Error(why, { cause }) : new NoAnswer(why, { cause, why: said });
    }
  }

  async #failed(n: number, error: unknown): Promise<void> {
    this.noteFailure(n, error);
    if (!(error instanceof DidNothing) || this.effects[n]!.isOpen === true) return this.#lose(n, error);
    const wasOpen = this.log.state.effects[n]!.phase === 'intended';
    this.log.later(error.isFinal ? { is: 'failed', n, final: true } : { is: 'failed', n });
    // The body gets the error immediately, and decides itself whether to retry.
    const { failures } = this.log.state.effects[n]!;
    if (!wasOpen && !error.isFinal && failures < this.ports.tries) await this.wait(failures, error);
  }

  async #lose(n: number, error?: unknown): Promise<void> {
    const lost = (this.effects[n]!.lost ?? 0) + 1;
    this.change(n, { lost, isOpen: true });
    if (this.effects[n]!.class.sink !== 'blind' && lost < this.ports.tries) await this.wait(lost, error);
  }

  /** The call did nothing, or the effect to compensate still exists. */
  #absent(n: number): void {
    // A failed attempt counts, even if the sink itself reports the failure.
    const is = (this.effects[n]!.lost ?? 0) > 0 ? 'failed' : 'absent';
    this.change(n, { lost: 0, isOpen: false });
    this.log.later({ is, n });
  }

  #read(ref: BlobRef): Promise<Json | undefined> {
    return readSalted(this.ports.blob, ref);
  }
}
