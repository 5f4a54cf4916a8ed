import { gunzipSync, gzipSync } from 'node:zlib';
import { hashBytes, WORLD_LIMITS } from '#canon';
import type { Hash } from '#ledger';

/** The two kinds of files of a segment: the entries, and the blobs that they were first to name. */
export type SegmentPart = 'entries' | 'blobs';

/** Adjacent lines of a file that are compressed together. */
export interface Member {
  /** The number of its first line among the lines of its part. */
  readonly line: number;
  readonly lines: number;
  /** Its bytes in the file. */
  readonly offset: number;
  readonly bytes: number;
  /** The number of bytes of its lines. */
  readonly size: number;
}

/** A file of a segment, as its row in the database describes it. */
export interface SegmentFile {
  /** The number of the row. No two files of a store have the same. */
  readonly n: number;
  readonly segment: number;
  readonly part: SegmentPart;
  /** The number of its first line among the lines of its part. */
  readonly first: number;
  readonly lines: number;
  /** SHA-256 of its bytes. */
  readonly hash: Hash;
  readonly bytes: number;
  readonly members: readonly Member[];
  /** The blobs that were erased since the file was written. */
  readonly erasures: number;
}

/** A file before it has a row. */
export type NewSegmentFile = Omit<SegmentFile, 'n' | 'erasures'>;

/** A file and its bytes. */
export interface SealedFile {
  readonly file: NewSegmentFile;
  readonly bytes: Buffer;
}

/** A member ends with the line that reaches one of these limits. */
const MEMBER_LINES = 32;
const MEMBER_BYTES: number = 256 * 2 ** 10;

/** A line of a member has at most the bytes of a whole state. */
const MEMBER_BYTES_MAX: number = MEMBER_BYTES + WORLD_LIMITS.bytesMax;

/** A file ends with the member that reaches this number of bytes of lines. */
const FILE_BYTES: number = 8 * 2 ** 20;

const NEWLINE = 10;

/** The smallest chunk that zlib accepts. */
const CHUNK_BYTES_MIN = 64;

/**
 * The name of a file: everything in it is a number, a word of this program or a hash. A name from
 * the database therefore never leads out of the archive.
 */
export function fileName({
  n,
  segment,
  part,
  first,
  hash,
}: Omit<SegmentFile, 'erasures' | 'members'>): string {
  const padded = (value: number): string => String(value).padStart(12, '0');
  return `${padded(segment)}-${part}-${padded(first)}-${n}-${hash}.gz`;
}

/**
 * Compresses the lines of one part of a segment into files. Each line ends with a newline. Each
 * file is a series of gzip members, so `gunzip -c` gives its lines, and a reader decompresses the
 * member of a line alone.
 */
export function sealLines(
  segment: number,
  part: SegmentPart,
  lines: readonly string[],
): SealedFile[] {
  const files: SealedFile[] = [];
  for (let next = 0; next < lines.length; ) {
    const first = next;
    const members: Member[] = [];
    const pieces: Buffer[] = [];
    let offset = 0;
    for (let size = 0; next < lines.length && size < FILE_BYTES; ) {
      const text = memberText(lines, next);
      const piece = gzipSync(text.bytes);
      members.push({
        line: next,
        lines: text.lines,
        offset,
        bytes: piece.length,
        size: text.bytes.length,
      });
      pieces.push(piece);
      offset += piece.length;
      size += text.bytes.length;
      next += text.lines;
    }
    files.push(
      sealed({ segment, part, first, lines: next - first, members }, Buffer.concat(pieces)),
    );
  }
  return files;
}

/** The file with some lines replaced. Every line stays in its member. */
export function resealed(
  { segment, part, first, lines, members }: SegmentFile,
  changed: (member: Member) => string,
): SealedFile {
  const pieces: Buffer[] = [];
  let offset = 0;
  const again = members.map((member) => {
    const text = Buffer.from(changed(member));
    const piece = gzipSync(text);
    pieces.push(piece);
    const moved = { ...member, offset, bytes: piece.length, size: text.length };
    offset += piece.length;
    return moved;
  });
  return sealed({ segment, part, first, lines, members: again }, Buffer.concat(pieces));
}

function sealed(file: Omit<NewSegmentFile, 'hash' | 'bytes'>, bytes: Buffer): SealedFile {
  return { file: { ...file, hash: fileHash(bytes), bytes: bytes.length }, bytes };
}

export function fileHash(bytes: Uint8Array): Hash {
  return Buffer.from(hashBytes(bytes)).toString('hex');
}

function memberText(
  lines: readonly string[],
  from: number,
): { readonly bytes: Buffer; readonly lines: number } {
  let text = '';
  let count = 0;
  while (from + count < lines.length && count < MEMBER_LINES && text.length < MEMBER_BYTES) {
    text += lines[from + count];
    count += 1;
  }
  return { bytes: Buffer.from(text), lines: count };
}

/** The member with a line. Undefined if the file has no such line. */
export function memberOf(
  { members }: Pick<SegmentFile, 'members'>,
  line: number,
): Member | undefined {
  let [low, high] = [0, members.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const member = members[middle]!;
    if (line < member.line) high = middle - 1;
    else if (line >= member.line + member.lines) low = middle + 1;
    else return member;
  }
  return undefined;
}

/** The lines of one member. */
export class MemberLines {
  readonly #bytes: Buffer;
  readonly #first: number;
  readonly #ends: readonly number[];

  /** @throws if the bytes are not those of the member */
  constructor(file: Buffer, { line, lines, offset, bytes, size }: Member) {
    if (size > MEMBER_BYTES_MAX) throw new Error(`the member would have ${size} bytes`);
    // The limit keeps a forged file from filling the memory. One chunk takes half of the time of
    // many.
    this.#bytes = gunzipSync(file.subarray(offset, offset + bytes), {
      maxOutputLength: Math.max(size, 1),
      chunkSize: Math.max(size, CHUNK_BYTES_MIN),
    });
    this.#first = line;
    const ends: number[] = [];
    for (let at = this.#bytes.indexOf(NEWLINE); at >= 0; at = this.#bytes.indexOf(NEWLINE, at + 1))
      ends.push(at);
    if (this.#bytes.length !== size || ends.length !== lines)
      throw new Error(
        `the member has ${ends.length} lines of ${lines}, and ${this.#bytes.length} bytes of ${size}`,
      );
    this.#ends = ends;
  }

  /** The number of bytes in memory. */
  get size(): number {
    return this.#bytes.length;
  }

  has(line: number): boolean {
    return line >= this.#first && line < this.#first + this.#ends.length;
  }

  /** A line without its newline, as UTF-8. */
  bytes(line: number): Buffer {
    const at = line - this.#first;
    return this.#bytes.subarray(at === 0 ? 0 : this.#ends[at - 1]! + 1, this.#ends[at]!);
  }

  /** All lines, each without its newline. */
  *texts(): Generator<string> {
    for (let at = 0; at < this.#ends.length; at++) yield this.bytes(this.#first + at).toString();
  }
}
