import type { Hash, LedgerStore, LogStore } from '#ledger';
import type { ArchivePlace } from './place.ts';
import type { ArchiveReads, ArchiveWrites } from './port.ts';
import type { SegmentReader } from './segment-reader.ts';

/** The parts of a store that an archive works with. */
export interface ArchiveAccess {
  readonly store: LedgerStore & LogStore;
  /** The stored text of a blob: a marker for an archived one. */
  readonly storedBlob: (hash: Hash) => Promise<string | undefined>;
  readonly reads: ArchiveReads;
  readonly writes: ArchiveWrites;
  readonly place: ArchivePlace;
  readonly reader: SegmentReader;
}
