import type { Durability, OpenMode, Scrubbing } from './options.ts';

export interface PostgresOptions {
  /**
   * `postgres://user:password@host:5432/database?schema=assize`, or `postgresql://…`. The default
   * schema is `assize`. Several hosts (`host1:5432,host2`) are a primary and its standbys;
   * `target_session_attrs` chooses one as in libpq, and a store that writes uses the primary. The
   * other parameters belong to the driver. Missing values come from the environment (`PGHOST`, …).
   */
  readonly url: string;
  /** Default `create`: creates a missing schema but never a database. */
  readonly mode?: OpenMode;
  /**
   * Default `full`. `normal` and `off` are the same in this store: a commit is answered before it
   * is durable, and a crash of the server loses the last commits.
   */
  readonly durability?: Durability;
  /**
   * The longest wait of an open or a write for a lock of another process, in milliseconds. After it
   * the call throws `store_locked`.
   */
  readonly lockTimeoutMs?: number;
  /** The longest time, in milliseconds, that the server may work on one statement. */
  readonly statementTimeoutMs?: number;
  /** The longest time, in milliseconds, to open a connection. */
  readonly connectTimeoutMs?: number;
  /**
   * The number of attempts to reach the server again before waiting calls fail with
   * `store_unreachable`. Opening makes one attempt.
   */
  readonly connectAttempts?: number;
  /**
   * The number of connections for reading, in addition to the writing one. Each is opened on
   * demand.
   */
  readonly readers?: number;
  /**
   * Whether commits notify the followers of the store (default true). The server serializes the
   * commits of transactions that notify, so a process that writes constantly notifies at intervals.
   */
  readonly notify?: boolean;
  /**
   * The time at which the tables are rewritten after an erasure, to remove the erased bytes from
   * their files (default `at_once`). The rewrite locks the tables.
   *
   * With `later` the rewrite stays due, also when this process opens the store. A process without
   * that option does the rewrite when it opens the store or erases.
   */
  readonly scrub?: Scrubbing;
  /** The place of the store's archive: `file:FOLDER`, or `s3:BUCKET/PREFIX`. */
  readonly archive?: string | undefined;
  /**
   * The private root keys with which entries are sealed. The first one seals new entries. The
   * others are earlier ones, whose seals stay valid. Without keys the store checks no seal, and a
   * sealed store takes no entry.
   */
  readonly rootKeys?: readonly string[];
  /** The name of the connections in the server's own views. */
  readonly applicationName?: string;
}
