import { CallError, type Gate } from '@assize/gate/internal/calls';
import { isAssizeError, type Json } from 'assize/internal/base';
import { attempt, lostError } from './attempt.ts';
import {
  type CallArgs,
  checkCall,
  checkGate,
  type MakeOnce,
  type OnceCall,
  type OnceOptions,
} from './once-call.ts';

/**
 * Makes a call once in a step of any engine that repeats steps. The rules judge it, and a person
 * approves it where they ask. A repetition in the same run gets the recorded result. The step may
 * be repeated after an error with `retryable`.
 *
 * @throws CallError `call_pending`, retryable; `call_in_doubt`, retryable until a person has
 * settled the call; `call_failed`, retryable if the call is idempotent; `call_refused`; CallError
 * `not_json`; ArgumentError `bad_argument`; the errors of `Gate.run`
 */
export async function once<const Args extends CallArgs, T extends Json | undefined>(
  gate: Gate,
  call: OnceCall<Args> & { readonly run: string },
  make: MakeOnce<Args, T>,
  options: OnceOptions = {},
): Promise<T> {
  checkGate(gate);
  checkCall(call, make, options, { hasRun: true });
  const { run, key: id, tool, args } = call;
  const end = await attempt(gate, { run, id, tool, args }, make, options);
  if (end.end === 'done') return end.result as T;
  if (end.end === 'lost') throw lostError(end);
  const { message } = end;
  if (end.end === 'doubt')
    throw new CallError('call_in_doubt', message, {
      evidence: { ...end.doubtful },
      retryable: true,
    });
  throw new CallError('call_pending', message, { evidence: { ...end.held }, retryable: true });
}

/** Whether a step may be repeated after an error of `once`. */
export function isRetryable(error: unknown): boolean {
  return isAssizeError(error) && error.retryable;
}
