import type { Policy } from 'assize/internal/authority';
import type { Json } from 'assize/internal/base';
import type { Deployment, GrantIssuer, ResolvedConfig } from 'assize/internal/config';
import type { Domain, Migration } from 'assize/internal/kernel';
import type { Clock } from 'assize/internal/oracle';
import type { Assize } from 'assize/internal/runtime';
import type { Store } from 'assize/internal/stores';
import type { Checkpoints } from './checkpoints.ts';
import type { GatewayWorlds } from './gateway-worlds.ts';
import type { Metrics } from './log/metrics.ts';
import type { FailedNotices } from './notices/queue/failed-notices.ts';
import type { OneAtATime } from './one-at-a-time.ts';
import type { FreeNames } from './principals/free-names.ts';
import type { OfficeWrits } from './principals/office-writs.ts';
import type { Sessions } from './principals/sessions.ts';
import type { Tokens } from './principals/tokens.ts';
import type { BundleVerifiers } from './serve-options.ts';
import type { Simulations } from './simulations/simulations.ts';

/** The parts that operations use. One for each server process. */
export interface Service {
  readonly assize: Assize;
  readonly store: Store;
  readonly config: ResolvedConfig;
  readonly domains: readonly Domain[];
  /** The migrations of upgrades, by the hash of the later version. */
  readonly migrations: ReadonlyMap<string, Migration>;
  readonly clock: Clock;
  /** The writs of agents, from their grants. */
  readonly grants: GrantIssuer;
  /** The writs of administrators and of the server. */
  readonly offices: OfficeWrits;
  readonly tokens: Tokens;
  readonly sessions: Sessions;
  readonly names: FreeNames;
  readonly checkpoints: Checkpoints;
  readonly verifiers: BundleVerifiers;
  /** A bundle or a report reads much of the ledger, so they are made one after the other. */
  readonly bundles: OneAtATime;
  readonly metrics: Metrics;
  readonly simulations: Simulations;
  readonly gateways: GatewayWorlds;
  readonly failedNotices: FailedNotices;
  /** The deployment over several stores that the server is part of. */
  readonly deployment?: Deployment | undefined;
  /** A policy of a client, for a backtest. @throws AuthorityError `bad_input` */
  readonly policyOf: (rules: Json) => Policy;
}
