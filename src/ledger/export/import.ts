import { form, requireForm } from '#base';
import type { BlobRow, ErasedAnswer, ErasedRow } from '../entry/blob-row.ts';
import type { CommitPayload, Entry, EntryRow } from '../entry/entry.ts';
import { answersErasedBy, isErasure, loggedErasedBy } from '../entry/erasure.ts';
import type { Hash } from '../entry/hash.ts';
import { isFactStore } from '../ports/fact-store.ts';
import type { LedgerStore } from '../ports/ledger-store.ts';
import { Values } from '../replay/values.ts';
import { ExportError } from './errors.ts';
import { importMark, isMarked, wasImported } from './imported.ts';
import { readExport } from './read.ts';

export interface ImportOptions {
  /** Called after every group that was written, with the entries read, and with the changes of beliefs in them. */
  readonly onProgress?: (entries: number, beliefs: number) => void;
  /**
   * Deletes texts that the store has and the export says to be erased, also answers of its oracle log and what its effect log names. Only for an export that you trust as you trust the
   * store: whoever made it could name any value. Default: such a text stays, and is counted.
   */
  readonly erase?: boolean;
  /**
   * Asked about each entry of the export that tells of effects, or erases, and is in the store already without a mark: whether it came by an import
   * before, which then left none. Such an entry is marked. Default: none did. `madeElsewhere` of the runtime answers by the store's effect log.
   */
  readonly cameBefore?: (entry: Entry) => boolean | Promise<boolean>;
  /**
   * Marks the facts of the store as incomplete, with the first new entries that say what is believed: until `rebuildMemory` has made them, also
   * where the import is cut off, who asks for facts or says something is told so (`store_facts_incomplete`). Those that there were are kept
   * until then (`FactStore.keepFacts`). Default: whoever asks finds what there was.
   */
  readonly awaitsFacts?: boolean;
}

export interface ImportReport {
  /** Entries of the export. */
  readonly entries: number;
  /** Those that the store did not have. */
  readonly imported: number;
  /** Those that the store had, and that are marked from now on as `cameBefore` says. */
  readonly marked: number;
  /** Changes of beliefs in all of its entries: what the facts of a store are made anew from after an import (`rebuildMemory`). */
  readonly beliefs: number;
  /** Values, answers of the oracle log and texts of the effect log, that the export says to be erased, and that the store has all the same. */
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
    for await (const { row, entry, blobs, erased } of readExport(lines)) {
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
    throw error instanceof ExportError && written > 0 ? cutOff(error, written) : error;
  }
  await store.scrub?.();
  return { entries, imported, marked, beliefs, unerased };
}

class Group {
  readonly #rows: EntryRow[] = [];
  readonly #blobs: BlobRow[] = [];
  /** By entry. */
  readonly #marks: Map<Hash, { readonly entry: Entry; readonly mark: BlobRow }> = new Map();
  readonly #erased: ErasedRow[] = [];
  /** Entries that erase: they name what no export has, answers of the oracle log and texts of the effect log. */
  readonly erasures: Entry<CommitPayload>[] = [];
  /** Entries that say what is believed, where facts are awaited. */
  readonly #believing = new Set<Hash>();
  readonly #awaitsFacts: boolean;
  #units = 0;

  constructor(awaitsFacts: boolean) {
    this.#awaitsFacts = awaitsFacts;
  }

  get isFull(): boolean {
    return this.#rows.length >= GROUP_ENTRIES || this.#units >= GROUP_UNITS;
  }

  add(row: EntryRow, blobs: readonly BlobRow[], erased: readonly ErasedRow[], believes: boolean): void {
    this.#rows.push(row);
    if (believes && this.#awaitsFacts) this.#believing.add(row.id);
    this.#erased.push(...erased);
    this.#blobs.push(...blobs);
    this.#units += row.payload.length + blobs.reduce((sum, { text }) => sum + text.length, 0);
  }

  /** That the entry was imported stands with it, or neither is there. */
  mark(entry: Entry): void {
    this.#marks.set(entry.id, { entry, mark: importMark(entry.id) });
  }

  /** What is erased goes last: an entry that can't be written leaves everything as it was. */
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
    if (!erase) for (const row of gone) if ((await store.blob(row.hash)) !== undefined) there.add(row);
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

  /** How many were marked of those that were there. */
  async #markBefore(
    store: LedgerStore,
    before: readonly EntryRow[],
    cameBefore: NonNullable<ImportOptions['cameBefore']>,
  ): Promise<number> {
    const blobs: BlobRow[] = [];
    for (const { id } of before) {
      const found = this.#marks.get(id);
      if (found === undefined || (await wasImported(store, id))) continue;
      if (await cameBefore(found.entry)) blobs.push(found.mark);
    }
    if (blobs.length === 0) return 0;
    const done = await store.commit({ entries: [], blobs });
    if (done.status === 'unknown') throw unknown(done.cause);
    return blobs.length;
  }

  /** What no line has: texts that only the effect log names. Another store has them where it is a copy of that one. */
  async #logged(store: LedgerStore): Promise<readonly ErasedRow[]> {
    const rows: ErasedRow[] = [];
    for (const entry of this.erasures) {
      const args = await new Values(store).erasure(entry, entry.payload);
      if (args !== undefined) rows.push(...loggedErasedBy(args).map(({ hash }) => ({ hash, by: entry.id })));
    }
    return rows;
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

  /** How many of them were new, and which were there. */
  async #writeEntries(store: LedgerStore): Promise<{ readonly imported: number; readonly there: readonly EntryRow[] }> {
    const marks = [...this.#marks.values()].map(({ mark }) => mark);
    const awaitsFacts = this.#believing.size > 0;
    const done = await store.commit({
      entries: this.#rows,
      blobs: [...this.#blobs, ...marks],
      ...(awaitsFacts && { awaitsFacts }),
    });
    if (done.status === 'committed') return { imported: this.#rows.length, there: [] };
    if (done.status === 'unknown') throw unknown(done.cause);
    // Some of it is there, or something else is: then one by one.
    const kept = await store.commit({ entries: [], blobs: this.#blobs });
    if (kept.status === 'unknown') throw unknown(kept.cause);
    const there: EntryRow[] = [];
    for (const row of this.#rows)
      if (!(await writeOne(store, row, this.#marks.get(row.id)?.mark, this.#believing.has(row.id)))) there.push(row);
    return { imported: this.#rows.length - there.length, there };
  }
}

function cutOff({ code, message, evidence, retryable, cause }: ExportError, entries: number): ExportError {
  const more = `The ${entries} entries before were imported; import what is right, which goes on behind them.`;
  return new ExportError(code, `${message} ${more}`, { evidence: { ...evidence, entries }, retryable, cause });
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
  // Another import of the same may have been faster.
  if ((await store.resolve(row.id)) !== undefined) return false;
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
