import type { DurableRun } from '@assize/agents/internal/agents';
import { type ArgumentSchema, arg } from 'assize/internal/base';
import { type Instant, instantToMillis } from 'assize/internal/canon';
import { type AskingOptions, delayOf } from './waiting.ts';

/** The part of a `RunCarrier` that is needed here. */
export interface RunAdvancer {
  advance(trajectoryId: string): Promise<DurableRun>;
}

/** The record of a run after an advance. */
export interface AdvancedRun {
  readonly run: DurableRun;
  /** The time until the run is due. Absent if the run waits for a change of its trajectory. */
  readonly dueMs?: number;
}

/** The steps of an engine that carries a run. */
export interface RunSteps {
  /** Advances the run, in a durable step with this name. */
  readonly advance: (name: string) => Promise<AdvancedRun>;
  /** Waits for a time, or for a message that the run may have changed. */
  readonly wait: (ms: number) => Promise<void>;
}

/** The key of the message that makes a workflow advance its run immediately. */
export const RUN_KEY = 'run';

/**
 * Carries a run until it has ended, and returns its record. The steps depend only on their own
 * results, so a replay repeats them in the same order.
 */
export async function carriedRun(steps: RunSteps, options: AskingOptions): Promise<DurableRun> {
  let [idle, turns] = [0, -1];
  for (let round = 1; ; round++) {
    const { run, dueMs } = await steps.advance(round === 1 ? 'advance' : `advance (${round})`);
    if (hasEnded(run)) return run;
    idle = run.turns === turns ? idle + 1 : 1;
    turns = run.turns;
    const ms = dueMs ?? delayOf(idle, options);
    if (ms > 0) await steps.wait(ms);
  }
}

/** Advances a run, and says when it is due again. */
export async function advanced(
  carrier: RunAdvancer,
  trajectoryId: string,
  now: () => Instant,
): Promise<AdvancedRun> {
  const run = await carrier.advance(trajectoryId);
  const { status, lease, wakeAt } = run;
  const at = lease?.until ?? wakeAt;
  if (at !== undefined)
    return { run, dueMs: Math.max(0, instantToMillis(at) - instantToMillis(now())) + 1 };
  return status === 'waiting' ? { run } : { run, dueMs: 0 };
}

/** The advances in progress here, unless the options say another number. */
const CONCURRENCY = 16;

/** How an engine carries runs. */
export interface CarryingOptions extends AskingOptions {
  /**
   * The maximum number of runs that advance concurrently in this process. An engine that starts
   * again carries every open run, and the others wait for their turn. Default: 16.
   */
  readonly concurrency?: number;
}

/** The same carrier. It advances at most so many runs concurrently, in the order of the calls. */
export function limitedAdvancer(
  carrier: RunAdvancer,
  { concurrency = CONCURRENCY }: CarryingOptions,
): RunAdvancer {
  let free = concurrency;
  const waiting: (() => void)[] = [];
  return {
    advance: async (trajectoryId) => {
      if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
      else free--;
      try {
        return await carrier.advance(trajectoryId);
      } finally {
        // The turn passes to the next run, so none that comes later is first.
        const next = waiting.shift();
        if (next === undefined) free++;
        else next();
      }
    },
  };
}

function hasEnded({ status }: DurableRun): boolean {
  return status === 'done' || status === 'failed' || status === 'cancelled';
}

export const CARRIER: ArgumentSchema = arg.members({ advance: arg.code });

/** Members of the options of every engine. */
export const CARRYING = {
  askAgainMs: arg.optional(arg.number),
  askAgainMaxMs: arg.optional(arg.number),
  concurrency: arg.optional(arg.wholeFrom(1)),
};
