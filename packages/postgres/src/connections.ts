import type { Readers } from './connection/readers.ts';
import type { Session } from './connection/session.ts';
import type { Leases } from './effects/lease.ts';
import type { AnsweredWrites } from './writer/answered-writes.ts';
import type { ScrubberOptions } from './writer/scrub.ts';
import type { WriteLocks } from './writer/write-locks.ts';
import type { Writer } from './writer/writer.ts';

/** The connection data that `openPostgres` has determined. */
export interface Connections {
  readonly url: string;
  readonly path: string;
  readonly schema: string;
  readonly readers: Readers;
  /** Undefined in a read-only store. */
  readonly writer: Writer | undefined;
  /** Undefined if no answered write is promised to last. */
  readonly answered: AnsweredWrites | undefined;
  /** The write locks of the writing process. */
  readonly turns: WriteLocks;
  readonly tenures: Leases;
  readonly tell: boolean;
  /** The place of the store's archive, if the caller named one. */
  readonly archive: string | undefined;
  /** The root keys that seal entries, if the caller named some. */
  readonly rootKeys: readonly string[] | undefined;
  /** Undefined if another process must remove erased bytes from the files. */
  readonly scrubbing: Pick<ScrubberOptions, 'lockTimeoutMs' | 'open'> | undefined;
  readonly open: () => Promise<Session>;
}
