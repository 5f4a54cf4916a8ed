import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Hash } from '#ledger';

/** When rows are moved from memory into the table, and how many at a time. */
interface Sizes {
  /** So many are in memory alone before they begin to be moved. */
  readonly run: number;
  /** At least so many are moved in a transaction. */
  readonly moved: number;
  /** And so many for each new one, so that a run is moved before the next one is due. */
  readonly perRow: number;
}

const SIZES: Sizes = { run: 32_768, moved: 64, perRow: 4 };

/** Rows of one run, at most, that can be told apart while they are sorted: twice 31 bits would not fit. */
const SORTED_MAX: number = 2 ** 21;

/** Which rows are found, and by which column. */
export type HashedTable = 'blob' | 'entry';

const COLUMN: { readonly [table in HashedTable]: string } = { blob: 'hash', entry: 'id' };

/** Rows by the prefix of their hash; hardly ever two with the same. */
type Places = Map<number, number | number[]>;

/** Rows that are on their way into the table, in order of prefix. */
interface Run {
  readonly places: Places;
  readonly prefixes: Float64Array;
  readonly positions: Float64Array;
  /** The highest position of it, and of all before. */
  readonly through: number;
  next: number;
}

/**
 * Finds the rows of one table by their hashes. Rows that a commit adds are known in memory only, and are read again from their own table where
 * they are not: the commit writes nothing for it. When there are enough of them they are moved into the index's table in order of hash,
 * a few with each later commit: many then share a page, where hashes by themselves would dirty one each.
 */
export class HashIndex {
  readonly #sizes: Sizes;
  readonly #insert: StatementSync;
  readonly #setThrough: StatementSync;
  readonly #selectThrough: StatementSync;
  readonly #selectVersion: StatementSync;
  readonly #selectPlaces: StatementSync;
  readonly #selectNew: StatementSync;
  readonly #selectRow: StatementSync;
  readonly #selectRange: StatementSync;
  readonly #selectHash: StatementSync;
  #young: Places = new Map();
  #run: Run | undefined;
  /** Up to here the table has all rows; undefined before it was read. */
  #through: number | undefined;
  /** Up to here rows are in the table, in the run or in `young`. */
  #last = 0;
  #added = 0;
  #seenVersion: unknown;

  constructor(db: DatabaseSync, table: HashedTable, sizes: Sizes = SIZES) {
    this.#sizes = sizes;
    const column = COLUMN[table];
    const index = `${table}_index`;
    this.#insert = db.prepare(`INSERT INTO ${index} (prefix, position) VALUES (?, ?) ON CONFLICT DO NOTHING`);
    this.#setThrough = db.prepare(`UPDATE hash_index SET through = max(through, ?) WHERE name = '${table}'`);
    this.#selectThrough = db.prepare(`SELECT through FROM hash_index WHERE name = '${table}'`);
    this.#selectVersion = db.prepare('PRAGMA data_version');
    this.#selectPlaces = db.prepare(`SELECT position FROM ${index} WHERE prefix = ?`);
    this.#selectNew = db.prepare(`SELECT position, ${column} FROM ${table} WHERE position > ? ORDER BY position`);
    this.#selectNew.setReturnArrays(true);
    this.#selectRow = db.prepare(`SELECT 1 FROM ${table} WHERE position = ? AND ${column} = ?`);
    this.#selectRange = db.prepare(`SELECT position FROM ${index} WHERE prefix BETWEEN ? AND ?`);
    this.#selectHash = db.prepare(`SELECT lower(hex(${column})) AS hash FROM ${table} WHERE position = ?`);
  }

  /** The row with that hash, as it is committed. */
  find(hash: Hash): number | undefined {
    this.#refresh();
    const prefix = prefixOf(hash);
    const known = this.#known(prefix, hash);
    if (known !== undefined) return known;
    return this.#readNew() ? this.#known(prefix, hash) : undefined;
  }

  /** Inside a transaction that has called `begin`: the row with that hash. */
  findWritten(hash: Hash): number | undefined {
    return this.#known(prefixOf(hash), hash);
  }

  /** Rows whose hash begins with the hexadecimal prefix, in order of hash, at most so many. */
  findAll(start: string, limit: number): number[] {
    this.#refresh();
    this.#readNew();
    const from = prefixOf(start.padEnd(8, '0'));
    const to = prefixOf(start.padEnd(8, 'f'));
    const places = new Set(this.#selectRange.all(from, to).map((row) => row['position'] as number));
    for (const young of [this.#young, this.#run?.places])
      for (const [prefix, place] of young ?? [])
        if (prefix >= from && prefix <= to) for (const each of listed(place)) places.add(each);
    return [...places]
      .map((position) => ({ position, hash: this.#selectHash.get(position)?.['hash'] as Hash | undefined }))
      .filter(({ hash }) => hash?.startsWith(start))
      .sort((a, b) => (a.hash! < b.hash! ? -1 : 1))
      .slice(0, limit)
      .map(({ position }) => position);
  }

  /** To be called first in every transaction that writes rows. */
  begin(): void {
    if (this.#refresh()) this.#readNew();
  }

  /** To be called after every rollback: all is read again. */
  forget(): void {
    this.#through = undefined;
  }

  /** Inside a transaction: the row was inserted, behind all others. */
  add(hash: Hash, position: number): void {
    put(this.#young, prefixOf(hash), position);
    this.#last = position;
    this.#added++;
  }

  /** Inside a transaction, after all else: moves some rows into the table where it is time to. */
  move(): void {
    const { run, moved, perRow } = this.#sizes;
    const due = Math.max(moved, this.#added * perRow);
    this.#added = 0;
    if (this.#run === undefined && this.#young.size < run) return;
    this.#run ??= this.#beginRun();
    const { prefixes, positions, through, next } = this.#run;
    const end = Math.min(next + due, prefixes.length);
    for (let at = next; at < end; at++) this.#insert.run(prefixes[at]!, positions[at]!);
    this.#run.next = end;
    if (end < prefixes.length) return;
    this.#setThrough.run(through);
    this.#through = through;
    this.#run = undefined;
  }

  #beginRun(): Run {
    const places = this.#young;
    this.#young = new Map();
    const rows = [...places].flatMap(([prefix, place]) => listed(place).map((position) => ({ prefix, position })));
    // One number for both: sorted as numbers, a run is in order in a few milliseconds.
    const keys = Float64Array.from(rows, ({ prefix }, at) => prefix * SORTED_MAX + at).sort();
    return {
      places,
      prefixes: keys.map((key) => Math.floor(key / SORTED_MAX)),
      positions: keys.map((key) => rows[key % SORTED_MAX]!.position),
      through: this.#last,
      next: 0,
    };
  }

  /** Reads how far the table goes, where that may have changed. True where anything may have. */
  #refresh(): boolean {
    const version = this.#selectVersion.get()?.['data_version'];
    if (version === this.#seenVersion && this.#through !== undefined) return false;
    this.#seenVersion = version;
    const through = (this.#selectThrough.get()?.['through'] ?? 0) as number;
    if (through === this.#through) return true;
    this.#through = through;
    this.#last = through;
    this.#young = new Map();
    this.#run = undefined;
    return true;
  }

  /** Takes in rows that others have added since. False where there are none. */
  #readNew(): boolean {
    const before = this.#last;
    for (const row of this.#selectNew.iterate(before)) {
      const [position, hash] = row as unknown as [number, Uint8Array];
      put(this.#young, prefixOfBytes(hash), position);
      this.#last = position;
    }
    return this.#last > before;
  }

  #known(prefix: number, hash: Hash): number | undefined {
    const young = this.#young.get(prefix);
    const running = this.#run?.places.get(prefix);
    const found = this.#selectPlaces.all(prefix) as unknown as { readonly position: number }[];
    if (young === undefined && running === undefined && found.length === 0) return undefined;
    const bytes = Buffer.from(hash, 'hex');
    const places = [...listed(young), ...listed(running), ...found.map(({ position }) => position)];
    return places.find((position) => this.#selectRow.get(position, bytes) !== undefined);
  }
}

/** How many rows the table lacks that it should have: of those up to where it says that it has all. */
export function prepareUnindexed(db: DatabaseSync, table: HashedTable): () => number {
  const rows = db.prepare(`SELECT position, ${COLUMN[table]} FROM ${table}
    WHERE position <= (SELECT max(through) FROM hash_index WHERE name = '${table}')`);
  rows.setReturnArrays(true);
  const place = db.prepare(`SELECT 1 FROM ${table}_index WHERE prefix = ? AND position = ?`);
  return () => {
    let missing = 0;
    for (const row of rows.iterate()) {
      const [position, hash] = row as unknown as [number, Uint8Array];
      if (place.get(prefixOfBytes(hash), position) === undefined) missing++;
    }
    return missing;
  };
}

/** The first 31 bits: a small integer, which a map finds fastest. */
function prefixOf(hash: string): number {
  return Number.parseInt(hash.slice(0, 8), 16) >>> 1;
}

/** The same of a hash in bytes. */
export function prefixOfBytes(hash: Uint8Array): number {
  return ((hash[0]! << 24) | (hash[1]! << 16) | (hash[2]! << 8) | hash[3]!) >>> 1;
}

function put(places: Places, prefix: number, position: number): void {
  const there = places.get(prefix);
  places.set(prefix, there === undefined ? position : [...listed(there), position]);
}

function listed(place: number | number[] | undefined): readonly number[] {
  return place === undefined ? [] : typeof place === 'number' ? [place] : place;
}
