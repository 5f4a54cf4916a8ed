import { type Domain, defineDomain, type RoleParams } from 'assize/internal/kernel';
import type { z } from 'zod';
import type { RecordedRun } from './recorded.ts';
import type { Records } from './records.ts';

/** The kernel's action for a recorded call, by the tool's name. */
export interface BenchmarkTools {
  /** Proposals: each is an action of the domain. */
  readonly writes: readonly string[];
  /** Look something up in the database: observations of the next proposal. */
  readonly reads: readonly string[];
  /** Neither: a calculator, a place to think, the way to a person. */
  readonly rest: readonly string[];
}

/** One of the benchmark's databases, as a domain. */
export interface Benchmark<R extends Records = Records> {
  readonly domain: Domain;
  /** The domain `withoutPolicy`. */
  readonly bare: Domain;
  /** The names of its collections, each a file of the database. */
  readonly collections: readonly (keyof R & string)[];
  /** The database as its files have it, keyed by id. */
  readonly records: z.ZodType<R>;
  /** The state to begin with. */
  readonly initial: (records: R) => unknown;
  /** The records as a state has them, each the very object that stands there. */
  readonly recordsOf: (state: unknown) => R;
  readonly tools: BenchmarkTools;
  /** The role of all agents. */
  readonly role: string;
  /**
   * The role's parameters for an agent that has made these calls. Undefined until the calls
   * identify its user, if the run does not name the user.
   */
  readonly paramsAfter: (
    run: Pick<RecordedRun, 'calls' | 'user'>,
    records: R,
  ) => RoleParams | undefined;
}

/**
 * A domain without its policy. The domain rejects only calls that the tools themselves refuse, and
 * changes that no role may make.
 */
export function withoutPolicy(domain: Domain<any, any, any>): Domain {
  return defineDomain({
    name: domain.name,
    version: domain.version,
    state: domain.state,
    processes: domain.processes,
    roles: domain.roles,
    actions: { ...domain.actions },
    invariants: [],
    counselors: domain.counselors,
  });
}
