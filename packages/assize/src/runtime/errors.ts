import { AssizeError, thrownText } from '#base';
import type { Instant } from '#canon';
import type { BatchClock, Halt } from '#ledger';
import type { OpenCall } from './transactions/limits/in-flight.ts';

export type RuntimeErrorCode =
  /**
   * The intent, observation or option does not have the documented form. Correct the field that the
   * message names.
   */
  | 'bad_intent'
  /** The trajectory has no writ of that id. Pass the writ itself. */
  | 'unknown_writ'
  /** A trajectory of that name exists. Open it, or choose another name. */
  | 'exists'
  /**
   * None of the given domains is the domain of the ledger. Open the runtime with the domain that
   * has the recorded hash, or upgrade the trajectory.
   */
  | 'domain_mismatch'
  /**
   * The trajectory does not verify and accepts no more entries. Find the fault with `assize
   * verify`.
   */
  | 'invalid_ledger'
  /** The proposal is not pending. List pending proposals with `assize pending`. */
  | 'not_pending'
  /**
   * The pending entry is an unresolved effect, not a proposal. Resolve it with `assize effects
   * resolve`.
   */
  | 'effect_unresolved'
  /**
   * Too many proposals of one root writ wait for a decision. Resolve some, or raise
   * `approvals.maxPending`.
   */
  | 'too_many_pending'
  /** The proposal was not resolved in time. Wait again, or ask later. */
  | 'still_pending'
  /**
   * The pending proposal contradicts current facts, and the approval lacks an answer. Answer each
   * question of the proposal.
   */
  | 'answers_needed'
  /**
   * The pending proposal is not the one that was shown. Review it again, and approve its digest.
   */
  | 'digest_mismatch'
  /**
   * A recorded observation is not in the oracle log. Open the runtime with the oracle log of the
   * recording.
   */
  | 'observation_missing'
  /**
   * The given place has no erasable value. Mark the value `sensitive` in the domain, or correct the
   * place.
   */
  | 'nothing_to_erase'
  /**
   * The clock of this host is more than `maxClockAheadMs` ahead of the store's clock. Set the clock
   * of this host.
   */
  | 'clock_ahead'
  /**
   * The runtime could not record an expiry, or read what other processes committed, when no call
   * waited for it. It tries again. Look at the cause if this repeats.
   */
  | 'background_failed'
  /**
   * The trajectory has given its final answer and accepts no more entries. Delegate again, or
   * branch from it.
   */
  | 'concluded'
  /**
   * The trajectory is halted. Only revocations, rejections and outcomes of effects are recorded. A
   * principal with the right to halt must resume it.
   */
  | 'halted'
  /**
   * The runtime signs with another key than the key in force, or trusts another key. Pass that
   * signer, name the key in `entryKeys`, or record the change with `assize keys change`.
   */
  | 'wrong_signer'
  /**
   * An open approval freezes a path that the operation would change. Resolve that approval first.
   */
  | 'frozen'
  /**
   * Calls of tools had no answer when the runtime was closed. Their outcomes are unknown. Recover
   * them with `assize effects recover`.
   */
  | 'calls_cut'
  /** The runtime was closed during the call. Open another runtime. */
  | 'closed'
  /**
   * A witness could not be reached, or refused to cosign. Follow the message, and make the
   * checkpoint again.
   */
  | 'witness_failed';

/**
 * Misuse of the runtime, or a failure of its environment. A refused proposal is a result, not an
 * error.
 */
export class RuntimeError extends AssizeError<RuntimeErrorCode> {
  override readonly name: string = 'RuntimeError';
}

/** The error for a trajectory that has given its final answer. */
export function concluded(trajectoryId: string, answer: string): RuntimeError {
  return new RuntimeError(
    'concluded',
    `${trajectoryId} has given its final answer and accepts no more entries. Delegate again or branch from it.`,
    { evidence: { trajectory_id: trajectoryId, answer } },
  );
}

/** The error for an entry that the store refused, because this host's clock is ahead of its own. */
export function clockAhead({ at, maxAheadMs }: BatchClock, now: Instant): RuntimeError {
  return new RuntimeError(
    'clock_ahead',
    `The clock of this host reads ${at}, which is more than ${maxAheadMs / 1_000} seconds ahead of the store's clock (${now}). Set the clock of this host.`,
    { evidence: { clock: at, store: now, max_ahead_ms: maxAheadMs } },
  );
}

/** The report of work that no call waits for. */
export function backgroundFailed(
  doing: string,
  cause: unknown,
  trajectoryId?: string,
): RuntimeError {
  const evidence = trajectoryId === undefined ? {} : { trajectory_id: trajectoryId };
  return new RuntimeError('background_failed', `${doing}: ${thrownText(cause)}`, {
    evidence,
    cause,
  });
}

/** The report of calls that had no answer when the runtime was closed. */
export function callsCut(calls: readonly OpenCall[]): RuntimeError {
  const first = calls.slice(0, 3).map(({ epoch, tool }) => `${tool} of transaction ${epoch}`);
  const more = calls.length > first.length ? `, and ${calls.length - first.length} more` : '';
  return new RuntimeError(
    'calls_cut',
    `The runtime was closed without an answer of ${first.join(', ')}${more}. Recover them with the same tools (assize effects recover).`,
    { evidence: { calls } },
  );
}

/** The error for a trajectory that is halted. */
export function haltedError(
  trajectoryId: string,
  { id, at, reason, principal }: Halt,
): RuntimeError {
  return new RuntimeError(
    'halted',
    `${trajectoryId} is halted by ${principal} since ${at}: ${reason.replace(/\.$/, '')}. A principal with the right to halt must resume it.`,
    { evidence: { trajectory_id: trajectoryId, entry: id, principal, since: at, reason } },
  );
}
