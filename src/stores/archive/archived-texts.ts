import { isAssizeError } from '#base';
import { hashBytes, hashText } from '#canon';
import type { EntryRow, Hash } from '#ledger';
import { ArchiveError } from './errors.ts';
import { isMarker, markedBlob, markedEntry } from './marker.ts';
import type { ArchiveReads, ArchiveState } from './port.ts';
import { memberOf, type MemberLines, type SegmentFile, type SegmentPart } from './segment-file.ts';
import type { SegmentReader } from './segment-reader.ts';

/** The number of segments whose files are remembered. */
const SEGMENTS_MAX = 10_000;

/** Runs a read of the database, with its errors as StoreErrors. */
export type ArchiveAsked = <T>(step: (reads: ArchiveReads) => T | Promise<T>) => T | Promise<T>;

/**
 * Puts archived texts in the place of their markers. A text is used only if it has the hash of its
 * row, so a changed archive is found as a changed database is.
 */
export class ArchivedTexts {
  readonly #ask: ArchiveAsked;
  readonly #reader: SegmentReader | undefined;
  readonly #files = new Map<number, readonly SegmentFile[]>();
  #state: ArchiveState | undefined;

  /** Without a reader, the class throws `archive_not_named` for each archived text. */
  constructor(ask: ArchiveAsked, reader: SegmentReader | undefined) {
    this.#ask = ask;
    this.#reader = reader;
  }

  /**
   * The rows with their payloads.
   *
   * @throws ArchiveError
   */
  async rows(rows: readonly EntryRow[]): Promise<EntryRow[]> {
    const { level } = await this.#archive();
    const whole: EntryRow[] = [];
    for (const row of rows) whole.push(isArchivedRow(row) ? await this.#row(row, 2 ** level) : row);
    return whole;
  }

  /**
   * The text of an archived blob, or undefined if it was erased meanwhile. `again` reads the text
   * of the row once more.
   *
   * @throws ArchiveError
   */
  async blob(
    hash: Hash,
    marker: string,
    again: () => Promise<string | undefined> | string | undefined,
  ): Promise<string | undefined> {
    try {
      return await this.#blob(hash, marker);
    } catch (error) {
      // An erasure may have replaced the file since its row was read.
      if (!isAssizeError(error)) throw error;
      const now = await again();
      if (now === undefined || !isArchivedBlob(hash, now)) return now;
      this.#files.clear();
      return this.#blob(hash, now);
    }
  }

  async #row(row: EntryRow, width: number): Promise<EntryRow> {
    const index = markedEntry(row.payload)!;
    const segment = Math.floor(index / width);
    const found = this.#known(segment, 'entries', index % width) ?? (await this.#read(segment, 'entries', index % width));
    const { file, line } = found;
    const start = ENTRY_START.length + row.id.length + ENTRY_MIDDLE.length;
    const payload = line.subarray(start, -1);
    if (
      line.toString('latin1', 0, start) !== `${ENTRY_START}${row.id}${ENTRY_MIDDLE}` ||
      Buffer.from(hashBytes(payload)).toString('hex') !== row.id
    )
      throw this.#named().damaged(file, `its line ${index % width} is not the entry ${row.id}`);
    return { ...row, payload: payload.toString() };
  }

  async #blob(hash: Hash, marker: string): Promise<string> {
    const { segment, line: at } = markedBlob(marker)!;
    const { file, line } = this.#known(segment, 'blobs', at) ?? (await this.#read(segment, 'blobs', at));
    const text = line.subarray(BLOB_START.length, -(BLOB_MIDDLE.length + hash.length + 2)).toString();
    if (hashText(text) !== hash) throw this.#named().damaged(file, `its line ${at} is not the blob ${hash}`);
    return text;
  }

  #named(): SegmentReader {
    if (this.#reader !== undefined) return this.#reader;
    throw this.notNamed();
  }

  /**
   * The error for a store whose archive the caller did not name. The place in the database is a hint
   * only: a changed database must not choose the files that a program reads.
   */
  notNamed(state: ArchiveState | undefined = this.#state): ArchiveError {
    const hint = state === undefined ? '' : ` The last run wrote to ${JSON.stringify(state.place)}.`;
    return new ArchiveError(
      'archive_not_named',
      `Older entries of this store are in an archive, and none was named. Pass --archive PLACE, set ASSIZE_ARCHIVE, or pass the option archive to openStore.${hint}`,
      { evidence: { archive: state?.place ?? null } },
    );
  }

  async #archive(): Promise<ArchiveState> {
    this.#state ??= await this.#ask((reads) => reads.archive());
    if (this.#state !== undefined) return this.#state;
    throw new ArchiveError(
      'archive_damaged',
      'The database has markers of archived texts and no archive. Restore it from a backup.',
    );
  }

  /** A line in memory, without waiting. */
  #known(segment: number, part: SegmentPart, line: number): FoundLine | undefined {
    const file = this.#files.get(segment)?.find((each) => isIn(each, part, line));
    const member = file && memberOf(file, line);
    const lines = member && this.#reader?.known(file!, member);
    return lines && { file: file!, line: lines.bytes(line) };
  }

  async #read(segment: number, part: SegmentPart, line: number): Promise<FoundLine> {
    await this.#archive();
    const reader = this.#named();
    const file = (await this.#filesOf(segment)).find((each) => isIn(each, part, line));
    const member = file && memberOf(file, line);
    if (file === undefined || member === undefined) {
      throw new ArchiveError(
        'archive_damaged',
        `The database names line ${line} of the ${part} of segment ${segment}, and no file with it. Restore the database from a backup.`,
        { evidence: { segment, part, line } },
      );
    }
    const lines: MemberLines = await reader.lines(file, member);
    return { file, line: lines.bytes(line) };
  }

  async #filesOf(segment: number): Promise<readonly SegmentFile[]> {
    const known = this.#files.get(segment);
    if (known !== undefined) return known;
    const files = await this.#ask((reads) => reads.segmentFiles(segment, 1));
    if (this.#files.size >= SEGMENTS_MAX) this.#files.clear();
    this.#files.set(segment, files);
    return files;
  }
}

interface FoundLine {
  readonly file: SegmentFile;
  readonly line: Buffer;
}

const ENTRY_START = '{"id":"';
const ENTRY_MIDDLE = '","payload":';
const BLOB_START = '{"blob":';
const BLOB_MIDDLE = ',"hash":"';

function isIn(file: SegmentFile, part: SegmentPart, line: number): boolean {
  return file.part === part && line >= file.first && line < file.first + file.lines;
}

/** Whether the row has a marker for its payload. A payload that has its id is no marker. */
export function isArchivedRow({ id, payload }: EntryRow): boolean {
  return isMarker(payload) && markedEntry(payload) !== undefined && hashText(payload) !== id;
}

export function isArchivedBlob(hash: Hash, text: string): boolean {
  return isMarker(text) && markedBlob(text) !== undefined && hashText(text) !== hash;
}
