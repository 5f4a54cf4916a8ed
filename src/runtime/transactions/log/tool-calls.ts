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

/** What a crash has left. */
interface Left {
  readonly effects?: Called[];
  /** Effects that may have been called, although the log does not say so. */
  readonly perhaps?: Set<number>;
  /** Aborted when it is left again: no call is waited for any more that would be made again. */
  readonly leaving?: AbortSignal;
}

/** The effects of one transaction, and the calls that make them, undo them, and ask for them. What came of each goes into its log. */
export class Calls {
  readonly ports: CallPorts;
  readonly log: RunLog;
  readonly epoch: number;
  readonly leave: Leave;
  readonly effects: Called[];
  /** What was done for its body where nobody else sees it yet, while that can be had. */
  holdings: Holdings | undefined;
  readonly #perhaps: Set<number> | undefined;
  /** Aborted when it is left: no call is waited for any more that would be made again. */
  leaving: AbortSignal | undefined;
  #failures: Map<number, unknown> | undefined;
  /** The last one that could not be read back, as it was erased, as long as nobody was told. */
  #erased: number | undefined;
  /** Undefined before the first call. What a person has decided on is gone on with by another one. */
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

  /** What is called together, by the tools that are here. */
  get mates(): { readonly together?: Mates } {
    const { tools } = this.ports;
    const together = togetherBy(this.effects.map(({ tool }) => tools.get(tool)?.spec));
    return together === undefined ? {} : { together };
  }

  /** Makes a call, or its compensation, and says what came of it; before it, if it has to be said, that it is made (`record`). */
  async make(n: number, how: How, record?: LogRecord): Promise<boolean> {
    if (!this.isReady(n) && !(await this.readBack(n))) return false;
    const { together } = this.specOf(n);
    if (together !== undefined) {
      // As what is told is compared where they are called together.
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
   * Makes one again of which nobody can tell what became of it, as the log has it that its sink was keyed. By the tool that is here it may be
   * so no more: then it is asked about, or waits for a person.
   */
  async makeAgain(n: number, how: How): Promise<boolean> {
    const tool = this.ports.tools.get(this.effects[n]!.tool);
    const sink = tool?.class?.sink;
    if (tool === undefined || sink === 'keyed') return this.make(n, how);
    if (sink === 'queryable') return this.ask(n);
    await this.leave(n, { is: 'in_doubt', n });
    return true;
  }

  /** Asks the sink what became of a call, or of its compensation. */
  async ask(n: number): Promise<boolean> {
    if (!this.isReady(n) && !(await this.readBack(n))) return false;
    await this.ports.coordination.sure();
    const effect = this.effects[n]!;
    const spec = this.specOf(n);
    try {
      const answer = await this.#bounded(effect, (call) => spec.reconcile!(copyJson(effect.input as Json), call));
      const said = requireTold(effect.tool, answer);
      const isUndoing = this.log.state.effects[n]!.phase === 'undoing';
      // Asked after a compensation, what has happened stands still.
      if (isUndoing) said.happened ? this.#absent(n) : this.undone(n, unheardResidue(effect.class));
      else if (said.happened) this.answered(n, said.result ?? null);
      else this.#absent(n);
    } catch (error) {
      // Nobody was told anything: as if the answer was lost, and asked again.
      await this.#lose(n);
      if (this.isLostFor(n)) {
        this.noteFailure(n, error);
        await this.leave(n, { is: 'in_doubt', n });
      }
    }
    return true;
  }

  /** Whether the log need not have said of an effect that it was called, before a crash. */
  mayHaveBeenCalled(n: number): boolean {
    return this.#perhaps?.has(n) === true;
  }

  /** The first of those that may have been called although the log does not say so. */
  get firstPerhaps(): number | undefined {
    return this.#perhaps?.values().next().value;
  }

  /** What needs no record before it is called may have been, before a crash: it is gone on with as if it was. */
  wasCalled(n: number): true {
    this.#perhaps?.delete(n);
    this.change(n, { isOpen: true });
    this.log.note({ is: 'applying', n });
    return true;
  }

  /** Whether too many answers were lost for another try. */
  isLostFor(n: number): boolean {
    return (this.effects[n]!.lost ?? 0) >= this.ports.tries;
  }

  /** What was thrown last, for an effect. */
  failureOf(n: number): unknown {
    return this.#failures?.get(n);
  }

  /** Why it is left to a person, as a code; undefined where its tool has said none. */
  whyLeft(n: number, as: 'in_doubt' | 'unresolved'): string | undefined {
    if (this.#failures?.has(n) === true) return whyOf(this.#failures.get(n));
    // It was called before this process knew of it, or nobody could write down what it has answered.
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

  /** Whether there is all that a call of it takes. */
  isReady(n: number): boolean {
    const { tool, input } = this.effects[n]!;
    return input !== undefined && this.ports.tools.has(tool);
  }

  /** Reads an effect back from its blobs. False where that, or its tool, can't be had. */
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
   * A person has the effect that could not be read back, as what its tool needs was erased: no process will ever have that again. False
   * where there is none.
   */
  async leaveErased(): Promise<boolean> {
    const n = this.#erased;
    if (n === undefined) return false;
    this.#erased = undefined;
    const { phase } = this.log.state.effects[n]!;
    // What no call was made for since is where it was; of any other nobody can tell, as of what may have been called with another one.
    const isWhereItWas = (phase === 'due' || phase === 'executed') && !this.mayHaveBeenCalled(n);
    await this.leave(n, { is: isWhereItWas ? 'unresolved' : 'in_doubt', n, why: 'erased' });
    return true;
  }

  /** Why it can't be undone by its tool, as a code, or undefined. What undoes it is never given another answer than there was. */
  whyItStays(n: number): 'no_compensate' | 'answer_too_long' | undefined {
    if (this.specOf(n).compensate === undefined) return 'no_compensate';
    const { isTooLong, answer } = this.effects[n]!;
    return isTooLong === true && answer === undefined ? 'answer_too_long' : undefined;
  }

  answered(n: number, result: Json): void {
    const is = this.log.state.effects[n]!.phase === 'intended' ? 'executed' : 'applied';
    // First: an answer that is no JSON is none. A copy: its tool may go on with what it has given.
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

  /** It was done, and nobody need ask for it again. What undoes it has the answer as long as this process lives. */
  #answeredTooMuch(n: number, is: 'executed' | 'applied', result: Json): void {
    const change: Partial<Called> = { isTooLong: true, lost: 0, isOpen: false };
    const { compensate } = this.specOf(n);
    const answer = compensate === undefined ? undefined : longer(result);
    this.change(n, answer === undefined ? change : { ...change, answer });
    this.log.later({ is, n, too_long: true });
  }

  /** Also where what is left is more than is kept: it is undone, and nobody need undo it again to be told. */
  undone(n: number, residue: Json | undefined): void {
    const left = residue === undefined ? undefined : keptOf(this.effects[n]!.tool, residue);
    const ref = left === undefined ? undefined : this.kept(n, left);
    this.change(n, { lost: 0, isOpen: false });
    this.log.later(ref === undefined ? { is: 'undone', n } : { is: 'undone', n, residue: ref });
  }

  /** Puts it where the log can name it. @throws CanonError for what is no JSON */
  kept(n: number, value: Json): BlobRef {
    const kept = new Kept(saltsAt(this.ports.random, this.effects[n]!.key));
    const ref = kept.value(value, true) as BlobRef;
    this.log.keep(kept.blobs);
    return ref;
  }

  /** Before another try, after so many, the last of which has failed so. */
  wait(times: number, failure?: unknown): Promise<void> {
    const told = afterMsOf(failure);
    const wished = wishedPauseMs(times, failure);
    const patience = this.#takePatience();
    const longest = patience.of(2 * wished);
    patience.lose(longest);
    return this.ports.pause(Math.min(longest, Math.max(told, longest / 2)), longest, this.leaving);
  }

  /** Goes on without an answer when that takes too long: a tool that hangs holds nobody up. What is there at once is not waited for. */
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

  /** What is left, and what was done about it, where its tool does something. */
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
      // A blind sink would do again what has been undone.
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
    // The body is told at once, and decides itself whether it tries again.
    const { failures } = this.log.state.effects[n]!;
    if (!wasOpen && !error.isFinal && failures < this.ports.tries) await this.wait(failures, error);
  }

  async #lose(n: number, error?: unknown): Promise<void> {
    const lost = (this.effects[n]!.lost ?? 0) + 1;
    this.change(n, { lost, isOpen: true });
    if (this.effects[n]!.class.sink !== 'blind' && lost < this.ports.tries) await this.wait(lost, error);
  }

  /** It has not happened, or what it was to undo still stands. */
  #absent(n: number): void {
    // A try that came to nothing counts, also where it is the sink that says so.
    const is = (this.effects[n]!.lost ?? 0) > 0 ? 'failed' : 'absent';
    this.change(n, { lost: 0, isOpen: false });
    this.log.later({ is, n });
  }

  #read(ref: BlobRef): Promise<Json | undefined> {
    return readSalted(this.ports.blob, ref);
  }
}
