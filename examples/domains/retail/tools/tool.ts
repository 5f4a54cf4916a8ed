import type { Action } from 'assize/internal/kernel';
import type { z } from 'zod';
import type { ProcessName } from '../roles.ts';
import type { RetailState } from '../schema.ts';

/**
 * One of the benchmark's tools, in two halves. `check` throws the refusals of the benchmark's own
 * code, in its words. `perform` does the rest, and records the circumstances that the policy
 * checks.
 *
 * `perform` relies on no check. If a check is missing, it performs the part of the call that has
 * a meaning. So a test can try the policy without the tools' help.
 */
export interface Tool<Process extends ProcessName, Args> {
  readonly process: Process;
  readonly description: string;
  readonly args: z.ZodType<Args>;
  readonly check: (state: RetailState, args: Args, user: string) => void;
  readonly perform: (state: RetailState, args: Args, user: string) => void;
}

export type RetailAction<Process extends ProcessName, Args> = Action<
  RetailState,
  Args,
  { readonly user: string }
> & {
  readonly process: Process;
};

export function actionOf<Process extends ProcessName, Args>(
  tool: Tool<Process, Args>,
): RetailAction<Process, Args> {
  const { process, description, args, check, perform } = tool;
  return {
    process,
    description,
    args,
    apply: (state, given, { role: { user } }) => {
      check(state, given, user);
      perform(state, given, user);
    },
  };
}
