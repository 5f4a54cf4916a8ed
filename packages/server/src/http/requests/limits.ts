/** Each default but `backlog` is for one principal. */
export interface Limits {
  readonly requestsPerSecond: number;
  readonly concurrency: number;
  readonly streams: number;
  readonly bodyBytes: number;
  /** Bytes of one proposal of an agent: of a body, or of each proposal in it. */
  readonly proposalBytes: number;
  /** Member names of a body of an agent. A name costs far more than its bytes. */
  readonly names: number;
  /** Proposals in progress of all principals. */
  readonly backlog: number;
}

export const DEFAULT_LIMITS: Limits = {
  requestsPerSecond: 50,
  concurrency: 32,
  streams: 16,
  bodyBytes: 1_048_576,
  proposalBytes: 65_536,
  names: 4_096,
  backlog: 1_000,
};
