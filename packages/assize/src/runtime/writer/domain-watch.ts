import { contentHash, copyJson, WORLD_LIMITS } from '#canon';
import type { Domain } from '#kernel';
import type { Hash } from '#ledger';

/**
 * A synchronous run of the code of a domain. The same attempt has the same step, domain and id in
 * every process.
 */
export interface DomainRun {
  /**
   * A ruling: `proposal`, `approval`, `rejection`. `counselors`: the choice of the principals that
   * may decide. `failure`: the proposal for a failed effect. `beginning`, `opening`: all rules on
   * the state of a new or a stored trajectory. `backtest`: a recorded proposal. `comparison`: a
   * proposal of a generated agent; the name of the domain is in the place of a trajectory.
   */
  readonly step:
    | 'proposal'
    | 'approval'
    | 'rejection'
    | 'counselors'
    | 'failure'
    | 'beginning'
    | 'opening'
    | 'backtest'
    | 'comparison';
  readonly trajectoryId: string;
  /** The hash of the domain. */
  readonly domain: Hash;
  /** Of the idempotency key, as entries have it; without a key, of the content. */
  readonly id: Hash;
  readonly action?: string;
  readonly principal?: string;
}

/** The members of a run, except its place. */
export type NamedRun = Omit<DomainRun, 'trajectoryId' | 'domain'>;

/**
 * Learns when code of a domain begins and ends, because that code can block the process. Runs nest.
 * Every `end` belongs to the last `begin`.
 */
export interface DomainWatch {
  /** If it throws, the code does not run, and `end` is not called. No entry is recorded. */
  begin(run: DomainRun): void;
  end(): void;
}

/** The same run for every new trajectory with this initial state. @throws CanonError */
export function beginningRun(trajectoryId: string, { hash: domain }: Domain, initial: unknown): DomainRun {
  const id = contentHash({ initial: copyJson(initial ?? null, WORLD_LIMITS) });
  return { step: 'beginning', trajectoryId, domain, id };
}

/** Runs the code. `run` is called only under a watch. @throws the errors of both */
export function watched<T>(watch: DomainWatch | undefined, run: () => DomainRun, code: () => T): T {
  if (watch === undefined) return code();
  watch.begin(run());
  try {
    return code();
  } finally {
    watch.end();
  }
}
