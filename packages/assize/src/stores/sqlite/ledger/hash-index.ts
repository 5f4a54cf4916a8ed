import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Hash } from '#ledger';
import { requireRows } from '../connection/statements.ts';

/** The limits for moving rows from memory into the table. */
interface Sizes {
  /** The number of rows in memory at which moving starts. */
  readonly run: number;
  /** The minimum number of rows that a transaction moves. */
  readonly moved: number;
  /** The number of rows moved for each new one, so a run is moved before the next one is due. */
  readonly perRow: number;
}

const SIZES: Sizes = { run: 16_384, moved: 64, perRow: 4 };

/**
 * The maximum number of rows in a run. The position within a run and 31 bits of a prefix fit in one
 * exact number: the sort key.
 */
const RUN_MAX: number = 2 ** 20;

/** The tables with rows that an index finds by hash. */
export type HashedTable = 'blob' | 'entry';

const COLUMN: { readonly [table in HashedTable]: string } = { blob: 'hash', entry: 'id' };

/** Positions of rows by the prefix of their hash. Two rows hardly ever share a prefix. */
type Places = Map<number, number | number[]>;

/**
 * The state of the index in the file. The table contains all rows up to `through`, and rows up to
 * `run_to` with a prefix below `next`.
 */
interface Mark {
  readonly through: number;
  /** Null if no run is being moved. */
  readonly run_to: number | null;
  readonly next: number;
}

/** Rows that are being moved into the table, in order of prefix. */
interface Run {
  readonly places: Places;
  readonly prefixes: Float64Array;
  readonly positions: Float64Array;
  next: number;
}

/**
 * Finds the rows of one table by their hashes.
 *
 * New rows of a commit are indexed in memory only, so the commit writes no index rows. Another
 * process reads these rows from their own table again.
 *
 * When enough rows are in memory, later commits of any process move them into the index's table, a
 * few per commit. The rows move in order of hash, so many share a page. Separate inserts would
 * dirty one page per hash.
 */
export class HashIndex {
  readonly #sizes: Sizes;
  readonly #insert: StatementSync;
  readonly #setMark: StatementSync;
  readonly #selectMark: StatementSync;
  readonly #selectVersion: StatementSync;
  readonly #selectPlaces: StatementSync;
  readonly #selectNew: StatementSync;
  readonly #selectRow: StatementSync;
  readonly #selectRange: StatementSync;
  readonly #selectHash: StatementSync;
  #young: Places = new Map();
  #run: Run | undefined;
  /** The state in the file. Undefined if it and everything in memory must be reloaded. */
  #mark: Mark | undefined;
  /**
   * All rows up to this position are in the table, in the run or in `young`, except new rows of
   * other connections while `isBehind`.
   */
  #last = 0;
  /** Whether other connections can have added rows that are not loaded yet. */
  #isBehind = true;
  #added = 0;
  #seenVersion: unknown;

  constructor(db: DatabaseSync, table: HashedTable, sizes: Sizes = SIZES) {
    this.#sizes = sizes;
    const column = COLUMN[table];
    const index = `${table}_index`;
    this.#insert = db.prepare(
      `INSERT INTO ${index} (prefix, position) VALUES (?, ?) ON CONFLICT DO NOTHING`,
    );
    this.#setMark = db.prepare(
      `UPDATE hash_index SET through = ?, run_to = ?, next = ? WHERE name = '${table}'`,
    );
    this.#selectMark = db.prepare(
      `SELECT through, run_to, next FROM hash_index WHERE name = '${table}'`,
    );
    this.#selectVersion = db.prepare('PRAGMA data_version');
    this.#selectPlaces = db.prepare(`SELECT position FROM ${index} WHERE prefix = ?`);
    this.#selectPlaces.setReturnArrays(true);
    this.#selectNew = db.prepare(
      `SELECT position, ${column} FROM ${table} WHERE position > ? ORDER BY position`,
    );
    this.#selectNew.setReturnArrays(true);
    this.#selectRow = db.prepare(`SELECT 1 FROM ${table} WHERE position = ? AND ${column} = ?`);
    this.#selectRange = db.prepare(`SELECT position FROM ${index} WHERE prefix BETWEEN ? AND ?`);
    this.#selectHash = db.prepare(
      `SELECT lower(hex(${column})) AS hash FROM ${table} WHERE position = ?`,
    );
  }

  /** The position of the committed row with the hash. */
  find(hash: Hash): number | undefined {
    this.#refresh(this.#version());
    const prefix = prefixOf(hash);
    const known = this.#known(prefix, hash);
    if (known !== undefined || !this.#isBehind) return known;
    this.#readNew();
    return this.#known(prefix, hash);
  }

  /** The position of the row with the hash, inside a transaction that has called `begin`. */
  findWritten(hash: Hash): number | undefined {
    return this.#known(prefixOf(hash), hash);
  }

  /**
   * The rows with a hash that starts with the hexadecimal prefix, in order of hash, at most
   * `limit`.
   */
  findAll(start: string, limit: number): number[] {
    this.begin(this.#version());
    const from = prefixOf(start.padEnd(8, '0'));
    const to = prefixOf(start.padEnd(8, 'f'));
    const places = new Set(this.#selectRange.all(from, to).map((row) => row['position'] as number));
    for (const young of [this.#young, this.#run?.places])
      for (const [prefix, place] of young ?? [])
        if (prefix >= from && prefix <= to) for (const each of listed(place)) places.add(each);
    return [...places]
      .map((position) => ({
        position,
        hash: this.#selectHash.get(position)?.['hash'] as Hash | undefined,
      }))
      .filter(({ hash }) => hash?.startsWith(start))
      .sort((a, b) => (a.hash! < b.hash! ? -1 : 1))
      .slice(0, limit)
      .map(({ position }) => position);
  }

  /**
   * Call this first in every transaction that writes rows. `version` is the file's `data_version`.
   * It changes when other connections write.
   */
  begin(version: unknown): void {
    this.#refresh(version);
    if (this.#isBehind) this.#readNew();
  }

  /** Call this after every rollback, also to a savepoint. The index then reloads everything. */
  forget(): void {
    this.#mark = undefined;
    this.#added = 0;
  }

  /** Adds a row that was inserted after all others, inside a transaction. */
  add(hash: Hash, position: number): void {
    put(this.#young, prefixOf(hash), position);
    this.#last = position;
    this.#added++;
  }

  /**
   * Moves rows into the table if a move is due. Call this inside a transaction, after all other
   * writes.
   */
  move(): void {
    // After a rollback to a savepoint, memory can contain positions without rows and lack existing
    // rows.
    if (this.#mark === undefined) return;
    const { run, moved, perRow } = this.#sizes;
    const due = Math.max(moved, this.#added * perRow);
    this.#added = 0;
    if (this.#mark.run_to === null) {
      if (this.#young.size < run) return;
      this.#mark = { ...this.#mark, run_to: this.#runEnd(), next: 0 };
    }
    this.#run ??= this.#takeRun(this.#mark as Mark & { readonly run_to: number });
    const { prefixes, positions, next } = this.#run;
    const end = Math.min(next + due, prefixes.length);
    for (let at = next; at < end; at++) this.#insert.run(prefixes[at]!, positions[at]!);
    this.#run.next = end;
    const isMoved = end === prefixes.length;
    if (isMoved) this.#run = undefined;
    this.#mark = isMoved
      ? { through: this.#mark.run_to!, run_to: null, next: 0 }
      : { ...this.#mark, next: prefixes[end]! };
    requireRows(this.#setMark.run(this.#mark.through, this.#mark.run_to, this.#mark.next), 1);
  }

  /** The last position of the next run. */
  #runEnd(): number {
    if (this.#young.size < RUN_MAX / 2) return this.#last;
    const positions = [...this.#young.values()].flatMap(listed);
    return positions.length <= RUN_MAX ? this.#last : positions.sort((a, b) => a - b)[RUN_MAX - 1]!;
  }

  /** The rows of the run that are still to be moved. Another process can have started the run. */
  #takeRun({ run_to, next }: Mark & { readonly run_to: number }): Run {
    const places = this.#takeUpTo(run_to);
    const positions: number[] = [];
    // One number for both fields: sorting numbers takes a few milliseconds per run.
    const keys: number[] = [];
    for (const [prefix, place] of places) {
      if (prefix < next) continue;
      for (const position of listed(place)) {
        keys.push(prefix * RUN_MAX + positions.length);
        positions.push(position);
      }
    }
    const sorted = Float64Array.from(keys).sort();
    return {
      places,
      prefixes: sorted.map((key) => Math.floor(key / RUN_MAX)),
      positions: sorted.map((key) => positions[key % RUN_MAX]!),
      next: 0,
    };
  }

  /**
   * Removes the rows up to a position from the young rows, and returns them. Usually these are all
   * rows.
   */
  #takeUpTo(last: number): Places {
    const all = this.#young;
    this.#young = new Map();
    if (last >= this.#last) return all;
    const taken: Places = new Map();
    for (const [prefix, place] of all)
      for (const position of listed(place))
        put(position <= last ? taken : this.#young, prefix, position);
    return taken;
  }

  #version(): unknown {
    return this.#selectVersion.get()?.['data_version'];
  }

  /** Reloads the state of the table if it can have changed. */
  #refresh(version: unknown): void {
    if (version === this.#seenVersion && this.#mark !== undefined) return;
    this.#seenVersion = version;
    this.#isBehind = true;
    const mark = this.#selectMark.get() as unknown as Mark;
    const isSame = mark.through === this.#mark?.through && mark.run_to === this.#mark.run_to;
    this.#mark = { through: mark.through, run_to: mark.run_to, next: mark.next };
    if (isSame) {
      // Drops the rows of the run that another process has moved.
      const run = this.#run;
      while (
        run !== undefined &&
        run.next < run.prefixes.length &&
        run.prefixes[run.next]! < mark.next
      )
        run.next++;
      return;
    }
    this.#last = mark.through;
    this.#young = new Map();
    this.#run = undefined;
  }

  /** Loads the rows that other connections have added since. */
  #readNew(): void {
    for (const row of this.#selectNew.iterate(this.#last)) {
      const [position, hash] = row as unknown as [number, Uint8Array];
      put(this.#young, prefixOfBytes(hash), position);
      this.#last = position;
    }
    this.#isBehind = false;
  }

  #known(prefix: number, hash: Hash): number | undefined {
    const young = this.#young.get(prefix);
    const running = this.#run?.places.get(prefix);
    // Most searched hashes are new, and selecting the first match costs less than selecting all.
    if (
      young === undefined &&
      running === undefined &&
      this.#selectPlaces.get(prefix) === undefined
    )
      return undefined;
    const found = this.#selectPlaces.all(prefix) as unknown as [position: number][];
    const bytes = Buffer.from(hash, 'hex');
    const places = [...listed(young), ...listed(running), ...found.map(([position]) => position)];
    return places.find((position) => this.#selectRow.get(position, bytes) !== undefined);
  }
}

/** The number of rows that the table lacks, out of those up to its `through` mark. */
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

/** The first 31 bits of a hash: a small integer, the fastest key of a map. */
function prefixOf(hash: string): number {
  return Number.parseInt(hash.slice(0, 8), 16) >>> 1;
}

/** The first 31 bits of a hash in bytes. */
function prefixOfBytes(hash: Uint8Array): number {
  return ((hash[0]! << 24) | (hash[1]! << 16) | (hash[2]! << 8) | hash[3]!) >>> 1;
}

function put(places: Places, prefix: number, position: number): void {
  const there = places.get(prefix);
  places.set(prefix, there === undefined ? position : [...listed(there), position]);
}

function listed(place: number | number[] | undefined): readonly number[] {
  return place === undefined ? [] : typeof place === 'number' ? [place] : place;
}
