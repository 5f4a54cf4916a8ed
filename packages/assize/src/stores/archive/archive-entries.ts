import { type ArgumentSchema, arg, checkArgument } from '#base';
import { hashText } from '#canon';
import {
  askNodes,
  type BlobRow,
  blobLine,
  checkRow,
  compareWithHead,
  comparisonFault,
  type EntryRow,
  type ErasedRow,
  entryLine,
  erasedLine,
  type Hash,
  type Instant,
  type LogStore,
  type Payload,
  referencesOf,
  writParent,
  writsNamedBy,
} from '#ledger';
import { Frontier, inclusionProof, leafHash, verifyInclusion } from '#merkle';
import { StoreError } from '../errors.ts';
import type { ArchiveAccess } from './access.ts';
import { isMarker, lettersOf } from './marker.ts';
import type { ArchiveState, SegmentStep } from './port.ts';
import { type SealedFile, sealLines } from './segment-file.ts';
import { removeFiles, writeFiles } from './write-files.ts';

/** The level of an archive's segments: 4,096 entries each. */
export const LEVEL = 12;

export interface ArchiveOptions {
  /** The last checkpoint, with its verified signature. Only entries below it are archived. */
  readonly checkpoint: {
    readonly origin: string;
    readonly size: number | bigint;
    readonly root: Uint8Array;
  };
  /** Keep at least this number of the log's last entries in the database. Default: 0. */
  readonly keep?: number;
  /** Archive a segment only if each of its entries is older than this instant. */
  readonly before?: Instant;
  /**
   * A segment has 2^level entries. Default: that of the archive, and 12 for a new archive. An
   * archive has one level.
   */
  readonly level?: number;
  /** Called after every segment, with the archived entries and those that will be. */
  readonly onProgress?: (archived: number, total: number) => void;
  /** Stops before the next segment. */
  readonly signal?: AbortSignal;
}

export interface ArchiveReport {
  /** The entries that this run moved, and the bytes of the files that have them now. */
  readonly moved: number;
  readonly bytes: number;
  /** All archived entries: the first of the log. */
  readonly archived: number;
  readonly logged: number;
  /** The number of entries of one segment. */
  readonly segment: number;
  /** The place of the archive. */
  readonly archive: string;
}

/** A store whose entries can move to an archive. */
export interface Archivable {
  /**
   * Moves the texts of the log's first entries to the archive that the store was opened with.
   *
   * @throws the errors of `archiveEntries`; StoreError `archive_not_named`
   */
  archiveEntries(options: ArchiveOptions): Promise<ArchiveReport>;
  /** The record of the archive in the database. Undefined if no run has started. */
  archiveState(): Promise<ArchiveState | undefined>;
}

const OPTIONS: ArgumentSchema = arg.members({
  checkpoint: arg.members({ origin: arg.text, size: arg.any, root: arg.bytes }),
  keep: arg.optional(arg.whole),
  before: arg.optional(arg.text),
  level: arg.optional(arg.whole),
  onProgress: arg.optional(arg.code),
  signal: arg.optional(arg.any),
});

export const LEVEL_MAX = 16;

/** The maximum number of attempts for a segment that other processes change meanwhile. */
const ATTEMPTS = 5;

const PAGE = 1_000;

/** One segment, read from the database and checked. */
interface Gathered {
  readonly sealed: readonly SealedFile[];
  readonly letters: readonly string[];
  readonly blobs: SegmentStep['blobs'];
  /** The time of the youngest entry. */
  readonly last: Instant;
}

/**
 * Moves the texts of the log's first entries to files of segments: whole segments below the
 * checkpoint, in the order of the log. A segment leaves the database only when its files are
 * durable and were read back. A run that is interrupted loses nothing, and the next run goes on.
 *
 * @throws StoreError; LedgerFault for an entry that does not verify; ArgumentError `bad_argument`
 */
export async function archiveEntries(
  access: ArchiveAccess,
  options: ArchiveOptions,
): Promise<ArchiveReport> {
  checkArgument(OPTIONS, options, 'options');
  const { store, reads, place } = access;
  const { checkpoint, keep = 0, before, onProgress, signal } = options;
  await requireCheckpoint(store, checkpoint);
  const known = await reads.archive();
  const level = requireLevel(known?.level, options.level);
  await access.writes.discardFiles();
  await removeFiles(access);
  const width = 2 ** level;
  const logged = await store.logSize();
  const limit = Math.min(Number(checkpoint.size), logged - keep);
  const first = known?.segments ?? 0;
  const [firstFile] = first === 0 ? [] : await reads.segmentFiles(0, 1);
  // Segments in two places could not be read: one place is named at a time.
  if (firstFile !== undefined) await access.reader.check(firstFile);
  let [segment, bytes] = [first, 0];
  for (; (segment + 1) * width <= limit; segment++) {
    if (signal?.aborted === true) break;
    const gathered = await archived(access, { segment, level, before, checkpoint });
    if (gathered === undefined) break;
    bytes += gathered;
    onProgress?.((segment + 1) * width, Math.floor(limit / width) * width);
  }
  return {
    moved: (segment - first) * width,
    bytes,
    archived: segment * width,
    logged,
    segment: width,
    archive: place.name,
  };
}

async function requireCheckpoint(
  store: LogStore,
  checkpoint: ArchiveOptions['checkpoint'],
): Promise<void> {
  const fault = comparisonFault(await compareWithHead(store, checkpoint), checkpoint);
  if (fault !== undefined) throw refused(fault);
}

function requireLevel(known: number | undefined, asked: number | undefined): number {
  if (asked !== undefined && (asked > LEVEL_MAX || (known !== undefined && known !== asked))) {
    throw refused(
      known === undefined
        ? `A segment has at most 2^${LEVEL_MAX} entries. Pass a smaller level.`
        : `The archive has segments of 2^${known} entries, and the call asks for 2^${asked}. Leave out the level.`,
    );
  }
  return known ?? asked ?? LEVEL;
}

interface SegmentPlan {
  readonly segment: number;
  readonly level: number;
  readonly before: Instant | undefined;
  readonly checkpoint: ArchiveOptions['checkpoint'];
}

/** The bytes of the segment's files. Undefined if the segment is too young. */
async function archived(access: ArchiveAccess, plan: SegmentPlan): Promise<number | undefined> {
  const { segment, level } = plan;
  for (let attempt = 1; ; attempt++) {
    const { sealed, letters, blobs, last } = await gather(access, plan);
    if (plan.before !== undefined && last >= plan.before) return undefined;
    const files = await writeFiles(access, level, sealed);
    if (
      files !== undefined &&
      (await access.writes.archiveSegment({ segment, files, letters, blobs }))
    )
      return sealed.reduce((sum, { bytes }) => sum + bytes.length, 0);
    await access.writes.discardFiles();
    await removeFiles(access);
    const segments = (await access.reads.archive())?.segments ?? 0;
    if (segments !== segment || attempt === ATTEMPTS) {
      throw new StoreError(
        'wrong_state',
        `Another process archives this store, or erases values of segment ${segment}. Repeat the command when it is done.`,
        { evidence: { segment, segments } },
      );
    }
  }
}

async function gather(
  access: ArchiveAccess,
  { segment, level, checkpoint }: SegmentPlan,
): Promise<Gathered> {
  const width = 2 ** level;
  const rows = await rowsOf(access.store, segment * width, width);
  const entries = rows.map((row) => ({ row, payload: checkRow(row).payload }));
  await requireInCheckpoint(access.store, rows, segment * width, checkpoint);
  const blobs = await blobsOf(
    access,
    entries.map(({ payload }) => payload),
  );
  return {
    sealed: [
      ...sealLines(
        segment,
        'entries',
        rows.map((row) => entryLine(row)),
      ),
      ...sealLines(
        segment,
        'blobs',
        blobs.map((blob) => ('text' in blob ? blobLine(blob) : erasedLine(blob))),
      ),
    ],
    letters: entries.map(({ row, payload }) => lettersOf(row.payload, payload)),
    blobs: blobs.flatMap((blob, line) => ('text' in blob ? [{ hash: blob.hash, line }] : [])),
    last: entries.reduce((last, { payload }) => (payload.at > last ? payload.at : last), ''),
  };
}

async function rowsOf(store: LogStore, from: number, count: number): Promise<EntryRow[]> {
  const rows: EntryRow[] = [];
  while (rows.length < count) {
    const page = await store.logged(from + rows.length, Math.min(PAGE, count - rows.length));
    if (page.length === 0)
      throw refused(
        `The log has lost entries after position ${from + rows.length}. Check the store with assize verify --database.`,
      );
    rows.push(...page);
  }
  return rows;
}

/**
 * The entries are the leaves of a full subtree, and the checkpoint's root commits to it: a proof
 * for its first leaf, with the hashes inside the subtree made from the entries themselves.
 */
async function requireInCheckpoint(
  store: LogStore,
  rows: readonly EntryRow[],
  from: number,
  { size, root }: ArchiveOptions['checkpoint'],
): Promise<void> {
  const leaves = rows.map(({ payload }) => leafHash(payload));
  const own = new Map<string, Uint8Array>();
  for (const { level, index, hash } of new Frontier().append(leaves))
    own.set(`${level} ${from / 2 ** level + index}`, hash);
  const proof = await askNodes(store, (read) =>
    inclusionProof(
      from,
      size,
      (level, index) => own.get(`${level} ${index}`) ?? read(level, index),
    ),
  );
  if (verifyInclusion({ index: from, size, leafHash: leaves[0]!, root }, proof)) return;
  throw refused(
    `The entries from position ${from} of the log on are not those of the checkpoint. Check the store with assize verify --database.`,
  );
}

/**
 * The blobs that the entries name and no earlier segment has, in the order of an export. An erased
 * one has a line too: a reader of the files alone then knows that it is not missing.
 */
async function blobsOf(
  { store, storedBlob }: ArchiveAccess,
  payloads: readonly Payload[],
): Promise<(BlobRow | ErasedRow)[]> {
  const seen = new Set<Hash>();
  const blobs: (BlobRow | ErasedRow)[] = [];
  const take = async (hash: Hash): Promise<string | undefined> => {
    if (seen.has(hash)) return undefined;
    seen.add(hash);
    const text = await storedBlob(hash);
    if (text === undefined) {
      const by = await store.erasedBy(hash);
      if (by !== undefined) blobs.push({ hash, by });
      return undefined;
    }
    // An earlier segment has the blob.
    if (isMarker(text)) return undefined;
    if (hashText(text) !== hash || text.includes('\n'))
      throw refused(
        `The text of the blob ${hash} was changed. Check the store with assize verify --database.`,
      );
    blobs.push({ hash, text });
    return text;
  };
  for (const payload of payloads) {
    for (const hash of referencesOf(payload)) await take(hash);
    for (const id of writsNamedBy(payload)) {
      for (let next: Hash | undefined = id; next !== undefined; ) {
        const text: string | undefined = await take(next);
        next = text === undefined ? undefined : writParent(text);
      }
    }
  }
  return blobs;
}

function refused(message: string): StoreError {
  return new StoreError('wrong_state', message);
}
