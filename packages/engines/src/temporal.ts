import { CallError, type Gate } from '@assize/gate/internal/calls';
import {
  type ArgumentSchema,
  arg,
  checkArgument,
  isAssizeError,
  isInstance,
  type Json,
} from 'assize/internal/base';
import { attempt, lostError, type WaitingEnd } from './attempt.ts';
import {
  type CallArgs,
  checkCall,
  checkGate,
  type MakeOnce,
  type OnceCall,
  type OnceOptions,
} from './once-call.ts';
import { type AskingOptions, delayOf } from './waiting.ts';

/** The part of `@temporalio/activity` that is needed here. */
export interface TemporalSdk {
  activityInfo(): {
    readonly activityId: string;
    readonly attempt: number;
    readonly workflowExecution?:
      | { readonly workflowId: string; readonly runId: string }
      | undefined;
  };
  readonly ApplicationFailure: {
    create(options: {
      message: string;
      type: string;
      nonRetryable: boolean;
      details: unknown[];
      nextRetryDelay?: number;
    }): Error;
  };
  readonly CancelledFailure: new (message: string) => Error;
}

/** A call in an activity. Its key is the id of the activity by default. */
export type ActivityCall<Args extends CallArgs = CallArgs> = Omit<OnceCall<Args>, 'key'> & {
  readonly key?: string;
};

/** Makes a call once in a Temporal activity. */
export type TemporalOnce = <const Args extends CallArgs, T extends Json | undefined>(
  call: ActivityCall<Args>,
  make: MakeOnce<Args, T>,
  options?: OnceOptions,
) => Promise<T>;

/**
 * `once` for activities of Temporal. The run is the run of the workflow. A call that waits for a
 * person fails its attempt with `call_pending`. A call whose outcome is not known fails it with
 * `call_in_doubt`. Both failures have a `nextRetryDelay`, so the retry policy of the activity has
 * to allow the attempts.
 *
 * The function that it returns throws an ApplicationFailure. The types `call_pending`, and
 * `call_in_doubt` until a person has settled the call, are retried. The types `call_refused`,
 * `call_failed`, and `call_in_doubt` with a settlement are not. Temporal retries errors of the
 * ledger.
 *
 * @throws ArgumentError `bad_argument`
 */
export function temporalOnce(
  gate: Gate,
  temporal: TemporalSdk,
  options: AskingOptions = {},
): TemporalOnce {
  checkGate(gate);
  checkArgument(TEMPORAL, temporal, 'temporal');
  checkArgument(OPTIONS, options, 'options');
  return async (call, make, more = {}) => {
    const { activityId, attempt: tries, workflowExecution } = temporal.activityInfo();
    try {
      const { key, tool, args, run, ...others } = {
        key: activityId,
        run: workflowExecution?.runId,
        ...call,
      };
      if (run === undefined)
        throw new CallError(
          'no_identity',
          `The activity that calls ${tool} is in no workflow. Pass run.`,
          {
            evidence: { tool },
          },
        );
      checkCall({ key, tool, args, run, ...others }, make, more);
      const place = { ...workflowExecution, activity: activityId };
      const asked = {
        run,
        id: key,
        tool,
        args,
        observations: [{ name: 'temporal', value: place }],
      };
      const passesOn = (error: unknown): boolean => isInstance(error, temporal.CancelledFailure);
      const end = await attempt(gate, asked, make, { ...more, passesOn });
      if (end.end === 'done') return end.result as never;
      if (end.end === 'lost') throw lostError(end);
      throw waits(temporal, end, delayOf(tries, options));
    } catch (error) {
      throw ofTemporal(temporal, error);
    }
  };
}

/** The failure of an attempt after which Temporal makes another one. */
function waits(temporal: TemporalSdk, end: WaitingEnd, nextRetryDelay: number): Error {
  const { message } = end;
  const type = end.end === 'pending' ? 'call_pending' : 'call_in_doubt';
  const told = end.end === 'pending' ? end.held : end.doubtful;
  const details = told === undefined ? [] : [told];
  return temporal.ApplicationFailure.create({
    message,
    type,
    nonRetryable: false,
    details,
    nextRetryDelay,
  });
}

function ofTemporal(temporal: TemporalSdk, error: unknown): unknown {
  if (!isAssizeError(error) || error.retryable) return error;
  const { code: type, message, evidence } = error;
  return temporal.ApplicationFailure.create({
    message,
    type,
    nonRetryable: true,
    details: [evidence],
  });
}

const TEMPORAL: ArgumentSchema = arg.of('the module @temporalio/activity', (value) => {
  const { activityInfo, ApplicationFailure, CancelledFailure } = (value ??
    {}) as Partial<TemporalSdk>;
  return (
    typeof activityInfo === 'function' &&
    typeof ApplicationFailure?.create === 'function' &&
    typeof CancelledFailure === 'function'
  );
});

const OPTIONS = arg.options<AskingOptions>({
  askAgainMs: arg.optional(arg.number),
  askAgainMaxMs: arg.optional(arg.number),
});
