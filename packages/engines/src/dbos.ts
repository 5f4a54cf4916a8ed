import { CallError, type Gate } from '@assize/gate/internal/calls';
import { type ArgumentSchema, arg, checkArgument, type Json } from 'assize/internal/base';
import { attempt } from './attempt.ts';
import { isRetryable, once } from './once.ts';
import {
  type CallArgs,
  checkCall,
  checkGate,
  type MakeOnce,
  type OnceCall,
  type OnceOptions,
} from './once-call.ts';
import { resultOf, type WaitingOptions, wakeTopic } from './waiting.ts';

/** The part of the class `DBOS` of `@dbos-inc/dbos-sdk` that is needed here. */
export interface DbosSdk {
  readonly workflowID: string | undefined;
  readonly stepID: number | undefined;
  isInWorkflow(): boolean;
  runStep<T>(step: () => Promise<T>, config: DbosStepConfig): Promise<T>;
  recv<T>(topic?: string, timeoutSeconds?: number): Promise<T | null>;
  setEvent<T>(key: string, value: T): Promise<void>;
  getWorkflowStatus(workflowID: string): Promise<{ readonly forkedFrom?: string } | null>;
}

/** How DBOS repeats a step whose error a repetition can mend. */
export interface DbosStepConfig {
  name?: string;
  retriesAllowed?: boolean;
  maxAttempts?: number;
  intervalSeconds?: number;
  backoffRate?: number;
  shouldRetry?: (error: unknown) => boolean;
}

export interface DbosOptions extends WaitingOptions {
  /** How DBOS repeats a step while the ledger does not answer. Default: 10 times in 17 minutes. */
  readonly retries?: Readonly<
    Pick<DbosStepConfig, 'maxAttempts' | 'intervalSeconds' | 'backoffRate'>
  >;
}

/** Makes a call once in a DBOS workflow. */
export type DbosOnce = <const Args extends CallArgs, T extends Json | undefined>(
  call: OnceCall<Args>,
  make: MakeOnce<Args, T>,
  options?: OnceOptions,
) => Promise<T>;

/**
 * `once` for workflows of DBOS. The run is the workflow, or the workflow that it was forked from at
 * first. A call that waits for a person, or whose outcome is not known, is the event `assize:KEY`
 * of its workflow. The workflow waits in `DBOS.recv`, and a message with this topic makes it ask
 * the ledger immediately. A step cannot wait: there the function throws `call_pending`, or
 * `call_in_doubt` with `retryable`.
 *
 * The function that it returns throws CallError `call_refused`, `call_failed`, or `call_in_doubt`
 * with the settlement of a person. It throws CallError, and the errors of the store or the server
 * after the retries of DBOS.
 *
 * @throws ArgumentError `bad_argument`
 */
export function dbosOnce(gate: Gate, dbos: DbosSdk, options: DbosOptions = {}): DbosOnce {
  checkGate(gate);
  checkArgument(DBOS, dbos, 'dbos');
  checkArgument(OPTIONS, options, 'options');
  const { retries = {}, ...waiting } = options;
  const config: DbosStepConfig = { ...RETRIES, ...retries };
  return async (call, make, more = {}) => {
    checkCall(call, make, more);
    const { key, tool, args } = call;
    if (!dbos.isInWorkflow())
      return once(gate, { ...call, run: await runOf(dbos, call) }, make, more);
    return resultOf(
      key,
      {
        ask: (name) =>
          dbos.runStep(
            async () => {
              const observations = [
                {
                  name: 'dbos',
                  value: { workflow: dbos.workflowID ?? '', step: dbos.stepID ?? -1 },
                },
              ];
              const run = await runOf(dbos, call);
              return attempt(gate, { run, id: key, tool, args, observations }, make, more);
            },
            { ...config, name },
          ),
        tell: async ({ step: name, call: told, tell }) => {
          await dbos.setEvent(wakeTopic(key), told);
          if (tell !== undefined) await dbos.runStep(async () => void (await tell()), { name });
        },
        wait: async (ms) => void (await dbos.recv(wakeTopic(key), ms / 1_000)),
      },
      waiting,
    );
  };
}

/** The first workflow of a chain of forks. The chain ends where DBOS has forgotten a workflow. */
async function runOf(dbos: DbosSdk, { run, tool }: OnceCall): Promise<string> {
  if (run !== undefined) return run;
  const { workflowID } = dbos;
  if (workflowID === undefined)
    throw new CallError(
      'no_identity',
      `The call of ${tool} is in no workflow of DBOS. Make it there, or pass run.`,
      {
        evidence: { tool },
      },
    );
  let first = workflowID;
  for (;;) {
    const status = await dbos.getWorkflowStatus(first);
    if (status?.forkedFrom === undefined) return first;
    first = status.forkedFrom;
  }
}

/** How DBOS repeats a step by default. */
export const RETRIES: DbosStepConfig = {
  retriesAllowed: true,
  maxAttempts: 10,
  shouldRetry: isRetryable,
};

const MEMBERS = ['isInWorkflow', 'runStep', 'recv', 'setEvent', 'getWorkflowStatus'] as const;

export const DBOS: ArgumentSchema = arg.of('the class DBOS of @dbos-inc/dbos-sdk', (value) =>
  MEMBERS.every(
    (name) =>
      typeof (value as Partial<Record<string, unknown>> | null | undefined)?.[name] === 'function',
  ),
);

const OPTIONS = arg.options<DbosOptions>({
  onPending: arg.optional(arg.code),
  onDoubt: arg.optional(arg.code),
  askAgainMs: arg.optional(arg.number),
  askAgainMaxMs: arg.optional(arg.number),
  retries: arg.optional(arg.object),
});
