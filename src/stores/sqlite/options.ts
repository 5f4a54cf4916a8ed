import type { Durability, OpenMode, VectorSearch } from '../options.ts';

export interface SqliteOptions {
  /** The file, relative to the working directory; not a URL. */
  readonly path: string;
  /** Default `create`. */
  readonly mode?: OpenMode;
  /** Default `full`. */
  readonly durability?: Durability;
  /** How long an opening or a write waits for another process before it gives up with `store_locked`. */
  readonly lockTimeoutMs?: number;
  /** Default `exact`. `sqlite-vec` needs the package of that name. */
  readonly vectors?: VectorSearch;
}
