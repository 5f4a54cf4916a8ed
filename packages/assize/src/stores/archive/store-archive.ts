import { isAssizeError } from '#base';
import type { EntryRow, Hash, LedgerStore, LogStore } from '#ledger';
import { StoreError } from '../errors.ts';
import type { NativePort } from '../native-port.ts';
import type { ArchiveAccess } from './access.ts';
import { ArchivedTexts, isArchivedBlob, isArchivedRow } from './archived-texts.ts';
import { archivePlace } from './open-place.ts';
import type { ArchivePlace } from './place.ts';
import type { ArchiveReads, ArchiveState } from './port.ts';
import { notScrubbed, scrubArchive } from './scrub-archive.ts';
import { SegmentReader } from './segment-reader.ts';

/** The archive of one store: its texts for reads, its faults, and the parts of a run. */
export class StoreArchive {
  readonly #access: NativePort;
  readonly #place: ArchivePlace | undefined;
  readonly #segments: SegmentReader | undefined;
  readonly #texts: ArchivedTexts;
  readonly #reads: ArchiveReads;

  /**
   * `place`: the place that the caller named.
   *
   * @throws StoreError `store_unknown`
   */
  constructor(access: NativePort, place: string | undefined) {
    this.#access = access;
    this.#place = place === undefined ? undefined : archivePlace(place);
    this.#segments = this.#place && new SegmentReader(this.#place);
    this.#reads = {
      archive: () => this.#ask((reads) => reads.archive()),
      markedBlobs: () => this.#ask((reads) => reads.markedBlobs()),
      segmentFiles: (from, limit) => this.#ask((reads) => reads.segmentFiles(from, limit)),
      filesDue: () => this.#ask((reads) => reads.filesDue()),
    };
    this.#texts = new ArchivedTexts(this.#reads, this.#segments);
  }

  /** The rows with the payloads of archived entries. */
  rows(rows: EntryRow[]): EntryRow[] | Promise<EntryRow[]> {
    return rows.some(isArchivedRow) ? this.#texts.rows(rows) : rows;
  }

  async row(row: EntryRow | undefined): Promise<EntryRow | undefined> {
    return row === undefined || !isArchivedRow(row) ? row : (await this.#texts.rows([row]))[0];
  }

  /** The text of a blob. `read` reads the text of its row. */
  async blob(
    hash: Hash,
    read: () => Promise<string | undefined> | string | undefined,
  ): Promise<string | undefined> {
    const text = await read();
    return text !== undefined && isArchivedBlob(hash, text)
      ? this.#texts.blob(hash, text, read)
      : text;
  }

  async state(): Promise<ArchiveState | undefined> {
    return this.#reads.archive();
  }

  /**
   * The parts that a run of the store works with.
   *
   * @throws StoreError `archive_not_named`, `wrong_state`
   */
  access(store: LedgerStore & LogStore): ArchiveAccess {
    const { archived } = this.#access.writes();
    if (archived === undefined) throw noArchive();
    if (this.#place === undefined || this.#segments === undefined) throw this.#texts.notNamed();
    return {
      store,
      storedBlob: async (hash) => this.#access.read((reads) => reads.blob(hash)),
      reads: this.#reads,
      writes: archived,
      place: this.#place,
      reader: this.#segments,
    };
  }

  /** Removes erased texts from the files. @throws StoreError `store_not_scrubbed` */
  async scrub(store: LedgerStore & LogStore): Promise<void> {
    if ((await this.#reads.filesDue()).length === 0) return;
    if (this.#place === undefined) throw notScrubbed('the archive was not named.');
    await scrubArchive(this.access(store));
  }

  /** The faults of the files. Reads every file. */
  async faults(): Promise<string[]> {
    const faults =
      (await this.#reads.filesDue()).length > 0
        ? [
            'files of the archive may have erased texts; open the store for writing with the archive',
          ]
        : [];
    const state = await this.#reads.archive();
    if (state === undefined || state.segments === 0) return faults;
    if (this.#segments === undefined) return [...faults, this.#texts.notNamed(state).message];
    let texts = 0;
    for (let segment = 0; segment < state.segments; segment++) {
      const files = await this.#reads.segmentFiles(segment, 1);
      if (files.length === 0)
        faults.push(`segment ${segment} of the archive has no files in the database`);
      for (const file of files) {
        const checked = await faultOf(this.#segments.check(file));
        if (typeof checked === 'number') texts += checked;
        else faults.push(checked);
      }
    }
    const marked = await this.#reads.markedBlobs();
    if (faults.length === 0 && marked !== texts)
      faults.push(
        `the archive has ${texts} texts of blobs, and the database has markers of ${marked}`,
      );
    return faults;
  }

  #ask<T>(step: (reads: ArchiveReads) => T | Promise<T>): T | Promise<T> {
    return this.#access.read(({ archived }) => {
      if (archived === undefined) throw noArchive();
      return step(archived);
    });
  }
}

function noArchive(): StoreError {
  return new StoreError(
    'wrong_state',
    'This store has no archive. Use a SQLite or PostgreSQL store.',
  );
}

/** The result of a check, or its fault. @throws StoreError `store_failed` */
async function faultOf(checked: Promise<number>): Promise<number | string> {
  try {
    return await checked;
  } catch (error) {
    if (!isAssizeError(error) || error.code === 'store_failed') throw error;
    return error.message;
  }
}
