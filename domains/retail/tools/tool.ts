import type { Action } from 'assize/internal/kernel';
import type { z } from 'zod';
import type { ProcessName } from '../roles.ts';
import type { RetailState } from '../schema.ts';

/**
 * One of the benchmark's tools, in two halves: `check` throws what the benchmark's own code refuses, in its words;
 * `perform` does the rest, and writes down the circumstances that the policy judges it by.
 *
 * `perform` relies on no check. Where one is missing it does what it is told as far as that means anything, so that the
 * policy can be tried without the tools' help.
 */
export interface Tool<Process extends ProcessName, Args> {
  readonly process: Process;
  readonly description: string;
  readonly args: z.ZodType<Args>;
  readonly check: (state: RetailState, args: Args, user: string) => void;
  readonly perform: (state: RetailState, args: Args, user: string) => void;
}

export type RetailAction<Process extends ProcessName, Args> = Action<RetailState, Args, { readonly user: string }> & {
  readonly process: Process;
};

export function actionOf<Process extends ProcessName, Args>(tool: Tool<Process, Args>): RetailAction<Process, Args> {
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
