import type { Hash } from '#ledger';
import { StoreError } from '../errors.ts';
import type { Member, NewSegmentFile, SegmentFile, SegmentPart } from './segment-file.ts';

/** The archive of a store, as its database records it. */
export interface ArchiveState {
  /** A segment has the entries of a full subtree of this level: 2^level entries. */
  readonly level: number;
  /** The place that the last run named. It serves messages only, because a database is data. */
  readonly place: string;
  /** The number of archived segments: those of the first entries of the log. */
  readonly segments: number;
}

/** A file in use with erased texts (`rewrite`), or a discarded one (`remove`). */
export interface FileDue {
  readonly file: SegmentFile;
  readonly due: 'rewrite' | 'remove';
}

/** The lines of one segment, and the files with them. */
export interface SegmentStep {
  readonly segment: number;
  /** The numbers of the files, all of them new. */
  readonly files: readonly number[];
  /** The letters of the entries in log order (`marker.ts`), one for each entry of the segment. */
  readonly letters: readonly string[];
  /** The blobs whose texts are in the files, each with its line. */
  readonly blobs: readonly { readonly hash: Hash; readonly line: number }[];
}

/** A rewritten file of blobs, without the erased texts. */
export interface ReplacedFile {
  readonly old: number;
  readonly fresh: number;
  /** The erasures that the new file follows. */
  readonly erasures: number;
}

type Answer<T> = T | Promise<T>;

/** The reads of the tables of an archive. */
export interface ArchiveReads {
  /** Undefined if nothing was archived. */
  archive(): Answer<ArchiveState | undefined>;
  /** The files in use of one segment, or of all segments from one on, by segment, part and line. */
  segmentFiles(from: number, limit: number): Answer<SegmentFile[]>;
  /** The number of blobs whose row has a marker. */
  markedBlobs(): Answer<number>;
  /** The files that an erasure or a crash left work for. */
  filesDue(): Answer<FileDue[]>;
}

/** The writes of the tables of an archive, each in one transaction. */
export interface ArchiveWrites {
  /**
   * Records files before they are written, so that a later process finds and deletes them after a
   * crash. Returns their numbers. Returns undefined if the archive has another level.
   */
  beginFiles(
    archive: Omit<ArchiveState, 'segments'>,
    files: readonly NewSegmentFile[],
  ): Promise<number[] | undefined>;
  /**
   * Replaces the texts of the segment by markers, and takes its files into use. Returns false and
   * writes nothing if the segment is not the next one, a file was discarded, or a blob was erased.
   */
  archiveSegment(step: SegmentStep): Promise<boolean>;
  /** Returns false and writes nothing if the old file has other erasures, or a file is gone. */
  replaceFile(files: ReplacedFile): Promise<boolean>;
  /** Discards files that are not in use, these or all: their writers must start again. */
  discardFiles(files?: readonly number[]): Promise<void>;
  /** Deletes the rows of discarded files, once the files are gone. */
  forgetFiles(files: readonly number[]): Promise<void>;
}

/** The columns of a file, with its hash in hex and its members as JSON. */
export type FileColumns = readonly [
  n: number,
  segment: number,
  part: SegmentPart,
  first: number,
  lines: number,
  hash: Hash,
  bytes: number,
  members: string,
  erasures: number,
];

/** @throws StoreError `store_corrupt` if the members are not those of the file */
export function segmentFile(columns: FileColumns): SegmentFile {
  const [n, segment, part, first, lines, hash, bytes, text, erasures] = columns;
  const members = membersIn(text);
  if (members === undefined || !areWhole(members, { first, lines, bytes })) throw badMembers(n);
  return { n, segment, part, first, lines, hash, bytes, members, erasures };
}

/** The members as the column `members` has them. */
export function membersText(members: readonly Member[]): string {
  return JSON.stringify(
    members.map(({ line, lines, offset, bytes, size }) => [line, lines, offset, bytes, size]),
  );
}

function membersIn(text: string): Member[] | undefined {
  let rows: unknown;
  try {
    rows = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (!Array.isArray(rows) || !rows.every(isMember)) return undefined;
  return rows.map(([line, lines, offset, bytes, size]) => ({ line, lines, offset, bytes, size }));
}

/** Whether the members follow each other, and are the file together. */
function areWhole(
  members: readonly Member[],
  file: Pick<SegmentFile, 'first' | 'lines' | 'bytes'>,
): boolean {
  let [line, offset] = [file.first, 0];
  for (const member of members) {
    if (member.line !== line || member.offset !== offset) return false;
    line += member.lines;
    offset += member.bytes;
  }
  return line === file.first + file.lines && offset === file.bytes;
}

function badMembers(n: number): StoreError {
  return new StoreError(
    'store_corrupt',
    `The row of file ${n} of the archive is not valid. Restore the database from a backup.`,
    { evidence: { file: n } },
  );
}

function isMember(row: unknown): row is [number, number, number, number, number] {
  return (
    Array.isArray(row) &&
    row.length === 5 &&
    row.every((each) => Number.isSafeInteger(each) && each >= 0)
  );
}
