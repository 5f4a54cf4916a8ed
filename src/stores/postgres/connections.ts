import type { Readers } from './connection/readers.ts';
import type { Session } from './connection/session.ts';
import type { Tenures } from './effects/tenure.ts';
import type { ScrubberOptions } from './writer/scrub.ts';
import type { Turns } from './writer/write-turns.ts';
import type { Writer } from './writer/writer.ts';

/** What `openPostgres` has settled about a store. */
export interface Connections {
  readonly url: string;
  readonly path: string;
  readonly schema: string;
  readonly readers: Readers;
  /** None in a store that is only read. */
  readonly writer: Writer | undefined;
  /** For those who write. */
  readonly turns: Turns;
  readonly tenures: Tenures;
  readonly tell: boolean;
  /** None where what was erased is left in the files, for somebody else to take out. */
  readonly scrubbing: Pick<ScrubberOptions, 'lockTimeoutMs' | 'open'> | undefined;
  readonly open: () => Promise<Session>;
}
