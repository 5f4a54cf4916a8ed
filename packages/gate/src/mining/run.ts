import { arg, checkArgument, type Json } from 'assize/internal/base';
import type { Instant } from 'assize/internal/canon';
import type { Hash } from 'assize/internal/ledger';
import type { AnsweringRule, CallArgs } from '#gateway';
import { MiningError } from './errors.ts';

/** The entry that has a call. */
export interface CallEntry {
  readonly trajectory_id: string;
  readonly seq: number;
  readonly entry_id: Hash;
}

/** A recorded call of a run. */
export interface MiningCall {
  /** `server/tool` of the gateway, the name of an action, or the name of a tool. */
  readonly tool: string;
  readonly args: Json;
  /** The last ruling on the call. Rules are mined from the calls that are committed. */
  readonly ruling: 'committed' | 'rejected' | 'escalated';
  /** The agent or another principal that asked for the call. */
  readonly principal?: string;
  readonly role?: string;
  readonly at?: Instant;
  /** The people who approved the call, in order. */
  readonly approvedBy?: readonly string[];
  /** The reported outcome. Absent: the call counts as done. */
  readonly outcome?: 'done' | 'failed' | 'unknown';
  readonly entry?: CallEntry;
  /** Of the gateway: the call with its parts. Its parts follow it as separate calls. */
  readonly whole?: CallArgs;
  /** Rules that would answer the questions of the rules, each by itself. */
  readonly answers?: readonly AnsweringRule[];
}

/** The calls of one run in order. */
export interface MiningRun {
  /** Unique among the runs: a trajectory, or `TRAJECTORY#SESSION`. */
  readonly id: string;
  readonly calls: readonly MiningCall[];
}

const RULINGS = arg.oneOf(['committed', 'rejected', 'escalated']);
const CALL = arg.members({
  tool: arg.text,
  args: arg.any,
  ruling: RULINGS,
  principal: arg.optional(arg.text),
  role: arg.optional(arg.text),
  at: arg.optional(arg.text),
  approvedBy: arg.optional(arg.list(arg.text)),
  outcome: arg.optional(arg.oneOf(['done', 'failed', 'unknown'])),
  entry: arg.optional(arg.object),
  whole: arg.optional(arg.object),
  answers: arg.optional(arg.list(arg.members({ allow: arg.text }))),
});
/** The form of runs, for argument checks. */
export const RUNS = arg.list(arg.members({ id: arg.text, calls: arg.list(CALL) }));

/** @throws ArgumentError `bad_argument`; MiningError `bad_argument` */
export function checkRuns(runs: readonly MiningRun[]): void {
  checkArgument(RUNS, runs, 'runs');
  const seen = new Set<string>();
  for (const { id, calls } of runs) {
    if (seen.has(id))
      throw new MiningError(
        'bad_argument',
        `Two runs have the id ${id}. Give each run its own id.`,
        {
          evidence: { run: id },
        },
      );
    seen.add(id);
    if (calls.some(({ tool }) => tool === ''))
      throw new MiningError(
        'bad_argument',
        `A call of the run ${id} has no tool. Name the tool of each call.`,
        {
          evidence: { run: id },
        },
      );
  }
}

/** Whether a call was let through. A rule judges these calls, whatever their outcome. */
export function isLetThrough({ ruling }: MiningCall): boolean {
  return ruling === 'committed';
}

/** Whether a call was made with success, so that a later call can rest on it. */
export function isDone({ ruling, outcome = 'done' }: MiningCall): boolean {
  return ruling === 'committed' && outcome === 'done';
}
