import { arg, checkArgument, isInstance } from 'assize/internal/base';
import {
  answersErasedBy,
  type BlobRow,
  type CommitPayload,
  type Entry,
  type EntryRow,
  type ErasedAnswer,
  type ErasedRow,
  type Hash,
  importMark,
  isErasure,
  isFactStore,
  isMarked,
  type LedgerStore,
  loggedErasedBy,
  refersToEffects,
  ValueReader,
  wasImported,
} from 'assize/internal/ledger';
import { ExportError } from './errors.ts';
import { readExport } from './read.ts';

export interface ImportOptions {
  /**
   * Called after every written group, with the number of entries read and of their fact changes.
   */
  readonly onProgress?: (entries: number, beliefs: number) => void;
  /**
   * Deletes values that the store has and the export marks as erased, including oracle answers and
   * texts of the effect log. Set this only for an export that you trust as much as the store,
   * because an export can name any value. Default: the value stays and is counted.
   */
  readonly erase?: boolean;
  /**
   * Called for each exported entry that records effects or erases, and that the store already has
   * without a mark. Returns whether an earlier import without marks wrote the entry; the import
   * then marks it. Default: false for every entry. The runtime's `isForeignEntry` answers from the
   * store's effect log.
   */
  readonly cameBefore?: (entry: Entry) => boolean | Promise<boolean>;
  /**
   * Marks the store's facts as incomplete, together with the first new entries that change facts.
   * Reads and writes of facts then fail with `store_facts_incomplete` until `rebuildMemory` has
   * run, even if the import is interrupted. The old facts are kept until then
   * (`FactStore.keepFacts`). Default: reads return the old facts.
   */
  readonly awaitsFacts?: boolean;
  /**
   * Maximum number of UTF-16 units of all blobs before one entry. They stay in memory. Default
   * 536,870,912; raise it for an export that you trust.
   */
  readonly blobUnitsMax?: number;
}

export interface ImportReport {
  /** Number of entries in the export. */
  readonly entries: number;
  /** Number of entries that the store did not have. */
  readonly imported: number;
  /** Number of existing entries that the import marked because of `cameBefore`. */
  readonly marked: number;
  /**
   * Number of fact changes in all entries. `rebuildMemory` rebuilds the facts from them after an
   * import.
   */
  readonly beliefs: number;
  /**
   * Number of values, oracle answers and effect-log texts that the export marks as erased and the
   * store still has.
   */
  readonly unerased: number;
}

/** The size at which a group of entries is written: the number of entries, or the UTF-16 units. */
export const IMPORT_GROUP = { entries: 500, units: 2 ** 21 } as const;

/**
 * Writes an export into a store. Entries that the store already has at the same position are
 * skipped, so an interrupted import can be repeated. In an empty store the import creates the same
 * log, and an export has the same bytes. The import marks new entries that record effects or
 * erasures, or that pin answers of an oracle log (`wasImported`).
 *
 * @throws ExportError with the failing line in `evidence.line`, after `evidence.entries` entries
 * were imported; StoreError `store_not_scrubbed`; ArgumentError `bad_argument`
 */
export async function importLines(
  store: LedgerStore,
  lines: AsyncIterable<string>,
  options: ImportOptions = {},
): Promise<ImportReport> {
  checkArgument(arg.object, options, 'options');
  checkArgument(arg.members({ blobUnitsMax: arg.optional(arg.whole) }), options, 'options');
  const { onProgress, erase = false, cameBefore = () => false, awaitsFacts = false } = options;
  let entries = 0;
  let imported = 0;
  let marked = 0;
  let beliefs = 0;
  let unerased = 0;
  let written = 0;
  const awaits = awaitsFacts && isFactStore(store);
  let group = new Group(awaits);
  const flush = async (): Promise<void> => {
    const done = await group.write(store, erase, cameBefore);
    written = entries;
    imported += done.imported;
    marked += done.marked;
    unerased += done.unerased;
    group = new Group(awaits);
    onProgress?.(entries, beliefs);
  };
  try {
    for await (const { row, entry, blobs, erased } of readExport(lines, options.blobUnitsMax)) {
      const changes = entry.payload.kind === 'commit' ? entry.payload.delta.beliefs.length : 0;
      group.add(row, blobs, erased, changes > 0);
      if (isMarked(entry.payload)) group.mark(entry);
      if (isErasure(entry.payload)) group.erasures.push(entry as Entry<CommitPayload>);
      entries++;
      beliefs += changes;
      if (group.isFull) await flush();
    }
    await flush();
  } catch (error) {
    throw isInstance(error, ExportError) ? withWritten(error, written) : error;
  }
  await store.scrub?.();
  return { entries, imported, marked, beliefs, unerased };
}

class Group {
  readonly #rows: EntryRow[] = [];
  readonly #blobs: BlobRow[] = [];
  /** Marks by entry id. */
  readonly #marks: Map<Hash, { readonly entry: Entry; readonly mark: BlobRow }> = new Map();
  readonly #erased: ErasedRow[] = [];
  /**
   * Entries that erase. They name values that no export has: oracle answers and texts of the effect
   * log.
   */
  readonly erasures: Entry<CommitPayload>[] = [];
  /** Entries that change facts, if the facts await a rebuild. */
  readonly #believing = new Set<Hash>();
  readonly #awaitsFacts: boolean;
  #units = 0;

  constructor(awaitsFacts: boolean) {
    this.#awaitsFacts = awaitsFacts;
  }

  get isFull(): boolean {
    return this.#rows.length >= IMPORT_GROUP.entries || this.#units >= IMPORT_GROUP.units;
  }

  add(
    row: EntryRow,
    blobs: readonly BlobRow[],
    erased: readonly ErasedRow[],
    believes: boolean,
  ): void {
    this.#rows.push(row);
    if (believes && this.#awaitsFacts) this.#believing.add(row.id);
    this.#erased.push(...erased);
    this.#blobs.push(...blobs);
    this.#units += row.payload.length + blobs.reduce((sum, { text }) => sum + text.length, 0);
  }

  /** The mark is written in the same batch as the entry. */
  mark(entry: Entry): void {
    this.#marks.set(entry.id, { entry, mark: importMark(entry.id) });
  }

  /** Erasures run last, so an entry that cannot be written leaves the store unchanged. */
  async write(
    store: LedgerStore,
    erase: boolean,
    cameBefore: NonNullable<ImportOptions['cameBefore']>,
  ): Promise<Pick<ImportReport, 'imported' | 'marked' | 'unerased'>> {
    if (this.#rows.length === 0) return { imported: 0, marked: 0, unerased: 0 };
    const { imported, there: before } = await this.#writeEntries(store);
    const marked = await this.#markBefore(store, before, cameBefore);
    const there = new Set<ErasedRow>();
    const gone = [...this.#erased, ...(await this.#logged(store))];
    if (!erase)
      for (const row of gone) if ((await store.blob(row.hash)) !== undefined) there.add(row);
    const erased = gone.filter((row) => !there.has(row));
    const { erasedAnswers, unerased } = await this.#answers(store, erase);
    if (erased.length + erasedAnswers.length > 0) {
      const done = await store.commit({
        entries: [],
        blobs: [],
        erased,
        ...(erasedAnswers.length > 0 && { erasedAnswers }),
      });
      if (done.status === 'unknown') throw unknown(done.cause);
    }
    return { imported, marked, unerased: there.size + unerased };
  }

  /** Number of existing entries that were marked. */
  async #markBefore(
    store: LedgerStore,
    before: readonly EntryRow[],
    cameBefore: NonNullable<ImportOptions['cameBefore']>,
  ): Promise<number> {
    const blobs: BlobRow[] = [];
    for (const { id } of before) {
      const found = this.#marks.get(id);
      if (found === undefined || !refersToEffects(found.entry.payload)) continue;
      if (await wasImported(store, id)) continue;
      if (await cameBefore(found.entry)) blobs.push(found.mark);
    }
    if (blobs.length === 0) return 0;
    const done = await store.commit({ entries: [], blobs });
    if (done.status === 'unknown') throw unknown(done.cause);
    return blobs.length;
  }

  /**
   * Texts that only the effect log names. No line has them, and another store has them only if it
   * is a copy.
   */
  async #logged(store: LedgerStore): Promise<readonly ErasedRow[]> {
    const rows: ErasedRow[] = [];
    for (const entry of this.erasures) {
      const args = await new ValueReader(store).erasure(entry, entry.payload);
      if (args !== undefined)
        rows.push(...loggedErasedBy(args).map(({ hash }) => ({ hash, by: entry.id })));
    }
    return rows;
  }

  /**
   * For a store with an oracle log: the answers to erase, and the number of answers that stay.
   * Missing answers are marked only for a trusted export, because a key reveals nothing about its
   * question. Such a key could belong to a future answer.
   */
  async #answers(
    store: LedgerStore,
    erase: boolean,
  ): Promise<{ readonly erasedAnswers: readonly ErasedAnswer[]; readonly unerased: number }> {
    const erasedAnswers: ErasedAnswer[] = [];
    let unerased = 0;
    if (!hasOracleLog(store)) return { erasedAnswers, unerased };
    for (const entry of this.erasures) {
      const args = await new ValueReader(store).erasure(entry, entry.payload);
      for (const key of args === undefined ? [] : answersErasedBy(args)) {
        if (erase) {
          erasedAnswers.push({ key, by: entry.id });
          continue;
        }
        const row = await store.oracleGet(key);
        if (row !== undefined && row.erased_by === undefined) unerased++;
      }
    }
    return { erasedAnswers, unerased };
  }

  /** The number of new entries, and the existing entries. */
  async #writeEntries(
    store: LedgerStore,
  ): Promise<{ readonly imported: number; readonly there: readonly EntryRow[] }> {
    const marks = [...this.#marks.values()].map(({ mark }) => mark);
    const awaitsFacts = this.#believing.size > 0;
    const done = await store.commit({
      entries: this.#rows,
      blobs: [...this.#blobs, ...marks],
      ...(awaitsFacts && { awaitsFacts }),
    });
    if (done.status === 'committed') return { imported: this.#rows.length, there: [] };
    if (done.status === 'unknown') throw unknown(done.cause);
    // The store has some of the entries, or has others. The import continues one entry at a time.
    const kept = await store.commit({ entries: [], blobs: this.#blobs });
    if (kept.status === 'unknown') throw unknown(kept.cause);
    const there: EntryRow[] = [];
    for (const row of this.#rows)
      if (!(await writeOne(store, row, this.#marks.get(row.id)?.mark, this.#believing.has(row.id))))
        there.push(row);
    return { imported: this.#rows.length - there.length, there };
  }
}

function withWritten(
  { code, message, evidence, retryable, cause }: ExportError,
  entries: number,
): ExportError {
  return new ExportError(code, message, { evidence: { ...evidence, entries }, retryable, cause });
}

interface OracleLog {
  oracleGet(key: Hash): Promise<{ readonly erased_by?: string } | undefined>;
}

function hasOracleLog(store: LedgerStore): store is LedgerStore & OracleLog {
  return typeof (store as Partial<OracleLog>).oracleGet === 'function';
}

async function writeOne(
  store: LedgerStore,
  row: EntryRow,
  mark: BlobRow | undefined,
  awaitsFacts: boolean,
): Promise<boolean> {
  if ((await store.resolve(row.id)) !== undefined) return false;
  const blobs = mark === undefined ? [] : [mark];
  const done = await store.commit({ entries: [row], blobs, ...(awaitsFacts && { awaitsFacts }) });
  if (done.status === 'committed') return true;
  if (done.status === 'unknown') throw unknown(done.cause);
  // Another import of the same export may have committed first.
  if ((await store.resolve(row.id)) !== undefined) return false;
  throw new ExportError(
    'wrong_state',
    `The store has another entry at ${row.trajectory_id} seq ${row.seq}, or lacks the entry before it. Import into a separate store.`,
    { evidence: { trajectory_id: row.trajectory_id, seq: row.seq } },
  );
}

function unknown(cause: unknown): ExportError {
  return new ExportError(
    'commit_unknown',
    'The store did not confirm whether it has a group of entries. Import again.',
    {
      cause,
      retryable: true,
    },
  );
}
