import { GenerationalMap } from 'assize/internal/base';
import type { EntryRow, LogStore, SideStore } from 'assize/internal/ledger';
import { SealedRows } from 'assize/internal/stores';
import { type EntryFacts, FactReader } from './entry-facts.ts';

/** Entries of a block. */
export const BLOCK = 256;

/** Another form of the rows has another number, and the rows of earlier forms are left. */
const KINDS = { heads: 'activity-heads.2', facts: 'activity.2' } as const;

/** The times and names of a block, by which a search skips it. */
export interface Head {
  /** The first and the last time of an entry. */
  readonly from: string;
  readonly to: string;
  /** The names of all entries, each once. Absent: the facts are too long for a row. */
  readonly names?: readonly string[];
}

/** Of each entry: its time, and the places of its names in the head. */
interface Rows {
  readonly facts: readonly (readonly [at: string, ...names: number[]])[];
}

/** The facts of entries by block, and those of other entries. */
export interface Facts {
  /** The head of a block, if it is stored. */
  readonly head: (block: number) => Promise<Head | undefined>;
  /** The stored facts of a block, in the order of their entries. */
  readonly stored: (block: number) => Promise<readonly EntryFacts[] | undefined>;
  /** The facts of entries, from the entries themselves. */
  readonly read: (rows: readonly EntryRow[]) => Promise<readonly EntryFacts[]>;
}

type Store = ConstructorParameters<typeof FactReader>[0] & LogStore & SideStore;

/**
 * The facts of the entries of a log, in blocks of 256 by position. A whole block is stored beside
 * the ledger, sealed by the server. It is derived from entries that never change, so a missing or
 * changed row is made again, by any process. The entries after the last whole block are read.
 */
export class Blocks implements Facts {
  readonly #store: Store;
  /** Of entries that are read again: those after the last whole block. */
  readonly #read: GenerationalMap<string, EntryFacts> = new GenerationalMap(BLOCK);
  readonly #heads: SealedRows<Head>;
  readonly #rows: SealedRows<Rows>;
  /** The known heads, by the number of the block. They never change. */
  readonly #known: Map<number, Head> = new Map();
  #loaded: Promise<void> | undefined;

  constructor(store: Store, secret: Uint8Array) {
    this.#store = store;
    this.#heads = new SealedRows(store, KINDS.heads, secret);
    this.#rows = new SealedRows(store, KINDS.facts, secret);
  }

  async head(block: number): Promise<Head | undefined> {
    await this.#load();
    return this.#known.get(block);
  }

  async stored(block: number): Promise<readonly EntryFacts[] | undefined> {
    const names = (await this.head(block))?.names;
    if (names === undefined) return undefined;
    const row = await this.#rows.get(keyOf(block));
    // The row was deleted. The block is stored again.
    if (row === undefined) this.#known.delete(block);
    return row?.value.facts.map(([at, ...places]) => ({
      at,
      names: places.map((place) => names[place] as string),
    }));
  }

  read(rows: readonly EntryRow[]): Promise<readonly EntryFacts[]> {
    return new FactReader(this.#store).readAll(rows, this.#read);
  }

  /** Stores the blocks that are missing, the newest first. `size`: of the log. */
  async store(size: number, signal: AbortSignal): Promise<void> {
    await this.#load();
    for (let block = Math.floor(size / BLOCK) - 1; block >= 0; block--) {
      if (signal.aborted) return;
      if (!this.#known.has(block)) await this.#storeOne(block);
    }
  }

  async #storeOne(block: number): Promise<void> {
    const key = keyOf(block);
    const there = (await this.#heads.get(key))?.value;
    if (there !== undefined && (!there.names || (await this.#rows.get(key)))) {
      this.#known.set(block, there);
      return;
    }
    const facts = await this.read(await this.#store.logged(block * BLOCK, BLOCK));
    const names = [...new Set(facts.flatMap((one) => one.names))];
    const places = new Map(names.map((name, place) => [name, place]));
    const listed = facts.map(
      ({ at, names }) => [at, ...names.map((name) => places.get(name) as number)] as const,
    );
    const times = facts.map(({ at }) => at).sort();
    const span = { from: times[0] as string, to: times.at(-1) as string };
    const isShort = Buffer.byteLength(JSON.stringify([names, listed])) < BYTES_MAX;
    const head: Head = isShort ? { ...span, names } : span;
    // The head is last: what has a head has its facts.
    if (isShort) await written(this.#rows, key, { facts: listed });
    await written(this.#heads, key, head);
    this.#known.set(block, head);
  }

  #load(): Promise<void> {
    this.#loaded ??= (async () => {
      for await (const { key, value } of this.#heads.list()) this.#known.set(Number(key), value);
    })().catch((error: unknown) => {
      this.#loaded = undefined;
      throw error;
    });
    return this.#loaded;
  }
}

/** Names and facts together, so each fits into a row. */
const BYTES_MAX = 60_000;

/** Writes a row, also in place of one that the server has not sealed. Others write the same. */
async function written<T extends object>(
  rows: SealedRows<T>,
  key: string,
  value: T,
): Promise<void> {
  if ((await rows.put(key, null, value)) || (await rows.get(key)) !== undefined) return;
  await rows.delete(key);
  await rows.put(key, null, value);
}

function keyOf(block: number): string {
  return String(block).padStart(12, '0');
}
