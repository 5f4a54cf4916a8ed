import type { Instant } from '#ledger';

/** The proposal that runs the code of a domain. */
export interface GuardedProposal {
  readonly trajectoryId: string;
  readonly principal: string;
  readonly action: string;
  /** The idempotency key. */
  readonly key: string;
}

/** A proposal that was running when a process was blocked. */
export interface StuckProposal {
  /** Only the proposals of a process that had one are certainly at fault. */
  readonly state: 'stuck' | 'suspect';
  readonly trajectory: string;
  readonly principal: string;
  readonly action: string;
  readonly at: Instant;
}

/** Watches the code of domains, which can block the process. */
export interface StuckGuard {
  /**
   * Runs a proposal under watch.
   *
   * @throws ServerError `domain_stuck` if an earlier attempt of the proposal blocked a process
   */
  during<T>(proposal: GuardedProposal, work: () => Promise<T>): Promise<T>;

  /** The recorded proposals, by key. */
  recorded(page: { readonly after?: string; readonly limit: number }): Promise<ReadonlyMap<string, StuckProposal>>;

  /** Removes a record, after the code of the domain was corrected. False if there is none. */
  forget(key: string): Promise<boolean>;
}
