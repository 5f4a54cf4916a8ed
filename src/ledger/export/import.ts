import { form, requireForm } from '#canon';
import type { CommitPayload, Entry, EntryRow, Hash } from '../entry.ts';
import { answersErasedBy, isErasure } from '../erasure.ts';
import type { BlobRow, ErasedAnswer, ErasedRow, LedgerStore } from '../store.ts';
import { Values } from '../values.ts';
import { ExportError } from './errors.ts';
import { importMark, isMarked } from './imported.ts';
import { readExport } from './read.ts';

export interface ImportOptions {
  /** Called after every group that was written, with the entries read. */
  readonly onProgress?: (entries: number) => void;
  /**
   * Deletes texts that the store has and the export says to be erased, also answers of its oracle log. Only for an export that you trust as you trust the
   * store: whoever made it could name any value. Default: such a text stays, and is counted.
   */
  readonly erase?: boolean;
}

export interface ImportReport {
  /** Entries of the export. */
  readonly entries: number;
  /** Those that the store did not have. */
  readonly imported: number;
  /** Changes of beliefs in all of its entries: what the facts of a store are made anew from after an import (`rebuildMemory`). */
  readonly beliefs: number;
  /** Values, and answers of the oracle log, that the export says to be erased, and that the store has all the same. */
  readonly unerased: number;
}

const GROUP_ENTRIES = 500;
const GROUP_UNITS = 2 ** 21;

/**
 * Writes an export into a store. What the store has already, the same entry at the same place, is passed over, so that an
 * import that was cut off can be made again. Into an empty store, it makes the same log: an export of it has the same bytes. Of what is new, those
 * entries are marked that tell of effects (`wasImported`).
 *
 * @throws ExportError; StoreError `store_not_scrubbed`; what stands before the wrong line is imported by then, and it says so; ArgumentError `bad_argument`
 */
export async function importLines(
  store: LedgerStore,
  lines: AsyncIterable<string>,
  options: ImportOptions = {},
): Promise<ImportReport> {
  requireForm(form.object, options, 'options');
  const { onProgress, erase = false } = options;
  let entries = 0;
  let imported = 0;
  let beliefs = 0;
  let unerased = 0;
  let group = new Group();
  const flush = async (): Promise<void> => {
    const done = await group.write(store, erase);
    imported += done.imported;
    unerased += done.unerased;
    group = new Group();
    onProgress?.(entries);
  };
  for await (const { row, entry, blobs, erased } of readExport(lines)) {
    group.add(row, blobs, erased);
    if (isMarked(entry.payload)) group.mark(row);
    if (isErasure(entry.payload)) group.erasures.push(entry as Entry<CommitPayload>);
    entries++;
    if (entry.payload.kind === 'commit') beliefs += entry.payload.delta.beliefs.length;
    if (group.isFull) await flush();
  }
  await flush();
  await store.scrub?.();
  return { entries, imported, beliefs, unerased };
}

class Group {
  readonly #rows: EntryRow[] = [];
  readonly #blobs: BlobRow[] = [];
  /** By entry. */
  readonly #marks: Map<Hash, BlobRow> = new Map();
  readonly #erased: ErasedRow[] = [];
  /** Entries that erase: they name answers of the oracle log, which is not exported. */
  readonly erasures: Entry<CommitPayload>[] = [];
  #units = 0;

  get isFull(): boolean {
    return this.#rows.length >= GROUP_ENTRIES || this.#units >= GROUP_UNITS;
  }

  add(row: EntryRow, blobs: readonly BlobRow[], erased: readonly ErasedRow[]): void {
    this.#rows.push(row);
    this.#erased.push(...erased);
    this.#blobs.push(...blobs);
    this.#units += row.payload.length + blobs.reduce((sum, { text }) => sum + text.length, 0);
  }

  /** That the entry was imported stands with it, or neither is there. */
  mark({ id }: EntryRow): void {
    this.#marks.set(id, importMark(id));
  }

  /** What is erased goes last: an entry that can't be written leaves everything as it was. */
  async write(store: LedgerStore, erase: boolean): Promise<Pick<ImportReport, 'imported' | 'unerased'>> {
    if (this.#rows.length === 0) return { imported: 0, unerased: 0 };
    const imported = await this.#writeEntries(store);
    const there: ErasedRow[] = [];
    if (!erase) for (const row of this.#erased) if ((await store.blob(row.hash)) !== undefined) there.push(row);
    const erased = this.#erased.filter((row) => !there.includes(row));
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
    return { imported, unerased: there.length + unerased };
  }

  /**
   * Of a store that has an oracle log: what is to be erased there, and how much that is to be is there all the same. What is not there is
   * marked only for who trusts the export: a key says nothing of what it is of, and could be one that is to be answered yet.
   */
  async #answers(
    store: LedgerStore,
    erase: boolean,
  ): Promise<{ readonly erasedAnswers: readonly ErasedAnswer[]; readonly unerased: number }> {
    const erasedAnswers: ErasedAnswer[] = [];
    let unerased = 0;
    if (!hasOracleLog(store)) return { erasedAnswers, unerased };
    for (const entry of this.erasures) {
      const args = await new Values(store).erasure(entry, entry.payload);
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

  /** How many of them were new. */
  async #writeEntries(store: LedgerStore): Promise<number> {
    const done = await store.commit({ entries: this.#rows, blobs: [...this.#blobs, ...this.#marks.values()] });
    if (done.status === 'committed') return this.#rows.length;
    if (done.status === 'unknown') throw unknown(done.cause);
    // Some of it is there, or something else is: then one by one.
    await store.commit({ entries: [], blobs: this.#blobs });
    let written = 0;
    for (const row of this.#rows) if (await writeOne(store, row, this.#marks.get(row.id))) written++;
    return written;
  }
}

interface OracleLog {
  oracleGet(key: Hash): Promise<{ readonly erased_by?: string } | undefined>;
}

function hasOracleLog(store: LedgerStore): store is LedgerStore & OracleLog {
  return typeof (store as Partial<OracleLog>).oracleGet === 'function';
}

async function writeOne(store: LedgerStore, row: EntryRow, mark: BlobRow | undefined): Promise<boolean> {
  if ((await store.resolve(row.id)) !== undefined) return false;
  const done = await store.commit({ entries: [row], blobs: mark === undefined ? [] : [mark] });
  if (done.status === 'committed') return true;
  if (done.status === 'unknown') throw unknown(done.cause);
  throw new ExportError(
    'import_conflict',
    `The store has another entry at ${row.trajectory_id} seq ${row.seq}, or none before it; import into a store of its own.`,
    { evidence: { trajectory_id: row.trajectory_id, seq: row.seq } },
  );
}

function unknown(cause: unknown): ExportError {
  return new ExportError(
    'import_unknown',
    'The store could not tell whether it has a group of entries; import again.',
    {
      cause,
      retryable: true,
    },
  );
}
