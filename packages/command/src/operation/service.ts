import type { GrantIssuer, ResolvedConfig } from 'assize/internal/config';
import type { Domain } from 'assize/internal/kernel';
import type { Clock } from 'assize/internal/oracle';
import type { Assize } from 'assize/internal/runtime';
import type { Store } from 'assize/internal/stores';
import type { SystemWrits } from './system-writs.ts';

/**
 * The parts of a server that every operation may use. A package whose operations use more declares
 * the additional parts, and makes them.
 */
export interface Service {
  readonly assize: Assize;
  readonly store: Store;
  readonly config: ResolvedConfig;
  readonly domains: readonly Domain[];
  readonly clock: Clock;
  /** The writs of agents, from their grants. */
  readonly grants: GrantIssuer;
  /** The writs of administrators and of the server. */
  readonly systemWrits: SystemWrits;
  /** Counts rulings: `committed`, `rejected`, `escalated` or `frozen`. */
  readonly metrics: { ruling(ruling: string): void };
}
