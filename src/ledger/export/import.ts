import type { EntryRow } from '../entry.ts';
import type { BlobRow, ErasedRow, LedgerStore } from '../store.ts';
import { ExportError } from './errors.ts';
import { readExport } from './read.ts';

export interface ImportOptions {
  /** Called after every group that was written, with the entries read. */
  readonly onProgress?: (entries: number) => void;
}

export interface ImportReport {
  /** Entries of the export. */
  readonly entries: number;
  /** Those that the store did not have. */
  readonly imported: number;
}

const GROUP_ENTRIES = 500;
const GROUP_UNITS = 2 ** 21;

/**
 * Writes an export into a store. What the store has already, the same entry at the same place, is passed over, so that an
 * import that was cut off can be made again. Into an empty store, it makes the same log: an export of it has the same bytes.
 *
 * @throws ExportError; what stands before the wrong line is imported by then, and it says so
 */
export async function importLines(
  store: LedgerStore,
  lines: AsyncIterable<string>,
  { onProgress }: ImportOptions = {},
): Promise<ImportReport> {
  let entries = 0;
  let imported = 0;
  let group = new Group();
  const flush = async (): Promise<void> => {
    imported += await group.write(store);
    group = new Group();
    onProgress?.(entries);
  };
  for await (const { row, blobs, erased } of readExport(lines)) {
    group.add(row, blobs, erased);
    entries++;
    if (group.isFull) await flush();
  }
  await flush();
  return { entries, imported };
}

class Group {
  readonly #rows: EntryRow[] = [];
  readonly #blobs: BlobRow[] = [];
  readonly #erased: ErasedRow[] = [];
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

  /** How many of its entries were new. */
  async write(store: LedgerStore): Promise<number> {
    if (this.#rows.length === 0) return 0;
    const done = await store.commit({ entries: this.#rows, blobs: this.#blobs, erased: this.#erased });
    if (done.status === 'committed') return this.#rows.length;
    if (done.status === 'unknown') throw unknown(done.cause);
    // Some of it is there, or something else is: then one by one.
    await store.commit({ entries: [], blobs: this.#blobs, erased: this.#erased });
    let written = 0;
    for (const row of this.#rows) if (await writeOne(store, row)) written++;
    return written;
  }
}

async function writeOne(store: LedgerStore, row: EntryRow): Promise<boolean> {
  if ((await store.resolve(row.id)) !== undefined) return false;
  const done = await store.commit({ entries: [row], blobs: [] });
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
