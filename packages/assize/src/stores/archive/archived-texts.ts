import { isAssizeError } from '#base';
import { hashText } from '#canon';
import type { EntryRow, Hash } from '#ledger';
import { StoreError } from '../errors.ts';
import { isMarker, markedBlob, markedEntry } from './marker.ts';
import type { ArchiveReads, ArchiveState } from './port.ts';
import { type MemberLines, memberOf, type SegmentFile, type SegmentPart } from './segment-file.ts';
import type { SegmentReader } from './segment-reader.ts';

/** The number of segments whose files are remembered. */
const SEGMENTS_MAX = 10_000;

/**
 * Puts archived texts in the place of their markers. Each file has the hash in its row of the
 * database, and each line the id or hash of its row, so a changed archive is found and named.
 */
export class ArchivedTexts {
  readonly #reads: ArchiveReads;
  readonly #reader: SegmentReader | undefined;
  readonly #files = new Map<number, readonly SegmentFile[]>();
  /** The next line is most often in the same member as the last one. */
  #last: FoundMember | undefined;
  #state: ArchiveState | undefined;

  /** Without a reader, the class throws `archive_not_named` for each archived text. */
  constructor(reads: ArchiveReads, reader: SegmentReader | undefined) {
    this.#reads = reads;
    this.#reader = reader;
  }

  /**
   * The rows with their payloads.
   *
   * @throws StoreError
   */
  async rows(rows: readonly EntryRow[]): Promise<EntryRow[]> {
    const { level } = await this.#archive();
    const width = 2 ** level;
    const whole: EntryRow[] = [];
    for (const row of rows) {
      if (!isMarker(row.payload)) {
        whole.push(row);
        continue;
      }
      const index = requireIndex(row);
      const segment = Math.floor(index / width);
      // Most lines are in memory, and an await for each would take longer than the rest.
      const found = this.#known(segment, 'entries', index % width);
      whole.push(
        this.#row(
          row,
          found ?? (await this.#read(segment, 'entries', index % width)),
          index % width,
        ),
      );
    }
    return whole;
  }

  /**
   * The text of an archived blob, or undefined if it was erased meanwhile. `again` reads the text
   * of the row once more.
   *
   * @throws StoreError
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
      this.#last = undefined;
      return this.#blob(hash, now);
    }
  }

  /** Readers compare the payload with its id, as they do for a payload of the database. */
  #row(
    { id, trajectory_id, parent, seq, kind }: EntryRow,
    { file, line }: FoundLine,
    at: number,
  ): EntryRow {
    if (line.toString('latin1', ENTRY_START.length, ENTRY_START.length + id.length) !== id)
      throw this.#named().damaged(file, `its line ${at} is not the entry ${id}`);
    const payload = line.toString(
      'utf8',
      ENTRY_START.length + id.length + ENTRY_MIDDLE.length,
      line.length - 1,
    );
    return { id, trajectory_id, parent, seq, kind, payload };
  }

  async #blob(hash: Hash, marker: string): Promise<string> {
    const { segment, line: at } = requirePlace(marker);
    const { file, line } =
      this.#known(segment, 'blobs', at) ?? (await this.#read(segment, 'blobs', at));
    const text = line
      .subarray(BLOB_START.length, -(BLOB_MIDDLE.length + hash.length + 2))
      .toString();
    if (hashText(text) !== hash)
      throw this.#named().damaged(file, `its line ${at} is not the blob ${hash}`);
    return text;
  }

  #named(): SegmentReader {
    if (this.#reader !== undefined) return this.#reader;
    throw this.notNamed();
  }

  /**
   * The error for a store whose archive the caller did not name. The place in the database is only
   * a hint: a changed database must not choose the files that a program reads.
   */
  notNamed(state: ArchiveState | undefined = this.#state): StoreError {
    const hint =
      state === undefined ? '' : ` The last run wrote to ${JSON.stringify(state.place)}.`;
    return new StoreError(
      'archive_not_named',
      `Older entries of this store are in an archive, and none was named. Pass --archive PLACE, set ASSIZE_ARCHIVE, or pass the option archive to openStore.${hint}`,
      { evidence: { archive: state?.place ?? null } },
    );
  }

  async #archive(): Promise<ArchiveState> {
    this.#state ??= await this.#reads.archive();
    if (this.#state !== undefined) return this.#state;
    throw new StoreError(
      'archive_damaged',
      'The database has markers of archived texts and no archive. Restore it from a backup.',
    );
  }

  /** A line in memory, without waiting. */
  #known(segment: number, part: SegmentPart, line: number): FoundLine | undefined {
    const found = this.#last;
    if (
      found !== undefined &&
      found.file.segment === segment &&
      found.file.part === part &&
      found.lines.has(line)
    )
      return { file: found.file, line: found.lines.bytes(line) };
    const file = this.#files.get(segment)?.find((each) => isIn(each, part, line));
    const member = file && memberOf(file, line);
    const lines = member && this.#reader?.known(file!, member);
    if (lines === undefined) return undefined;
    this.#last = { file: file!, lines };
    return { file: file!, line: lines.bytes(line) };
  }

  async #read(segment: number, part: SegmentPart, line: number): Promise<FoundLine> {
    await this.#archive();
    const reader = this.#named();
    const file = (await this.#filesOf(segment)).find((each) => isIn(each, part, line));
    const member = file && memberOf(file, line);
    if (file === undefined || member === undefined) {
      throw new StoreError(
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
    const files = await this.#reads.segmentFiles(segment, 1);
    if (this.#files.size >= SEGMENTS_MAX) this.#files.clear();
    this.#files.set(segment, files);
    return files;
  }
}

interface FoundMember {
  readonly file: SegmentFile;
  readonly lines: MemberLines;
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

/** Whether the row has a marker for its payload. */
export function isArchivedRow({ payload }: EntryRow): boolean {
  return isMarker(payload);
}

/** Whether the text is a marker. A store accepts any text as a blob, also one of that form. */
export function isArchivedBlob(hash: Hash, text: string): boolean {
  return isMarker(text) && hashText(text) !== hash;
}

function requireIndex({ payload, trajectory_id, seq }: EntryRow): number {
  const index = markedEntry(payload);
  if (index !== undefined) return index;
  throw badMarker(`entry ${seq} of ${trajectory_id}`, payload);
}

function requirePlace(marker: string): { readonly segment: number; readonly line: number } {
  const place = markedBlob(marker);
  if (place !== undefined) return place;
  throw badMarker('a blob', marker);
}

function badMarker(what: string, marker: string): StoreError {
  return new StoreError(
    'archive_damaged',
    `The database has the text ${JSON.stringify(marker.slice(0, 40))} for ${what}, which is not a marker of an archived text. Restore the database from a backup.`,
  );
}
