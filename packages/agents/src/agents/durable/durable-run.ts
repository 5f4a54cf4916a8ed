import {
  type ArgumentSchema,
  arg,
  checkArgument,
  isAssizeError,
  type Json,
} from 'assize/internal/base';
import { canonicalize, type Instant, isInstant, readCanonical } from 'assize/internal/canon';
import type { Hash, SideRow } from 'assize/internal/ledger';
import { RunError } from './errors.ts';

/**
 * `ready`: a worker can advance the run, from `wakeAt` on. `waiting`: the run waits for a change of
 * its trajectory, or for `wakeAt`. The others are ends.
 */
export type RunStatus = 'ready' | 'waiting' | 'done' | 'failed' | 'cancelled';

/**
 * The record of a durable run in the side log: that the run exists, and what it waits for. The
 * ledger and the oracle log have everything else, and the record has no values of either.
 */
export interface DurableRun {
  /** The trajectory of the run. A trajectory has one run. */
  readonly trajectoryId: string;
  /** The name of the agents. A worker finds their code by it. */
  readonly agents: string;
  /** The party whose runs share a limit, and a turn among the other parties. */
  readonly tenant: string;
  readonly status: RunStatus;
  readonly created: Instant;
  readonly updated: Instant;
  /** The turns so far, and the number of turns at which the run fails. */
  readonly turns: number;
  readonly turnsMax: number;
  /** The failures since the last advance that succeeded. */
  readonly failures: number;
  /** The versions of the agents and of the domain that advanced the run, the last 16. */
  readonly versions: readonly RunVersion[];
  /** `waiting`: the head of the trajectory that must change. */
  readonly head?: Hash;
  readonly wakeAt?: Instant;
  /** `waiting`: the first pending proposals of the trajectory. */
  readonly pending?: readonly Hash[];
  /** The run ends as cancelled at its next step. */
  readonly cancelled?: true;
  /** The last failure. */
  readonly error?: RunFailure;
  /** The process that advances the run. A hint: ledger and oracle log rule each step once. */
  readonly lease?: RunLease;
}

/** The version of the agents, and the domain in force, from a turn on. */
export interface RunVersion {
  readonly turn: number;
  readonly agents: string;
  readonly domain: string;
}

/**
 * An error of an advance. The message is kept only if it quotes no data of a trajectory, because no
 * erasure reaches the side log.
 */
export interface RunFailure {
  readonly code: string;
  readonly name: string;
  readonly message?: string;
}

export interface RunLease {
  readonly holder: string;
  readonly until: Instant;
}

/** A record with its row, for a later change of the same row. */
export interface StoredRun {
  readonly run: DurableRun;
  readonly version: number;
}

const ENDS: ReadonlySet<RunStatus> = new Set(['done', 'failed', 'cancelled']);

/** Whether the run has ended. A failed run can be retried. */
export function isEnded({ status }: Pick<DurableRun, 'status'>): boolean {
  return ENDS.has(status);
}

/** Whether a process holds the lease of the run. */
export function isHeld({ lease }: Pick<DurableRun, 'lease'>, now: Instant): boolean {
  return lease !== undefined && lease.until > now;
}

export function bodyOf({ trajectoryId: _key, ...run }: DurableRun): string {
  return canonicalize(run as unknown as Json);
}

/** @throws RunError `damaged` */
export function storedRun({ key, version, body }: SideRow): StoredRun {
  try {
    const run = readCanonical(body);
    checkArgument(RUN, run, 'run');
    return { run: { ...(run as unknown as DurableRun), trajectoryId: key }, version };
  } catch (cause) {
    if (!isAssizeError(cause)) throw cause;
    throw new RunError(
      'damaged',
      `The row of the run ${key} is not a run. Remove the row, or update this package.`,
      {
        evidence: { trajectory: key },
        cause,
      },
    );
  }
}

const INSTANT: ArgumentSchema = arg.of('an instant', isInstant);

const RUN: ArgumentSchema = arg.members({
  agents: arg.text,
  tenant: arg.text,
  status: arg.oneOf(['ready', 'waiting', ...ENDS]),
  created: INSTANT,
  updated: INSTANT,
  turns: arg.whole,
  turnsMax: arg.whole,
  failures: arg.whole,
  versions: arg.list(arg.members({ turn: arg.whole, agents: arg.text, domain: arg.text })),
  head: arg.optional(arg.text),
  wakeAt: arg.optional(INSTANT),
  pending: arg.optional(arg.list(arg.text)),
  cancelled: arg.optional(arg.flag),
  error: arg.optional(
    arg.members({ code: arg.text, name: arg.text, message: arg.optional(arg.text) }),
  ),
  lease: arg.optional(arg.members({ holder: arg.text, until: INSTANT })),
});
