import type { Gate } from '@assize/gate/internal/calls';
import {
  type ArgumentSchema,
  arg,
  checkArgument,
  isAssizeError,
  isInstance,
  type Json,
} from 'assize/internal/base';
import { type AttemptEnd, attempt } from './attempt.ts';
import {
  type CallArgs,
  checkCall,
  checkGate,
  type MakeOnce,
  type OnceCall,
  type OnceOptions,
} from './once-call.ts';
import { resultOf, WAITING, type WaitingOptions, wakeTopic } from './waiting.ts';

/** The part of `@restatedev/restate-sdk` that is needed here. */
export interface RestateSdk {
  readonly TerminalError: new (
    message: string,
    options?: { errorCode?: number; metadata?: Record<string, string> },
  ) => Error;
  readonly TimeoutError: new () => Error;
}

/** The part of the context of a Restate handler that is needed here. */
export interface RestateContext {
  request(): { readonly id: string };
  run<T>(name: string, action: () => Promise<T>): PromiseLike<T>;
  signal<T>(name: string): { orTimeout(millis: number): PromiseLike<T> };
}

/** Makes a call once in a Restate handler. */
export type RestateOnce = <const Args extends CallArgs, T extends Json | undefined>(
  ctx: RestateContext,
  call: OnceCall<Args>,
  make: MakeOnce<Args, T>,
  options?: OnceOptions,
) => Promise<T>;

/**
 * `once` for handlers of Restate. The run is the invocation. A call that waits for a person, or
 * whose outcome is not known, suspends the invocation. The signal `assize:KEY` to the invocation
 * makes it ask the ledger immediately.
 *
 * The function that it returns throws a TerminalError for a call that was refused, has failed, or
 * was settled by a person. The code is its `metadata.code`. Restate retries errors of the ledger.
 *
 * @throws ArgumentError `bad_argument`
 */
export function restateOnce(
  gate: Gate,
  restate: RestateSdk,
  options: WaitingOptions = {},
): RestateOnce {
  checkGate(gate);
  checkArgument(RESTATE, restate, 'restate');
  checkArgument(WAITING, options, 'options');
  return async (ctx, call, make, more = {}) => {
    checkArgument(CONTEXT, ctx, 'ctx');
    checkCall(call, make, more);
    const { id } = ctx.request();
    const { key, tool, args, run = id } = call;
    const observations = [{ name: 'restate', value: { invocation: id } }];
    const passesOn = (error: unknown): boolean => isInstance(error, restate.TerminalError);
    try {
      return await resultOf(
        key,
        {
          ask: async (name) =>
            await ctx.run<AttemptEnd>(name, () =>
              terminal(
                restate,
                attempt(gate, { run, id: key, tool, args, observations }, make, {
                  ...more,
                  passesOn,
                }),
              ),
            ),
          tell: async ({ step, tell }) => {
            if (tell !== undefined) await ctx.run(step, async () => void (await tell()));
          },
          wait: async (ms) => {
            try {
              await ctx.signal(wakeTopic(key)).orTimeout(ms);
            } catch (error) {
              if (!isInstance(error, restate.TimeoutError)) throw error;
            }
          },
        },
        options,
      );
    } catch (error) {
      throw ofRestate(restate, error);
    }
  };
}

/** A step whose errors Restate retries only if a repetition can mend them. */
export async function terminal<T>(restate: RestateSdk, end: Promise<T>): Promise<T> {
  try {
    return await end;
  } catch (error) {
    throw ofRestate(restate, error);
  }
}

function ofRestate(restate: RestateSdk, error: unknown): unknown {
  if (!isAssizeError(error) || error.retryable) return error;
  const { code, message, evidence } = error;
  const told = Object.entries(evidence).filter(
    (member): member is [string, string] => typeof member[1] === 'string',
  );
  const metadata = { ...Object.fromEntries(told), code };
  return new restate.TerminalError(message, { errorCode: STATUS[code] ?? 500, metadata });
}

/** The status with which a handler ends. */
const STATUS: Readonly<Record<string, number>> = {
  bad_argument: 400,
  call_refused: 403,
  not_found: 404,
  call_in_doubt: 409,
};

export const RESTATE: ArgumentSchema = arg.of('the module @restatedev/restate-sdk', (value) => {
  const { TerminalError, TimeoutError } = (value ?? {}) as Partial<
    Record<keyof RestateSdk, unknown>
  >;
  return typeof TerminalError === 'function' && typeof TimeoutError === 'function';
});

export const CONTEXT: ArgumentSchema = arg.of('the context of a Restate handler', (value) => {
  const { request, run, signal } = (value ?? {}) as Partial<Record<keyof RestateContext, unknown>>;
  return [request, run, signal].every((member) => typeof member === 'function');
});
