import {
  checkRow,
  type EntryRow,
  erasableHashesOf,
  type Hash,
  LedgerFault,
  type LedgerStore,
  type LogStore,
  referencesOf,
  writParent,
  writsNamedBy,
} from 'assize/internal/ledger';
import { RuntimeError } from 'assize/internal/runtime';
import {
  BUNDLE_BYTES_MAX,
  BUNDLE_ENTRIES_MAX,
  type BundledEntry,
  type BundledValue,
} from './form.ts';
import { mayRelate, Relations } from './relations.ts';
import { type BundleScope, isSearched, writOf } from './scope.ts';
import { coveredEntries, pagesOf, searched } from './search.ts';
import { Turns } from './turns.ts';
import { writChain, writsIn } from './writs.ts';

/** The content of a bundle: entries in the order of the log, and the values that they refer to. */
export interface Selected {
  readonly entries: readonly BundledEntry[];
  readonly inScope: readonly Hash[];
  readonly values: ReadonlyMap<Hash, BundledValue>;
}

type BundleStore = LedgerStore & LogStore;

/**
 * Selects the entries in scope, and their context, of the first `size` entries of the log.
 *
 * @throws RuntimeError `not_found`, `not_checkpointed`, `too_large`; LedgerFault for an entry or a
 * value that is not valid
 */
export async function selectEntries(
  store: BundleStore,
  scope: BundleScope,
  size: number,
  signal?: AbortSignal,
): Promise<Selected> {
  const selection = new Selection(store, size, new Turns(signal));
  const inScope = new Set<Hash>();
  for await (const row of scoped(store, scope, signal)) {
    inScope.add(row.id);
    await selection.add(row);
  }
  if (inScope.size === 0)
    throw new RuntimeError('not_found', 'No entry is in scope. Widen the scope of the bundle.');
  await selection.close();
  const entries = selection.inOrder();
  return {
    entries,
    inScope: entries.map(({ id }) => id).filter((id) => inScope.has(id)),
    values: selection.values,
  };
}

async function* scoped(
  store: BundleStore,
  scope: BundleScope,
  signal: AbortSignal | undefined,
): AsyncGenerator<EntryRow> {
  if (isSearched(scope)) {
    yield* searched(store, scope, signal);
    return;
  }
  const id = scope.kind === 'entry' ? scope.entry : scope.approval;
  const row = await store.resolve(id);
  if (row === undefined)
    throw new RuntimeError(
      'not_found',
      `The store has no entry ${id}. Check the id with assize log.`,
      {
        evidence: { id },
      },
    );
  if (scope.kind === 'approval' && row.kind !== 'pending_approval')
    throw new RuntimeError(
      'not_found',
      `${id} is not a pending entry. Pass the id that the ruling returned.`,
      {
        evidence: { id },
      },
    );
  yield row;
}

class Selection {
  readonly values: Map<Hash, BundledValue> = new Map();
  readonly #entries: Map<Hash, BundledEntry> = new Map();
  /** Entries whose context is not selected yet. */
  readonly #waiting: BundledEntry[] = [];
  readonly #relations: Map<string, Promise<Relations>> = new Map();
  readonly #firsts: Map<string, EntryRow> = new Map();
  readonly #store: BundleStore;
  readonly #size: number;
  readonly #turns: Turns;
  #units = 0;

  constructor(store: BundleStore, size: number, turns: Turns) {
    this.#store = store;
    this.#size = size;
    this.#turns = turns;
  }

  /** Adds an entry with the values that it needs. */
  async add(row: EntryRow): Promise<void> {
    if (this.#entries.has(row.id)) return;
    await this.#turns.step();
    if (this.#entries.size === BUNDLE_ENTRIES_MAX)
      throw tooLarge(`more than ${BUNDLE_ENTRIES_MAX} entries`);
    const { payload } = checkRow(row);
    const index = await this.#store.logIndex(row.id);
    if (index === undefined || index >= this.#size) throw notCovered(row.id, this.#size);
    const entry = { id: row.id, index, text: row.payload, payload };
    this.#entries.set(row.id, entry);
    this.#waiting.push(entry);
    this.#count(row.payload);
    await this.#addValues(row, entry);
  }

  /** Adds the context of all entries, and of the entries that this adds. */
  async close(): Promise<void> {
    for (let entry = this.#waiting.pop(); entry !== undefined; entry = this.#waiting.pop()) {
      for (const id of [...(await this.#contextOf(entry)), ...this.#erasersOf(entry)]) {
        if (this.#entries.has(id)) continue;
        const row = await this.#store.resolve(id);
        if (row === undefined) throw missing(entry, id);
        await this.add(row);
      }
    }
  }

  inOrder(): BundledEntry[] {
    return [...this.#entries.values()].sort((a, b) => a.index - b.index);
  }

  async #contextOf(entry: BundledEntry): Promise<Hash[]> {
    const { trajectory_id } = entry.payload;
    let relations = this.#relations.get(trajectory_id);
    if (relations === undefined) {
      relations = this.#relate(trajectory_id);
      this.#relations.set(trajectory_id, relations);
    }
    const known = await relations;
    return known.contextOf(entry, known.hasRevocations ? this.#writsOf(entry) : []);
  }

  /** Reads the whole trajectory, and keeps the relations of its entries alone. */
  async #relate(trajectoryId: string): Promise<Relations> {
    const [first] = await this.#store.entries(trajectoryId, { limit: 1 });
    if (first === undefined)
      throw new RuntimeError('not_found', `The store has no trajectory ${trajectoryId}.`);
    this.#firsts.set(trajectoryId, first);
    const relations = new Relations(first.id);
    const covered = await coveredEntries(this.#store, trajectoryId, this.#size);
    for await (const rows of pagesOf(this.#store, trajectoryId, 1, covered))
      for (const row of rows)
        if (mayRelate(row.kind, row.payload))
          relations.add({ id: row.id, payload: checkRow(row).payload });
    return relations;
  }

  /** The writ of an entry, if it counts as one of the entry's own, and its ancestors. */
  #writsOf({ payload }: BundledEntry): Hash[] {
    const id = payload.kind === 'rejection' ? undefined : writOf(payload);
    if (id === undefined) return [];
    const own = writsIn(checkRow(this.#firsts.get(payload.trajectory_id) as EntryRow).payload);
    return writChain(id, own, (hash) => this.#textOf(hash)).chain.map((writ) => writ.id);
  }

  #textOf(hash: Hash): string | undefined {
    const value = this.values.get(hash);
    return value !== undefined && 'text' in value ? value.text : undefined;
  }

  #erasersOf({ payload }: BundledEntry): Hash[] {
    return referencesOf(payload).flatMap((hash) => {
      const value = this.values.get(hash);
      return value !== undefined && 'by' in value ? [value.by] : [];
    });
  }

  async #addValues(row: EntryRow, { payload }: BundledEntry): Promise<void> {
    const erasable = new Set(erasableHashesOf(payload));
    for (const hash of referencesOf(payload))
      if (!this.values.has(hash))
        this.values.set(hash, await this.#value(row, hash, erasable.has(hash)));
    for (const id of writsNamedBy(payload)) await this.#addWrits(id);
  }

  async #value(row: EntryRow, hash: Hash, isErasable: boolean): Promise<BundledValue> {
    const text = await this.#store.blob(hash);
    if (text !== undefined) {
      this.#count(text);
      return { text };
    }
    const by = isErasable ? await this.#store.erasedBy(hash) : undefined;
    if (by !== undefined) return { by };
    const { trajectory_id, seq } = row;
    throw new LedgerFault({
      trajectory_id,
      seq,
      code: 'blob_missing',
      detail: `the blob ${hash} is missing`,
    });
  }

  async #addWrits(id: Hash): Promise<void> {
    for (let next: Hash | undefined = id; next !== undefined && !this.values.has(next); ) {
      const text = await this.#store.blob(next);
      if (text === undefined) return;
      this.#count(text);
      this.values.set(next, { text });
      next = writParent(text);
    }
  }

  #count(text: string): void {
    this.#units += text.length;
    if (this.#units > BUNDLE_BYTES_MAX) throw tooLarge(`more than ${BUNDLE_BYTES_MAX} bytes`);
  }
}

export function tooLarge(what: string): RuntimeError {
  return new RuntimeError(
    'too_large',
    `The bundle would have ${what}. Narrow its scope to a shorter period, or to one trajectory.`,
    { evidence: { entries_max: BUNDLE_ENTRIES_MAX, bytes_max: BUNDLE_BYTES_MAX } },
  );
}

function notCovered(id: Hash, size: number): RuntimeError {
  return new RuntimeError(
    'not_checkpointed',
    `The checkpoint of ${size} entries does not cover ${id}. Make a new checkpoint and use it for the bundle.`,
    { evidence: { id, checkpoint: size } },
  );
}

function missing({ payload: { trajectory_id, seq } }: BundledEntry, id: Hash): LedgerFault {
  return new LedgerFault({
    trajectory_id,
    seq,
    code: 'source_missing',
    detail: `it refers to the entry ${id}`,
  });
}
