import type { Clock } from '#oracle';
import type { Durability, OpenMode, VectorSearch } from '../options.ts';

export interface SqliteOptions {
  /** The path of the file, relative to the working directory; not a URL. */
  readonly path: string;
  /** Default `create`. */
  readonly mode?: OpenMode;
  /** Default `full`. */
  readonly durability?: Durability;
  /**
   * The longest wait of an open or a write for another process, in milliseconds. After it the call
   * throws `store_locked`.
   */
  readonly lockTimeoutMs?: number;
  /**
   * The clock that tells whether a host's clock is ahead (`Batch.clock`). Default: the clock of the
   * machine. Set it only in tests.
   */
  readonly clock?: Clock;
  /** Default `exact`. `sqlite-vec` requires the package of that name. */
  readonly vectors?: VectorSearch;
  /** The place of the store's archive: `file:FOLDER`, or `s3:BUCKET/PREFIX`. */
  readonly archive?: string | undefined;
  /**
   * The private root keys with which entries are sealed. The first one seals new entries. The
   * others are earlier ones, whose seals stay valid. Without keys the store checks no seal, and a
   * sealed store takes no entry.
   */
  readonly rootKeys?: readonly string[];
}
