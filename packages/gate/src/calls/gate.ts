import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type ArgumentSchema,
  arg,
  checkArgument,
  isAssizeError,
  isInstance,
  type Json,
} from 'assize/internal/base';
import { canonicalize, hashText } from 'assize/internal/canon';
import type { Hash } from 'assize/internal/ledger';
import { traced } from 'assize/internal/traces';
import type { RulingDocument } from 'assize/internal/views';
import { type AskedCall, hasHiddenMember, runCallIdOf, sessionIdOf } from './asked-call.ts';
import type { CallPort } from './call-port.ts';
import type { Observed } from './call-world.ts';
import type { Outcome } from './close-call.ts';
import { type DecideOptions, type Decision, digestOf } from './decide-call.ts';
import { CallError } from './errors.ts';
import type { HeldCall } from './held-call.ts';
import { isInterruption } from './interruption.ts';
import { callStep, makeStep } from './steps.ts';
import type { LeftCall } from './undo-calls.ts';

/** The longest pause before a run starts again. */
const RESTART_MS_MAX = 500;

export interface GateOptions {
  /** The name of the tools' server in the rules: a tool is `SERVER/TOOL` there. */
  readonly server: string;
  /** How long a call waits for a person before it is answered as pending. Default: 0. */
  readonly waitMs?: number;
  /** How long a repeated call waits for the outcome of one that is being made. Default: 2,000. */
  readonly inFlightMs?: number;
  /** How long a call waits for the end of another run that has the turn. Default: 60,000. */
  readonly turnMs?: number;
}

/** A call of a tool by a framework. */
export interface GateCall {
  /** The run, thread or conversation. It is the session of the call, by its hash if need be. */
  readonly run: string;
  /** The framework's id of the call. A repetition in the same run is the same call. */
  readonly id: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, Json>>;
  readonly observations?: readonly Observed[];
  /** The id in the ledger of the done call that this one takes back. */
  readonly undoes?: string;
}

/** Makes the calls of one tool, to take others back. */
export type Tools = Readonly<Record<string, Make<Json | undefined>>>;

export interface RunOptions {
  /** The tools that `undo` of the rules names, without their server. */
  readonly tools?: Tools;
  /** How often a run starts again that must let an earlier one go first. Default: 5. */
  readonly attempts?: number;
}

/** The calls of a run that were taken back, and those that stay, by their ids. */
export interface TakenBack {
  readonly undone: readonly string[];
  readonly left: readonly LeftCall[];
}

export interface MakeOptions {
  readonly waitMs?: number;
  /**
   * Whether a second call does no harm: a call that failed or is in doubt may be made again.
   * Default: whether the rules declare the tool as reading.
   */
  readonly isIdempotent?: boolean;
  /** Whether a call that was not asked about before is refused. */
  readonly isKnown?: boolean;
  /**
   * Whether an error leaves it open if the call took effect. Default: aborts, time-outs, cut
   * connections and faults of a server do.
   */
  readonly isUnknown?: (error: unknown) => boolean;
}

/** A call that has started, as its tool makes it. */
export interface BegunCall {
  /** The id of the call in the ledger. */
  readonly call: string;
  /** The same for every attempt, for a sink that takes idempotency keys. */
  readonly key: string;
  /** The arguments that are approved: a person may have changed the asked ones. */
  readonly args: Readonly<Record<string, Json>>;
}

/** Makes a call, with the arguments that are approved. */
export type Make<T extends Json | undefined> = (begun: BegunCall) => Promise<T>;

/** A call that waits for a person. */
export interface PendingEnd {
  readonly end: 'pending';
  readonly call: string;
  readonly approval: Hash;
  /** The rules that ask, and why. */
  readonly reason: string;
  /** The page of the call in the console, if there is a server. */
  readonly page?: string;
  /** The whole ruling. `frozen`: another call waits for `approval`, and blocks this one. */
  readonly ruling?: RulingDocument;
}

/** The end of a call. `isRecorded`: it was made before, and the ledger has its result. */
export type CallEnd<T> =
  | {
      readonly end: 'done';
      readonly call: string;
      readonly result: T;
      readonly isRecorded: boolean;
    }
  | {
      readonly end: 'failed';
      readonly call: string;
      readonly error: unknown;
      readonly isRecorded: boolean;
    }
  /** `ruling`: the whole document, where a ruling refuses the call. */
  | {
      readonly end: 'refused';
      readonly call: string;
      readonly reason: string;
      readonly ruling?: RulingDocument;
    }
  | PendingEnd
  | {
      readonly end: 'doubt';
      readonly call: string;
      readonly reason: string;
      /** The outcome, if the ledger has no result: a person has recorded it, say. */
      readonly settled?: 'done' | 'failed';
    };

/** The judgement of a call that is not made yet. `begun`: it had started before. */
export type JudgedEnd =
  | { readonly end: 'ready'; readonly call: string }
  | { readonly end: 'begun'; readonly call: string }
  | RefusedEnd
  | PendingEnd;

const NAME: ArgumentSchema = arg.of(
  'a text that is not empty',
  (value) => typeof value === 'string' && value !== '',
);

const CALL = arg.members({
  run: NAME,
  id: NAME,
  tool: NAME,
  args: arg.object,
  observations: arg.optional(arg.list(arg.object)),
  undoes: arg.optional(arg.text),
});

const RUN_OPTIONS = arg.options<RunOptions>({
  tools: arg.optional(arg.object),
  attempts: arg.optional(arg.wholeFrom(1)),
});

const MAKE_OPTIONS = arg.options<MakeOptions>({
  waitMs: arg.optional(arg.wholeFrom(0)),
  isIdempotent: arg.optional(arg.flag),
  isKnown: arg.optional(arg.flag),
  isUnknown: arg.optional(arg.code),
});

/** The most bytes of a result that the ledger keeps. Its report fits in a proposal of 1 MiB. */
const RESULT_BYTES_MAX = 1_000_000;
/** How often an idempotent call is retried. */
const ATTEMPTS_MAX = 5;

/**
 * Lets the tools of a framework be called once each. A call is judged by the rules, approved by a
 * person where they ask, recorded as started, made, and closed with its result.
 *
 * Guarantees: a call is made only after the ledger has recorded its start, and starts once.
 * A repetition of a call, after a resume, a replay or a retry, gets the recorded result. A call
 * with the id of another one and other arguments is refused.
 */
export class Gate {
  readonly port: CallPort;
  readonly #options: Required<GateOptions>;
  /** The calls that this process makes or reports now, by their id. */
  readonly #running: Map<string, Running> = new Map();
  /** The outcomes that are being recorded. None of them rejects. */
  readonly #reports: Set<Promise<void>> = new Set();
  /** The sessions of this process that must start again. */
  readonly #restarts: Set<string> = new Set();
  /** The calls that wait for a person, by their session: a run of `inRun`. */
  readonly #waiting: Map<string, Set<string>> = new Map();

  constructor(
    port: CallPort,
    { server, waitMs = 0, inFlightMs = 2_000, turnMs = 60_000 }: GateOptions,
  ) {
    this.port = port;
    this.#options = { server, waitMs, inFlightMs, turnMs };
  }

  /**
   * Asks about a call and makes it, once. A refusal, a wait for a person and a doubt are results.
   *
   * @throws ArgumentError `bad_argument`; the errors of the store or the server, before the call is
   * made
   */
  async run<T extends Json | undefined>(
    call: GateCall,
    make: Make<T>,
    options: MakeOptions = {},
  ): Promise<CallEnd<T>> {
    checkArgument(CALL, call, 'call');
    checkArgument(arg.code, make, 'make');
    checkArgument(MAKE_OPTIONS, options, 'options');
    const end = await traced(
      () => callStep(this.#options.server, call),
      () => this.#run(call, make, options),
    );
    return this.#noted(call, end);
  }

  /** Takes down whether a call waits for a person. */
  #noted<E extends { readonly end: string }>({ run, id }: GateCall, end: E): E {
    const waiting = this.#waiting.get(sessionIdOf(run));
    if (end.end === 'pending') waiting?.add(id);
    else waiting?.delete(id);
    return end;
  }

  async #run<T extends Json | undefined>(
    call: GateCall,
    make: Make<T>,
    options: MakeOptions,
  ): Promise<CallEnd<T>> {
    const first = runCallIdOf(call.run, call.id);
    for (let attempt = 1; ; attempt++) {
      const id = attempt === 1 ? first : `${first}:${attempt}`;
      const known = attempt === 1 ? options : { ...options, ...UNKNOWN };
      const work = { make, key: first, call, options: known };
      const { end, isNow, isIdempotent } = await this.#once(this.#asked(id, call), work);
      const isOpen = end.end === 'doubt' || (end.end === 'failed' && end.isRecorded);
      if (isNow || !isOpen || !isIdempotent || attempt === ATTEMPTS_MAX) return end;
    }
  }

  /**
   * Judges a call and asks about it, before it is made. It does not start: `run` starts and makes
   * it.
   *
   * @throws ArgumentError `bad_argument`; the errors of the store or the server
   */
  async judge(
    call: GateCall,
    options: Pick<MakeOptions, 'waitMs' | 'isIdempotent' | 'isKnown'> = {},
  ): Promise<JudgedEnd> {
    checkArgument(CALL, call, 'call');
    checkArgument(MAKE_OPTIONS, options, 'options');
    return this.#noted(call, await this.#judged(call, options));
  }

  async #judged(
    call: GateCall,
    options: Pick<MakeOptions, 'waitMs' | 'isIdempotent' | 'isKnown'>,
  ): Promise<JudgedEnd> {
    const first = runCallIdOf(call.run, call.id);
    for (let attempt = 1; ; attempt++) {
      const id = attempt === 1 ? first : `${first}:${attempt}`;
      const asked = this.#asked(id, call);
      if (hasHiddenMember(asked.args)) return hidden(id);
      const decision = await this.port.judge(
        asked,
        this.#asking(call, attempt === 1 ? options : { ...options, ...UNKNOWN }),
      );
      if (decision.kind === 'denied') return refused(id, this.#denied(asked, decision));
      if (decision.kind === 'pending') return this.#pending(id, decision);
      if (decision.kind === 'ready') return { end: 'ready', call: id };
      const isOver =
        decision.outcome === 'done' || !isRepeatable(decision, options) || attempt === ATTEMPTS_MAX;
      if (isOver) return { end: 'begun', call: id };
    }
  }

  /**
   * A call that waits, as its person is shown it. Undefined if it was decided in the meantime.
   *
   * @throws the errors of the store or the server
   */
  async held(
    call: GateCall,
    { approval, call: id, reason, page, ruling }: PendingEnd,
  ): Promise<HeldCall | undefined> {
    const { run, tool, args } = call;
    const held = {
      run,
      id: call.id,
      tool,
      args,
      call: id,
      approval,
      reason,
      ...(page !== undefined && { page }),
    };
    if (ruling?.ruling === 'frozen') return held;
    const shown = await this.port.shown(approval);
    return shown && { ...held, digest: shown.digest };
  }

  /**
   * The result of a call, for frameworks that take errors.
   *
   * @throws CallError `call_refused`, `call_pending`, `call_in_doubt`, `call_failed`; the error of
   * the tool; the errors of `run`
   */
  async result<T extends Json | undefined>(
    call: GateCall,
    make: Make<T>,
    options: MakeOptions = {},
  ): Promise<T> {
    const end = await this.run(call, make, options);
    if (end.end === 'done') return end.result;
    throw errorOf(end);
  }

  /**
   * Waits until the outcomes of the calls that were made are recorded, and closes the port. A call
   * that is still being made is in doubt then.
   */
  async close(): Promise<void> {
    await Promise.all(this.#reports);
    await this.port.close();
  }

  /**
   * Does work whose calls stand or fall together. `work` gets the name of the run for its calls.
   * When it returns, the run ends, and what it held is free for others. When it throws, its done
   * calls are taken back first, the newest first, where the rules name an `undo` of their tool and
   * `tools` has that tool; a warning names the others. A run that was taken back, or must let an
   * earlier one go first, starts again as `NAME~2`. While a call waits for a person, the run
   * neither ends nor is taken back: `inRun` with the same name goes on.
   *
   * @throws the error of the work; CallError `call_refused` after the last attempt; ArgumentError
   * `bad_argument`; the errors of the store or the server
   */
  async inRun<T>(
    name: string,
    work: (run: string) => Promise<T>,
    options: RunOptions = {},
  ): Promise<T> {
    checkArgument(NAME, name, 'name');
    checkArgument(arg.code, work, 'work');
    checkArgument(RUN_OPTIONS, options, 'options');
    const { tools = {}, attempts = 5 } = options;
    for (let attempt = 1; ; attempt++) {
      const run = attempt === 1 ? name : `${name}~${attempt}`;
      const session = sessionIdOf(run);
      const waiting = new Set<string>();
      this.#waiting.set(session, waiting);
      const end = await work(run).then(
        (result) => ({ result }),
        (error: unknown) => ({ error }),
      );
      this.#waiting.delete(session);
      const mustRestart = this.#restarts.delete(session);
      const isPaused = 'error' in end ? isAssizeError(end.error, 'call_pending') : waiting.size > 0;
      if (!mustRestart && (isPaused || 'result' in end)) {
        if ('error' in end) throw end.error;
        if (!isPaused) await this.port.end(session);
        return end.result;
      }
      const { left } = await this.takeBack(run, tools);
      if (left.length > 0) warnOfLeft(run, left);
      if (mustRestart && left.length === 0 && attempt < attempts) {
        // Without a pause all attempts can fail before the earlier run has ended.
        await pause(Math.random() * Math.min(2 ** attempt * 10, RESTART_MS_MAX));
        continue;
      }
      if ('error' in end) throw end.error;
      throw new CallError('call_refused', `The run ${run} was taken back: start it again later.`, {
        evidence: { run },
      });
    }
  }

  /**
   * Takes the done calls of a run back, the newest first, by the tools that the rules name, and
   * ends the run. Each is a separate call that the rules judge. Every later call of the run is
   * refused. `left` has the calls that stay: those that the rules cannot undo, too.
   *
   * @throws ArgumentError `bad_argument`; the errors of the store or the server
   */
  async takeBack(run: string, tools: Tools): Promise<TakenBack> {
    checkArgument(NAME, run, 'run');
    checkArgument(arg.object, tools, 'tools');
    await Promise.all(this.#reports);
    const session = sessionIdOf(run);
    await this.port.fail(session);
    const { calls, left: stay } = await this.port.undoCalls(session);
    const [undone, left]: [string[], LeftCall[]] = [[], [...stay]];
    let isHeld = false;
    for (const { call, server, tool, args } of calls) {
      const make = Object.hasOwn(tools, tool) ? tools[tool] : undefined;
      if (server !== this.#options.server || make === undefined) {
        left.push({ call, reason: `no tool ${server}/${tool} is passed in \`tools\`` });
        continue;
      }
      const asked = { run, id: `undo-${call}`, tool, args, undoes: call };
      const end = await this.run(asked as GateCall, make);
      if (end.end === 'done') undone.push(call);
      else left.push({ call, reason: 'reason' in end ? end.reason : told(end.error).message });
      isHeld ||= end.end === 'pending';
    }
    // An undoing that waits for a person must find the places as the run left them.
    if (!isHeld) await this.port.end(session);
    return { undone, left };
  }

  #asked(id: string, { run, tool, args, undoes }: GateCall): AskedCall {
    return {
      ...{ id, session: sessionIdOf(run), server: this.#options.server, tool, args },
      ...(undoes !== undefined && { undoes }),
    };
  }

  async #once<T extends Json | undefined>(asked: AskedCall, work: Work<T>): Promise<Attempt<T>> {
    const digest = `${asked.tool} ${digestOf(asked)}`;
    const running = this.#running.get(asked.id);
    if (running !== undefined) return repeated(asked.id, digest, running);
    const mark = {};
    const attempt = MAKING.run([...(MAKING.getStore() ?? []), mark], () =>
      this.#decided(asked, work),
    );
    this.#running.set(asked.id, { mark, digest, attempt });
    const forget = (): boolean => this.#running.delete(asked.id);
    try {
      const made = await attempt;
      if (made.reported === undefined) forget();
      else made.reported.then(forget);
      return made;
    } catch (error) {
      forget();
      throw error;
    }
  }

  async #decided<T extends Json | undefined>(asked: AskedCall, work: Work<T>): Promise<Attempt<T>> {
    const { id: call } = asked;
    if (hasHiddenMember(asked.args))
      return { end: hidden(call), isNow: false, isIdempotent: false };
    const decision = await this.#ask(asked, work);
    const known = { isNow: false, isIdempotent: isRepeatable(decision, work.options) };
    if (decision.kind === 'denied') return { ...known, end: refused(call, decision) };
    if (decision.kind === 'begun')
      return { ...known, end: await this.#before(call, decision.reason) };
    if (decision.kind === 'pending') return { ...known, end: this.#pending(call, decision) };
    if (decision.kind !== 'allowed')
      throw new TypeError(`A port has answered ${JSON.stringify(decision)}.`);
    return this.#made({ call, args: decision.args ?? asked.args }, work, known.isIdempotent);
  }

  /** Asks until the runs have ended that have the turn, or the time is over. */
  async #ask<T extends Json | undefined>(
    asked: AskedCall,
    { call, options }: Work<T>,
  ): Promise<Decision> {
    const until = performance.now() + this.#options.turnMs;
    for (let wait = 10; ; wait = Math.min(wait * 2, 250)) {
      const decision = await this.port.ask(asked, this.#asking(call, options));
      if (decision.kind !== 'denied' || decision.turn === undefined) return decision;
      if (decision.turn !== 'waiting' || performance.now() >= until)
        return this.#denied(asked, decision);
      await pause(wait);
    }
  }

  /** Takes down whether the run of a denied call must start again. */
  #denied({ session }: AskedCall, { turn, ...denied }: Denied): Denied {
    const mustRestart = turn === 'restart' || turn === 'lost';
    if (mustRestart && session !== undefined) this.#restarts.add(session);
    return denied;
  }

  #asking(
    { observations = [] }: GateCall,
    { waitMs = this.#options.waitMs, isKnown = false }: Pick<MakeOptions, 'waitMs' | 'isKnown'>,
  ): DecideOptions {
    return { waitMs, observations, match: 'id', isKnown };
  }

  #pending(
    call: string,
    { kind: _, ...waits }: Extract<Decision, { readonly kind: 'pending' }>,
  ): PendingEnd {
    const page = this.port.pageOf(waits.approval);
    return { end: 'pending', call, ...waits, ...(page !== undefined && { page }) };
  }

  /** The end of a call that had started before, here or in another process. */
  async #before<T>(call: string, reason: string): Promise<CallEnd<T>> {
    const until = performance.now() + this.#options.inFlightMs;
    for (let wait = 20; ; wait = Math.min(wait * 2, 250)) {
      const outcome = await this.port.outcomeOf(call);
      if (outcome !== undefined && outcome.outcome !== 'unknown')
        return endOf(call, outcome, reason);
      if (outcome !== undefined || performance.now() >= until)
        return { end: 'doubt', call, reason };
      await pause(wait);
    }
  }

  /**
   * Makes a call. The result of an idempotent one is returned before its outcome is recorded: it is
   * safe to make it again after a crash.
   */
  async #made<T extends Json | undefined>(
    { call, args }: Omit<BegunCall, 'key'>,
    { make, key, call: asked, options }: Work<T>,
    isIdempotent: boolean,
  ): Promise<Attempt<T>> {
    const known = { isNow: true, isIdempotent };
    const { isUnknown = isInterruption } = options;
    let result: T;
    try {
      result = await traced(
        () => makeStep(this.#options.server, call, asked),
        () => make({ call, key, args }),
      );
    } catch (error) {
      const unknown = leavesOpen(error, isUnknown);
      await this.#report(call, {
        outcome: unknown ? 'unknown' : 'failed',
        result: { error: told(error) },
      });
      if (!unknown) return { ...known, end: { end: 'failed', call, error, isRecorded: false } };
      const reason = `it was made, and its outcome is not known: ${told(error).message}`;
      return { ...known, end: { end: 'doubt', call, reason } };
    }
    const reported = this.#report(call, { outcome: 'done', result: kept(result) });
    const end = { end: 'done', call, result, isRecorded: false } as const;
    if (isIdempotent) return { ...known, end, reported };
    await reported;
    return { ...known, end };
  }

  /** The call is made, so an outcome that is not recorded is not a failure of the call. */
  #report(call: string, outcome: Outcome): Promise<void> {
    const report = this.#sent(call, outcome).finally(() => this.#reports.delete(report));
    this.#reports.add(report);
    return report;
  }

  async #sent(call: string, outcome: Outcome): Promise<void> {
    for (const wait of [...REPORT_PAUSES_MS, undefined]) {
      try {
        await this.port.report(call, outcome);
        return;
      } catch (error) {
        if (wait === undefined || !isAssizeError(error) || !error.retryable)
          return warnOf(call, error);
        await pause(wait);
      }
    }
  }
}

/** The pauses before a report is sent again that a server could not take. */
const REPORT_PAUSES_MS = [50, 500, 2_000];

function warnOf(call: string, error: unknown): void {
  const text = `The outcome of the call ${call} was not recorded, so it is in doubt: ${told(error).message}`;
  process.emitWarning(text, { type: 'AssizeWarning', code: 'call_in_doubt' });
}

function warnOfLeft(run: string, left: readonly LeftCall[]): void {
  const calls = left.map(({ call, reason }) => `${call} (${reason})`).join(', ');
  const text = `The run ${run} was taken back, and these calls stay: ${calls}.`;
  process.emitWarning(text, { type: 'AssizeWarning', code: 'calls_left' });
}

type RefusedEnd = Extract<CallEnd<never>, { readonly end: 'refused' }>;

type Denied = Extract<Decision, { readonly kind: 'denied' }>;

function refused(call: string, { kind: _, ...why }: Denied): RefusedEnd {
  return { end: 'refused', call, ...why };
}

function hidden(call: string): RefusedEnd {
  return {
    end: 'refused',
    call,
    reason: `the arguments of the call ${call} have a member named __proto__`,
  };
}

/** An error whose meaning the program cannot tell leaves the call open. */
function leavesOpen(error: unknown, isUnknown: (error: unknown) => boolean): boolean {
  try {
    return isUnknown(error);
  } catch {
    return true;
  }
}

/** A later attempt of a known call has an id of its own. */
const UNKNOWN = { isKnown: false } as const;

interface Work<T extends Json | undefined> {
  readonly make: Make<T>;
  readonly key: string;
  readonly call: GateCall;
  readonly options: MakeOptions;
}

/** Whether a second call does no harm: by its program, or by the rules. */
function isRepeatable(
  decision: Decision,
  { isIdempotent }: Pick<MakeOptions, 'isIdempotent'>,
): boolean {
  return isIdempotent ?? ('class' in decision && decision.class === 'read');
}

/** The form of a gate, for functions that take one. */
export const GATE: ArgumentSchema = arg.of('a gate of openGate or connectGate', (value) =>
  isInstance(value, Gate),
);

/** An attempt of a call. */
interface Attempt<T> {
  readonly end: CallEnd<T>;
  /** Whether the tool was called now. */
  readonly isNow: boolean;
  readonly isIdempotent: boolean;
  /** Settles when the outcome is recorded. Absent: it is. */
  readonly reported?: Promise<void>;
}

/** An attempt that this process makes, or whose outcome it records. */
interface Running {
  readonly mark: object;
  readonly digest: string;
  readonly attempt: Promise<Attempt<unknown>>;
}

/** The marks of the attempts that the running code belongs to. */
const MAKING = new AsyncLocalStorage<readonly object[]>();

/** The end of the same call while it is being made. */
async function repeated<T>(call: string, digest: string, running: Running): Promise<Attempt<T>> {
  const reason = `the call ${call} was asked for with other arguments`;
  const known = { isNow: false, isIdempotent: false };
  if (running.digest !== digest) return { ...known, end: { end: 'refused', call, reason } };
  // It would wait for itself.
  if (MAKING.getStore()?.includes(running.mark))
    return {
      ...known,
      end: { end: 'doubt', call, reason: 'it is being made, and its tool calls it again' },
    };
  const attempt = (await running.attempt) as Attempt<T>;
  const { end } = attempt;
  return 'isRecorded' in end ? { ...attempt, end: { ...end, isRecorded: true } } : attempt;
}

/** The error of an end without a result. The error of a tool is thrown as it is. */
export function errorOf(end: Exclude<CallEnd<unknown>, { readonly end: 'done' }>): unknown {
  const { call } = end;
  if (end.end === 'failed')
    return end.isRecorded
      ? new CallError('call_failed', `The call ${call} failed before: ${told(end.error).message}`, {
          evidence: { call },
        })
      : end.error;
  if (end.end === 'refused')
    return new CallError('call_refused', `The call was refused: ${end.reason}`, {
      evidence: { call },
    });
  if (end.end === 'doubt') {
    const how = 'assize effects calls settle, or at a server with assize api calls.settle';
    const then =
      end.settled === undefined ? `. See whether it took effect, and settle it with ${how}.` : '.';
    return new CallError(
      'call_in_doubt',
      `The call ${call} is not made again: ${end.reason}${then}`,
      {
        evidence: { call },
      },
    );
  }
  const at =
    end.page === undefined ? 'Approve it with assize approve' : `Approve it at ${end.page}`;
  return new CallError(
    'call_pending',
    `The call waits for a person: ${end.reason}. ${at}, then call again.`,
    {
      evidence: { call, approval: end.approval },
    },
  );
}

/** The part of a result that the ledger keeps. */
function kept(result: Json | undefined): Json {
  if (result === undefined) return {};
  try {
    const text = canonicalize(result, { bytesMax: 64 * 1_048_576 });
    const bytes = Buffer.byteLength(text);
    return bytes <= RESULT_BYTES_MAX
      ? { value: result }
      : { omitted: { bytes, sha256: hashText(text) } };
  } catch (error) {
    // The call is made, so a result that is not JSON is not a failure of it.
    return { omitted: { reason: told(error).message } };
  }
}

/** A gate reports every outcome with a result. An outcome without one was recorded by a person. */
function endOf<T>(call: string, { outcome, result }: Outcome, reason: string): CallEnd<T> {
  if (result === undefined) {
    const settled = outcome as 'done' | 'failed';
    return {
      end: 'doubt',
      call,
      reason: `a person has settled it as ${settled}, without a result`,
      settled,
    };
  }
  const { value, error, omitted } = result as {
    readonly [member in 'value' | 'error' | 'omitted']?: Json;
  };
  if (outcome === 'failed')
    return { end: 'failed', call, error: error ?? { message: reason }, isRecorded: true };
  if (omitted !== undefined)
    return {
      end: 'doubt',
      call,
      reason: 'its result was not kept: too large, or no JSON',
      settled: 'done',
    };
  return { end: 'done', call, result: value as T, isRecorded: true };
}

function told(error: unknown): { readonly name: string; readonly message: string } {
  const { name, message } = (error ?? {}) as {
    readonly name?: unknown;
    readonly message?: unknown;
  };
  return {
    name: typeof name === 'string' ? name.slice(0, 200).toWellFormed() : 'Error',
    message: (typeof message === 'string' ? message : printed(error))
      .slice(0, 4_000)
      .toWellFormed(),
  };
}

function printed(error: unknown): string {
  try {
    return String(error);
  } catch {
    return 'an error that cannot be printed';
  }
}
