import type { Durability, OpenMode, Scrubbing } from '../options.ts';

export interface PostgresOptions {
  /**
   * `postgres://user:password@host:5432/database?schema=assize`, or `postgresql://…`. The schema is `assize` where none is
   * named; the other parameters are the driver's, and what is not said comes from the environment (`PGHOST`, …).
   */
  readonly url: string;
  /** Default `create`, which makes a missing schema, but no database. */
  readonly mode?: OpenMode;
  /**
   * Default `full`. `normal` and `off` are the same here: commits are answered before the server has them on disk, and it
   * loses the last ones when it crashes.
   */
  readonly durability?: Durability;
  /** How long an opening or a write waits for what someone else has locked before it gives up with `store_locked`. */
  readonly lockTimeoutMs?: number;
  /** How long the server may work on one statement. */
  readonly statementTimeoutMs?: number;
  /** How long a connection may take to be made. */
  readonly connectTimeoutMs?: number;
  /** Attempts to reach the server again before what waits fails with `store_unreachable`. Opening makes one. */
  readonly connectAttempts?: number;
  /** Connections for reading, besides the one that writes; each is made when it is needed. */
  readonly readers?: number;
  /**
   * Whether commits tell those who follow the store (default true). The server lets transactions that tell something commit
   * one after the other, so many processes that write all the time are faster without.
   */
  readonly notify?: boolean;
  /**
   * When the tables are written anew after an erasure, so that their files have nothing of it (default `at_once`). They are locked for as long
   * as that takes. With `later` it stays due, also when this process opens the store: until one opens it, or erases, that is not told so.
   */
  readonly scrub?: Scrubbing;
  /** How the server names the connections in its own views. */
  readonly applicationName?: string;
}
