import type { DurableRun } from '@assize/agents/internal/agents';
import { arg, checkArgument, isInstance } from 'assize/internal/base';
import { systemClock } from 'assize/internal/oracle';
import {
  type AdvancedRun,
  advanced,
  CARRIER,
  CARRYING,
  type CarryingOptions,
  carriedRun,
  limitedAdvancer,
  RUN_KEY,
  type RunAdvancer,
} from './carry-run.ts';
import { CONTEXT, RESTATE, type RestateContext, type RestateSdk, terminal } from './restate.ts';
import { wakeTopic } from './waiting.ts';

/**
 * The body of a Restate handler that carries one durable run to its end, and returns its record. In
 * a virtual object with the trajectory as its key, one invocation carries a run at a time. The
 * invocation is suspended while the run waits. The signal `assize:run` makes it look at the run
 * immediately.
 *
 * The function that it returns throws a TerminalError for an unknown run or unknown agents. Restate
 * retries errors of the store.
 *
 * @throws ArgumentError `bad_argument`
 */
export function restateRuns(
  carrier: RunAdvancer,
  restate: RestateSdk,
  options: CarryingOptions = {},
): (ctx: RestateContext, trajectoryId: string) => Promise<DurableRun> {
  checkArgument(CARRIER, carrier, 'carrier');
  checkArgument(RESTATE, restate, 'restate');
  checkArgument(OPTIONS, options, 'options');
  const limited = limitedAdvancer(carrier, options);
  return async (ctx, trajectoryId) => {
    checkArgument(CONTEXT, ctx, 'ctx');
    const advance = (): Promise<AdvancedRun> =>
      advanced(limited, trajectoryId, () => systemClock.now());
    return carriedRun(
      {
        advance: async (name) =>
          await ctx.run<AdvancedRun>(name, () => terminal(restate, advance())),
        wait: async (ms) => {
          try {
            await ctx.signal(wakeTopic(RUN_KEY)).orTimeout(ms);
          } catch (error) {
            if (!isInstance(error, restate.TimeoutError)) throw error;
          }
        },
      },
      options,
    );
  };
}

const OPTIONS = arg.options<CarryingOptions>(CARRYING);
