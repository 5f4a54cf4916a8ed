import { AssizeError } from '#base';

export type RuntimeErrorCode =
  /**
   * The intent, observation or option does not have the documented form. Correct the member that
   * the message names.
   */
  | 'bad_intent'
  /**
   * The name of the trajectory is invalid. Use 1 to 128 letters, digits, dots, colons, dashes or
   * underscores.
   */
  | 'bad_name'
  /** The trajectory knows no writ of that id. Present the writ itself. */
  | 'unknown_writ'
  /** The idempotency key was used for another intent. Use a new key for a new intent. */
  | 'idempotency_conflict'
  /**
   * The store has no trajectory of that name, or the trajectory has no such entry. Check the name
   * with `assize log`.
   */
  | 'not_found'
  /** A trajectory of that name exists. Open it, or choose another name. */
  | 'exists'
  /**
   * None of the given domains is the domain of the ledger. Open the runtime with the domain whose
   * hash the ledger names.
   */
  | 'domain_mismatch'
  /**
   * The trajectory does not verify and takes no more entries. Find the fault with `assize verify`.
   */
  | 'invalid_ledger'
  /**
   * The initial state of a root or branch breaks an invariant. Correct the state, or begin with
   * `override`.
   */
  | 'invalid_initial_state'
  /** The proposal is not pending, or not any more. List pending proposals with `assize pending`. */
  | 'not_pending'
  /**
   * The pending entry is an unresolved effect and no proposal. Resolve it with `assize effects
   * resolve`.
   */
  | 'effect_unresolved'
  /**
   * The trajectory never had a pending entry of that id. Wait for the id that a proposal returned
   * as `pending`.
   */
  | 'never_pending'
  /** The wait ended before a decision was made. Wait again, or ask later. */
  | 'still_pending'
  /**
   * The pending proposal contradicts memory, and the approval lacks an answer. Answer each question
   * of the proposal.
   */
  | 'answers_needed'
  /**
   * A listener of pending or resolved proposals threw. Mend the listener; the runtime reports this
   * error and never throws it.
   */
  | 'notification_failed'
  /**
   * The pending proposal is not the one that was shown. Look at the proposal again, and approve its
   * digest.
   */
  | 'digest_mismatch'
  /**
   * A recorded observation is not in the oracle log. Give the runtime the oracle log of the
   * recording.
   */
  | 'observation_missing'
  /** A value that the operation needs was erased. Continue without the value, or propose again. */
  | 'erased'
  /**
   * The given place holds nothing that can be erased. Mark the value `sensitive` in the domain, or
   * correct the place.
   */
  | 'nothing_to_erase'
  /** Other writers were faster at every try. Try again; nothing was recorded. */
  | 'conflict'
  /** The store could not tell whether it committed. Open the store anew, and look the id up. */
  | 'commit_unknown'
  /** The clock is more than five minutes behind the last entry. Set the machine's clock. */
  | 'clock_behind'
  /**
   * An option of the runtime, of a root or of a branch can't be used. Correct the option that the
   * message names.
   */
  | 'bad_option'
  /**
   * A writ does not hold, or leads to no trusted root key. Give a valid writ, or add its root key
   * to `anchors`.
   */
  | 'bad_writ'
  /**
   * The child is no open delegation of this trajectory, or no delegation began it. List open
   * delegations with `trajectory.delegations()`.
   */
  | 'not_delegated'
  /**
   * The trajectory gave its final answer and takes no more entries. Delegate anew, or branch from
   * it.
   */
  | 'concluded'
  /** The trajectory has open delegations of its own. Conclude them first. */
  | 'open_delegations'
  /**
   * An open approval freezes a part that the operation would change. Resolve that approval first.
   */
  | 'frozen'
  /**
   * The writ's budget does not cover the amount to set aside for the delegation. Delegate less, or
   * grant more.
   */
  | 'budget_exhausted'
  /** The runtime was closed while the call waited. Open another runtime. */
  | 'closed'
  /**
   * The store has fewer entries than a checkpoint that was kept outside. Restore the lost entries
   * from a backup.
   */
  | 'log_truncated'
  /**
   * The store's entries are not those of a checkpoint that was kept outside. Compare with a backup:
   * the history was rewritten.
   */
  | 'log_diverged'
  /**
   * The checkpoint is malformed, of another log, or not signed by it. Check the file and the public
   * key.
   */
  | 'bad_checkpoint'
  /**
   * A witness could not be reached, or refused to cosign. Follow the message, and make the
   * checkpoint again.
   */
  | 'witness_failed'
  /** The checkpoint is older than the entry. Make a new checkpoint, and prove by that. */
  | 'not_logged'
  /**
   * A snapshot could not be used or written. The runtime replays the trajectory, reports this error
   * and never throws it.
   */
  | 'snapshot_failed'
  /**
   * Transactions that another process left could not be resumed. The runtime reports this error and
   * tries again.
   */
  | 'recovery_failed'
  /**
   * The entry is no commit, rejection or pending approval, so it rules on nothing. Give the entry
   * of a ruling.
   */
  | 'not_a_ruling';

/**
 * Misuse of the runtime, or an environment that fails it. A refusal of a proposal is a result and
 * no error.
 */
export class RuntimeError extends AssizeError<RuntimeErrorCode> {
  override readonly name: string = 'RuntimeError';
}

/** What a trajectory says that nothing can be added to any more. */
export function concluded(trajectoryId: string, answer: string): RuntimeError {
  return new RuntimeError(
    'concluded',
    `${trajectoryId} gave its final answer and takes no more entries; delegate anew, or branch from it.`,
    { evidence: { trajectory_id: trajectoryId, answer } },
  );
}
