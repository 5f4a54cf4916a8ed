import { StoreError } from '../errors.ts';
import { ByteCache } from './byte-cache.ts';
import type { ArchivePlace } from './place.ts';
import { fileHash, fileName, type Member, MemberLines, type SegmentFile } from './segment-file.ts';

/**
 * The bytes of files, and the lines of members, that stay in memory. A replay of trajectories that
 * were written at the same time reads each file many times.
 */
const FILES_BYTES: number = 32 * 2 ** 20;
const MEMBERS_BYTES: number = 64 * 2 ** 20;

/** Reads files of segments. Each file is compared with its hash before any of its lines is used. */
export class SegmentReader {
  readonly #place: ArchivePlace;
  readonly #files = new ByteCache<Promise<Buffer>>(FILES_BYTES);
  readonly #members = new ByteCache<MemberLines>(MEMBERS_BYTES);

  constructor(place: ArchivePlace) {
    this.#place = place;
  }

  get place(): string {
    return this.#place.name;
  }

  /** The lines of a member, if they are in memory. */
  known({ n }: SegmentFile, { line }: Member): MemberLines | undefined {
    return this.#members.get(`${n} ${line}`);
  }

  /** @throws StoreError `archive_damaged`, `store_failed` */
  async lines(file: SegmentFile, member: Member): Promise<MemberLines> {
    const known = this.known(file, member);
    if (known !== undefined) return known;
    const bytes = await this.#bytes(file);
    const lines = this.#decompressed(bytes, file, member);
    this.#members.set(`${file.n} ${member.line}`, lines, lines.size);
    return lines;
  }

  /**
   * Reads the file from the archive, and compares its bytes and lines. Uses no cache. Returns the
   * number of lines with the text of a blob.
   */
  async check(file: SegmentFile): Promise<number> {
    const bytes = await this.#read(file);
    let texts = 0;
    for (const member of file.members)
      for (const line of this.#decompressed(bytes, file, member).texts())
        if (line.startsWith('{"blob":')) texts += 1;
    return texts;
  }

  damaged(file: SegmentFile, why: string, cause?: unknown): StoreError {
    const name = fileName(file);
    return new StoreError(
      'archive_damaged',
      `The file ${name} of ${this.place} is damaged: ${why}. Restore it from a copy of the archive.`,
      { evidence: { archive: this.place, file: name }, cause },
    );
  }

  #decompressed(bytes: Buffer, file: SegmentFile, member: Member): MemberLines {
    try {
      return new MemberLines(bytes, member);
    } catch (cause) {
      throw this.damaged(file, (cause as Error).message, cause);
    }
  }

  #bytes(file: SegmentFile): Promise<Buffer> {
    const key = String(file.n);
    const known = this.#files.get(key);
    if (known !== undefined) return known;
    const read = this.#read(file);
    this.#files.set(key, read, file.bytes);
    // A failed read is repeated by the next caller; this caller gets the error from `read` itself.
    read.catch(() => this.#files.delete(key));
    return read;
  }

  async #read(file: SegmentFile): Promise<Buffer> {
    const name = fileName(file);
    const bytes = await this.#place.read(name, file.bytes);
    if (bytes === undefined) {
      throw new StoreError(
        'archive_damaged',
        `The archive ${this.place} has no file ${name}. Name the archive that the store was written to, or restore the file from a copy.`,
        { evidence: { archive: this.place, file: name } },
      );
    }
    if (fileHash(bytes) !== file.hash)
      throw this.damaged(file, 'its bytes do not have the hash in its name');
    return bytes;
  }
}
