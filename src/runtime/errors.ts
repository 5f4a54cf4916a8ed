import { AssizeError } from '#base';

export type RuntimeErrorCode =
  /** The intent, observation or option is not of the form that is asked for; nothing was recorded. */
  | 'bad_intent'
  /** A trajectory's name is 1 to 128 letters, digits, dots, colons, dashes or underscores. */
  | 'bad_name'
  /** No writ of that id is known here. */
  | 'unknown_writ'
  /** The same idempotency key was used for another intent. */
  | 'idempotency_conflict'
  /** No trajectory of that name, or no such entry in it. */
  | 'not_found'
  /** The trajectory exists already. */
  | 'exists'
  /** No domain was given that is the one in the ledger. */
  | 'domain_mismatch'
  /** The ledger does not verify; it takes no more entries. */
  | 'invalid_ledger'
  /** A root's or branch's state breaks an invariant. */
  | 'broken_start'
  /** What was to be resolved is not pending (any more). */
  | 'not_pending'
  /** What waits is no proposal but an effect: what became of it is said by its place in the effect log. */
  | 'effect_waits'
  /** Nothing was ever pending under that id. */
  | 'never_pending'
  /** Nobody has decided yet, and it is not to be waited for any longer. */
  | 'still_pending'
  /** What waits contradicts what is believed, and somebody has to choose: an approval has an answer to each of its questions. */
  | 'answers_needed'
  /** Who was to be told of what waits, or was decided, failed. Told and never thrown. */
  | 'notice_failed'
  /** What was approved is not what is pending. */
  | 'digest_mismatch'
  /** A recorded observation can't be read back from the oracle log. */
  | 'observation_missing'
  /** A value that is needed was erased. */
  | 'erased'
  /** Nothing sensitive is where something was to be erased. */
  | 'nothing_to_erase'
  /** Another writer was always faster. */
  | 'conflict'
  /** The store could not tell whether it committed; open anew and look the id up. */
  | 'commit_unknown'
  /** The clock is more than five minutes behind the ledger. */
  | 'clock_behind'
  /** An option of the runtime, or of a beginning, would make entries that do not verify. */
  | 'bad_option'
  /** A writ given at creation, or to be delegated, does not hold; or one with a proposal, or of what is approved, leads to no anchor. */
  | 'bad_writ'
  /** What was to be concluded is no open delegation of this trajectory, or it was begun by none. */
  | 'not_delegated'
  /** The trajectory gave its final answer, and takes no more entries. */
  | 'concluded'
  /** What it delegated itself must be concluded first. */
  | 'still_delegated'
  /** An open approval freezes what another approval would change, or the world, from which nothing is delegated. */
  | 'frozen'
  /** The budget of the writ does not cover what is to be set aside for a delegation. */
  | 'budget_exhausted'
  /** The runtime was closed while this waited for the right to work with tools. */
  | 'closed'
  /** The store has fewer entries than a checkpoint of it that was kept outside. */
  | 'log_behind'
  /** The store's entries are not those of a checkpoint that was kept outside. */
  | 'log_apart'
  /** A checkpoint is malformed, of another log, or not signed by it. */
  | 'bad_checkpoint'
  /** A witness could not be reached, or refused. */
  | 'witness_failed'
  /** The checkpoint is older than the entry. */
  | 'not_logged'
  /** A snapshot could not be used, or not be left. Told and never thrown: the trajectory is replayed. */
  | 'snapshot_failed'
  /** What was left at work with tools could not be gone on with. Told and never thrown: it is tried again. */
  | 'recovery_failed';

/** Misuse of the runtime, or an environment that fails it. Refusals of proposals are results, not errors. */
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
