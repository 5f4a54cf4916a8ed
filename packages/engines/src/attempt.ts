import {
  type BegunCall,
  type CallEnd,
  CallError,
  errorOf,
  type Gate,
  type GateCall,
  type HeldCall,
  isInterruption,
  type MakeOptions,
} from '@assize/gate/internal/calls';
import { notKept, runTool } from '@assize/gate/internal/tool-calls';
import type { AssizeError, Json } from 'assize/internal/base';
import { canonicalize } from 'assize/internal/canon';
import type { DoubtfulCall } from './doubtful-call.ts';
import type { BegunOnce, CallArgs, MakeOnce, OnceOptions } from './once-call.ts';

/** The end of an attempt, as JSON that an engine keeps in its journal. */
export type AttemptEnd =
  | { readonly end: 'done'; readonly result?: Json }
  /** A person has to decide. `held` is absent if the question is being decided now. */
  | { readonly end: 'pending'; readonly message: string; readonly held?: HeldCall }
  /** The outcome is not known. A later attempt gets it, or the settlement by a person. */
  | { readonly end: 'doubt'; readonly message: string; readonly doubtful: DoubtfulCall }
  | LostEnd;

/** The end of an attempt after which the run waits, and asks again. */
export type WaitingEnd = Extract<AttemptEnd, { readonly end: 'pending' | 'doubt' }>;

/** The end of a call without a result: an error that no repetition mends. */
export interface LostEnd {
  readonly end: 'lost';
  readonly code: CallError['code'];
  readonly message: string;
  readonly evidence: { readonly call: string; readonly settled?: 'done' | 'failed' };
}

export interface AttemptOptions extends OnceOptions {
  /** Errors of the function that the engine takes as they are. */
  readonly passesOn?: (error: unknown) => boolean;
}

/**
 * Asks about a call and makes it, once.
 *
 * @throws CallError `call_failed`, retryable: an idempotent call failed, and may be made again; an
 * error that is passed on; the errors of `Gate.run`
 */
export async function attempt<Args extends CallArgs, T extends Json | undefined>(
  gate: Gate,
  call: GateCall,
  make: MakeOnce<Args, T>,
  {
    idempotent = false,
    isUnknown = isInterruption,
    waitMs,
    passesOn = () => false,
  }: AttemptOptions,
): Promise<AttemptEnd> {
  const tool = {
    make: (begun: BegunCall) => make(begun as BegunOnce<Args>),
    toRecord: kept,
  };
  const options: MakeOptions = {
    ...(idempotent && { isIdempotent: true }),
    isUnknown,
    ...(waitMs !== undefined && { waitMs }),
  };
  const { end, live } = await runTool(gate, call, tool, options);
  if (live !== undefined && 'thrown' in live && passesOn(live.thrown)) throw live.thrown;
  if (isUnsettled(end)) return doubtEnd(call, end);
  if (end.end === 'done') return madeEnd(end.call, end.result);
  if (end.end === 'pending') {
    const held = await gate.held(call, end);
    return { end: 'pending', message: errorText(end), ...(held !== undefined && { held }) };
  }
  const lost = lostEnd(end);
  if (idempotent && end.end === 'failed' && !end.isRecorded)
    throw new CallError('call_failed', lost.message, {
      evidence: lost.evidence,
      cause: end.error,
      retryable: true,
    });
  return lost;
}

/** The error of an end without a result. */
export function lostError({ code, message, evidence }: LostEnd): AssizeError {
  return new CallError(code, message, { evidence });
}

type DoubtEnd = Extract<CallEnd<unknown>, { readonly end: 'doubt' }>;

function isUnsettled(end: CallEnd<unknown>): end is DoubtEnd {
  return end.end === 'doubt' && end.settled === undefined;
}

function doubtEnd({ run, id, tool, args }: GateCall, end: DoubtEnd): WaitingEnd {
  const { call, reason } = end;
  return { end: 'doubt', message: errorText(end), doubtful: { run, id, tool, args, call, reason } };
}

/** The result as the ledger keeps it, also for the first run: a repetition gets an equal value. */
function kept(result: Json | undefined): Json {
  if (result === undefined) return {};
  try {
    const json = JSON.parse(JSON.stringify(result)) as Json;
    canonicalize(json, { bytesMax: BYTES_MAX });
    return { json };
  } catch {
    return { [UNKEPT]: true };
  }
}

/** A result that is not JSON. The call was made, so this is not a failure of the call. */
const UNKEPT = 'unkept';

/** Above the size of every result that the ledger keeps. */
const BYTES_MAX = 64 * 1_048_576;

function madeEnd(call: string, result: Json): AttemptEnd {
  const { json, [UNKEPT]: unkept } = result as { readonly json?: Json; readonly [UNKEPT]?: true };
  if (unkept === undefined) return { end: 'done', ...(json !== undefined && { result: json }) };
  const message = `The call ${call} was made, and ${notKept()}. Return JSON.`;
  return { end: 'lost', code: 'not_json', message, evidence: { call } };
}

function lostEnd(end: Exclude<CallEnd<unknown>, { readonly end: 'done' | 'pending' }>): LostEnd {
  const { call } = end;
  if (end.end !== 'failed') {
    const { code, message } = errorOf(end) as CallError;
    const settled = end.end === 'doubt' ? end.settled : undefined;
    return {
      end: 'lost',
      code,
      message,
      evidence: { call, ...(settled !== undefined && { settled }) },
    };
  }
  // One text for the first run and for its repetitions.
  return {
    end: 'lost',
    code: 'call_failed',
    message: `The call ${call} failed: ${toldBy(end.error)}`,
    evidence: { call },
  };
}

function errorText(end: Exclude<CallEnd<unknown>, { readonly end: 'done' }>): string {
  return (errorOf(end) as Error).message;
}

function toldBy(error: unknown): string {
  const said = (error as { readonly message?: unknown } | null)?.message;
  return (typeof said === 'string' ? said : String(error)).slice(0, 4_000).toWellFormed();
}
