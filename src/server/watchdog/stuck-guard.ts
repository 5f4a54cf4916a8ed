/** The proposal that runs the code of a domain. */
export interface GuardedProposal {
  readonly trajectoryId: string;
  readonly principal: string;
  readonly action: string;
  /** The idempotency key. */
  readonly key: string;
}

/** Watches the code of domains, which can block the process. */
export interface StuckGuard {
  /**
   * Runs a proposal under watch.
   *
   * @throws ServerError `domain_stuck` if an earlier attempt of the proposal blocked a process
   */
  during<T>(proposal: GuardedProposal, work: () => Promise<T>): Promise<T>;
}
