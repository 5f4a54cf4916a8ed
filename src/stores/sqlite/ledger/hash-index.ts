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

const SIZES: Sizes = { run: 16_384, moved: 64, perRow: 4 };

/** Rows of one run, at most, and what tells them apart while they are sorted: with 31 bits of a prefix it is a number without loss. */
const RUN_MAX: number = 2 ** 20;

/** Which rows are found, and by which column. */
export type HashedTable = 'blob' | 'entry';

const COLUMN: { readonly [table in HashedTable]: string } = { blob: 'hash', entry: 'id' };

/** Rows by the prefix of their hash; hardly ever two with the same. */
type Places = Map<number, number | number[]>;

/** What the file says of the index: it has all rows up to `through`, and those up to `run_to` whose prefix is less than `next`. */
interface Mark {
  readonly through: number;
  /** Null where no run is being moved. */
  readonly run_to: number | null;
  readonly next: number;
}

/** Rows that are on their way into the table, in order of prefix. */
interface Run {
  readonly places: Places;
  readonly prefixes: Float64Array;
  readonly positions: Float64Array;
  next: number;
}

/**
 * Finds the rows of one table by their hashes. Rows that a commit adds are known in memory only, and are read again from their own table where
 * they are not: the commit writes nothing for it. When there are enough of them they are moved into the index's table in order of hash,
 * a few with each later commit, whichever process makes it: many then share a page, where hashes by themselves would dirty one each.
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
  /** As the file has it; undefined where it has to be read, and with it all that is in memory. */
  #mark: Mark | undefined;
  /** Up to here rows are in the table, in the run or in `young`, but for those of others as long as `isBehind`. */
  #last = 0;
  /** Others may have added rows that were not read yet. */
  #isBehind = true;
  #added = 0;
  #seenVersion: unknown;

  constructor(db: DatabaseSync, table: HashedTable, sizes: Sizes = SIZES) {
    this.#sizes = sizes;
    const column = COLUMN[table];
    const index = `${table}_index`;
    this.#insert = db.prepare(`INSERT INTO ${index} (prefix, position) VALUES (?, ?) ON CONFLICT DO NOTHING`);
    this.#setMark = db.prepare(`UPDATE hash_index SET through = ?, run_to = ?, next = ? WHERE name = '${table}'`);
    this.#selectMark = db.prepare(`SELECT through, run_to, next FROM hash_index WHERE name = '${table}'`);
    this.#selectVersion = db.prepare('PRAGMA data_version');
    this.#selectPlaces = db.prepare(`SELECT position FROM ${index} WHERE prefix = ?`);
    this.#selectPlaces.setReturnArrays(true);
    this.#selectNew = db.prepare(`SELECT position, ${column} FROM ${table} WHERE position > ? ORDER BY position`);
    this.#selectNew.setReturnArrays(true);
    this.#selectRow = db.prepare(`SELECT 1 FROM ${table} WHERE position = ? AND ${column} = ?`);
    this.#selectRange = db.prepare(`SELECT position FROM ${index} WHERE prefix BETWEEN ? AND ?`);
    this.#selectHash = db.prepare(`SELECT lower(hex(${column})) AS hash FROM ${table} WHERE position = ?`);
  }

  /** The row with that hash, as it is committed. */
  find(hash: Hash): number | undefined {
    this.#refresh(this.#version());
    const prefix = prefixOf(hash);
    const known = this.#known(prefix, hash);
    if (known !== undefined || !this.#isBehind) return known;
    this.#readNew();
    return this.#known(prefix, hash);
  }

  /** Inside a transaction that has called `begin`: the row with that hash. */
  findWritten(hash: Hash): number | undefined {
    return this.#known(prefixOf(hash), hash);
  }

  /** Rows whose hash begins with the hexadecimal prefix, in order of hash, at most so many. */
  findAll(start: string, limit: number): number[] {
    this.begin(this.#version());
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

  /** To be called first in every transaction that writes rows, with the file's `data_version`, which tells that others have written. */
  begin(version: unknown): void {
    this.#refresh(version);
    if (this.#isBehind) this.#readNew();
  }

  /** To be called after every rollback, also one to a savepoint: all is read again. */
  forget(): void {
    this.#mark = undefined;
    this.#added = 0;
  }

  /** Inside a transaction: the row was inserted, behind all others. */
  add(hash: Hash, position: number): void {
    put(this.#young, prefixOf(hash), position);
    this.#last = position;
    this.#added++;
  }

  /** Inside a transaction, after all else: moves some rows into the table where it is time to. */
  move(): void {
    // After a rollback to a savepoint there may be rows in memory that are not, and positions that are no row's.
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
    this.#setMark.run(this.#mark.through, this.#mark.run_to, this.#mark.next);
  }

  /** Up to where the next run goes. */
  #runEnd(): number {
    if (this.#young.size < RUN_MAX / 2) return this.#last;
    const positions = [...this.#young.values()].flatMap(listed);
    return positions.length <= RUN_MAX ? this.#last : positions.sort((a, b) => a - b)[RUN_MAX - 1]!;
  }

  /** What is still to be moved of the run, which another process may have begun. */
  #takeRun({ run_to, next }: Mark & { readonly run_to: number }): Run {
    const places = this.#takeUpTo(run_to);
    const positions: number[] = [];
    // One number for both: sorted as numbers, a run is in order in a few milliseconds.
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

  /** Rows up to there are no longer among the young ones. As a rule these are all. */
  #takeUpTo(last: number): Places {
    const all = this.#young;
    this.#young = new Map();
    if (last >= this.#last) return all;
    const taken: Places = new Map();
    for (const [prefix, place] of all)
      for (const position of listed(place)) put(position <= last ? taken : this.#young, prefix, position);
    return taken;
  }

  #version(): unknown {
    return this.#selectVersion.get()?.['data_version'];
  }

  /** Reads how far the table goes, where that may have changed. */
  #refresh(version: unknown): void {
    if (version === this.#seenVersion && this.#mark !== undefined) return;
    this.#seenVersion = version;
    this.#isBehind = true;
    const mark = this.#selectMark.get() as unknown as Mark;
    const isSame = mark.through === this.#mark?.through && mark.run_to === this.#mark.run_to;
    this.#mark = { through: mark.through, run_to: mark.run_to, next: mark.next };
    if (isSame) {
      // What others have moved of the run is moved.
      const run = this.#run;
      while (run !== undefined && run.next < run.prefixes.length && run.prefixes[run.next]! < mark.next) run.next++;
      return;
    }
    this.#last = mark.through;
    this.#young = new Map();
    this.#run = undefined;
  }

  /** Takes in rows that others have added since. */
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
    // Most of what is looked for is new, and to ask for the first costs less than for all.
    if (young === undefined && running === undefined && this.#selectPlaces.get(prefix) === undefined) return undefined;
    const found = this.#selectPlaces.all(prefix) as unknown as [position: number][];
    const bytes = Buffer.from(hash, 'hex');
    const places = [...listed(young), ...listed(running), ...found.map(([position]) => position)];
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
