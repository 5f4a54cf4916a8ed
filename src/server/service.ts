import type { Policy } from '#authority';
import type { Json } from '#base';
import type { ResolvedConfig } from '#config';
import type { Domain, Migration } from '#kernel';
import type { Replayer } from '#ledger';
import type { Clock } from '#oracle';
import type { Assize } from '#runtime';
import type { Store } from '#stores';
import type { Checkpoints } from './checkpoints.ts';
import type { GatewayWorlds } from './gateway-worlds.ts';
import type { Metrics } from './log/metrics.ts';
import type { FailedNotices } from './notices/queue/failed-notices.ts';
import type { Tokens } from './principals/tokens.ts';
import type { WritIssuer } from './principals/writ-issuer.ts';
import type { StuckGuard } from './watchdog/stuck-guard.ts';

/** The parts that operations use. One for each server process. */
export interface Service {
  readonly assize: Assize;
  readonly store: Store;
  readonly config: ResolvedConfig;
  readonly domains: readonly Domain[];
  /** The migrations of upgrades, by the hash of the later version. */
  readonly migrations: ReadonlyMap<string, Migration>;
  readonly clock: Clock;
  readonly writs: WritIssuer;
  readonly tokens: Tokens;
  readonly checkpoints: Checkpoints;
  readonly metrics: Metrics;
  readonly watchdog: StuckGuard;
  readonly gateways: GatewayWorlds;
  readonly failedNotices: FailedNotices;
  /** Reads domains of trajectories; caches the ends of chains. */
  readonly replayer: Replayer;
  /** A policy of a client, for a backtest. @throws AuthorityError `bad_policy` */
  readonly policyOf: (rules: Json) => Policy;
}
