import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { ErasedRow, FactKey, FactVersion, FactWrite, Hash, PartitionName } from '#ledger';
import { forgetWords, OPEN_END, OPEN_START, type OpenKey, OpenSet } from '#memory';
import type { StoreError } from '../../errors.ts';
import {
  brokenOrder,
  changeOpen,
  type FactChange,
  type FactState,
  type FactVerdict,
  type FactView,
  incompleteError,
  judgeFacts,
  nameKey,
  openKey,
} from '../../facts.ts';
import { requireRows } from '../connection/statements.ts';
import { damagedError } from '../errors.ts';
import type { HashIndex } from '../ledger/hash-index.ts';
import { idStart, LONG_OBJECT } from './fact-rows.ts';
import { type FoundPartition, lastChange, SELECT_CLAIM_KEY } from './facts.ts';
import type { TextWriter } from './text-writer.ts';

/**
 * The maximum number of partitions and of open rows in memory, at most doubled. Each further one
 * costs one lookup.
 */
const KNOWN_MAX = 10_000;
const KNOWN_ROWS_MAX = 100_000;

/**
 * The maximum number of rows of each table that a transaction deletes, except for a larger
 * partition.
 */
const DELETED_MAX = 2_000;

interface CachedPartition extends FactState {
  readonly key: number | bigint;
  /** Whether the partition has, or had, rows of a predicate with several values. */
  readonly several: boolean;
  readonly open: OpenSet<OpenKey>;
}

/**
 * Writes facts inside a transaction that the caller begins and ends.
 *
 * The writer caches partitions with their open rows, whether any text was erased, and whether the
 * facts are complete. The cache is valid while no other connection has written.
 */
export class FactWriter implements FactView {
  readonly #path: string;
  readonly #blobs: HashIndex;
  readonly #selectState: StatementSync;
  readonly #selectVersion: StatementSync;
  readonly #selectLastStart: StatementSync;
  readonly #selectErased: StatementSync;
  readonly #selectAnyErased: StatementSync;
  readonly #selectRebuild: StatementSync;
  readonly #insertPartition: StatementSync;
  readonly #updatePartition: StatementSync;
  readonly #close: StatementSync;
  readonly #insert: StatementSync;
  readonly #insertTime: StatementSync;
  readonly #insertObject: StatementSync;
  readonly #insertVersion: StatementSync;
  readonly #eraseLong: StatementSync;
  readonly #eraseObjects: StatementSync;
  readonly #eraseNames: StatementSync;
  readonly #begin: StatementSync;
  readonly #end: StatementSync;
  readonly #await: StatementSync;
  readonly #keep: StatementSync;
  readonly #insertKey: StatementSync;
  readonly #selectKey: StatementSync;
  readonly #delete: readonly StatementSync[];
  readonly #texts: TextWriter;
  /**
   * Each partition with its counted number of rows. When the map is full, unused partitions are
   * evicted with the older ones.
   */
  #known = new Map<string, { readonly state: CachedPartition; readonly rows: number }>();
  #knownBefore: Map<string, { readonly state: CachedPartition }> = new Map();
  #knownRows = 0;
  #hasErased: boolean | undefined;
  /**
   * The start of the last version of all. It avoids searches for later versions. Empty if no
   * version exists.
   */
  #lastStart: string | undefined;
  #rebuild: { readonly run: number; readonly whole: number } | undefined;

  /** `path` names the store in errors. */
  constructor(db: DatabaseSync, blobs: HashIndex, texts: TextWriter, path: string) {
    this.#path = path;
    this.#blobs = blobs;
    this.#texts = texts;
    this.#selectState =
      db.prepare(`SELECT p.key, lower(hex(p.names)), p.names_bytes, p.version, p.latest, p.several, p.since,
        f.fact_id, f.system_start, f.valid_from, f.valid_to, f.seq
      FROM fact_partition AS p
        LEFT JOIN fact_time AS e ON e.key = p.key AND e.audit = 0 AND e.system_end = '${OPEN_END}'
        LEFT JOIN fact AS f ON f.n = e.n
      WHERE p.space = ? AND p.branch = ? AND p.subject = ? AND p.predicate = ?`);
    this.#selectState.setReturnArrays(true);
    this.#selectVersion =
      db.prepare(`SELECT 1 FROM fact_version AS v JOIN fact_partition AS p ON p.key = v.key
      WHERE v.system_start = ? AND v.fact_id = ? AND p.space = ? AND p.branch = ?`);
    this.#selectLastStart = db.prepare(
      "SELECT coalesce(max(system_start), '') AS last FROM fact_version",
    );
    this.#selectErased = db.prepare(
      'SELECT 1 FROM blob WHERE position = ? AND erased_by IS NOT NULL',
    );
    this.#selectAnyErased = db.prepare('SELECT 1 FROM blob WHERE erased_by IS NOT NULL LIMIT 1');
    this.#selectRebuild = db.prepare('SELECT run, whole FROM fact_rebuild');
    this.#insertPartition =
      db.prepare(`INSERT INTO fact_partition (space, branch, subject, predicate, names, names_bytes, version, latest,
        several, since)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
    this.#updatePartition = db.prepare(
      'UPDATE fact_partition SET version = ?, latest = ?, several = ? WHERE key = ?',
    );
    // The start of the id lets SQLite use the index.
    this.#close =
      db.prepare(`UPDATE fact_time SET system_end = ? WHERE key = ? AND audit = 0 AND system_end = '${OPEN_END}'
      AND valid_from = ? AND id_start = ${idStart('?')}
      AND EXISTS (SELECT 1 FROM fact AS f WHERE f.n = fact_time.n AND f.fact_id = ? AND f.system_start = ?)`);
    this.#insertTime =
      db.prepare(`INSERT INTO fact_time (key, audit, system_end, valid_from, id_start, n)
      VALUES (?, ?, ?, ?, ${idStart('?')}, ?)`);
    this.#insert =
      db.prepare(`INSERT INTO fact (key, audit, valid_from, fact_id, system_start, content,
        content_bytes, valid_to, confidence, seq, asserted_seq, asserted_from, single, strategy, entry, lineage, resolution,
        provenance, object, long)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
    this.#insertObject = db.prepare('INSERT INTO fact_object (text) VALUES (?)');
    this.#insertVersion = db.prepare(
      'INSERT INTO fact_version (system_start, fact_id, key) VALUES (?, ?, ?)',
    );
    const erased = (column: string): string => `'{"$erased":"' || lower(hex(${column})) || '"}'`;
    const given = '(SELECT unhex(value) FROM json_each(?))';
    this.#eraseLong = db.prepare(
      `DELETE FROM fact_object WHERE id IN (SELECT long FROM fact WHERE long IS NOT NULL AND content IN ${given})`,
    );
    this.#eraseObjects = db.prepare(
      `UPDATE fact SET object = ${erased('content')}, long = NULL WHERE content IN ${given}`,
    );
    this.#eraseNames = db.prepare(`UPDATE fact_partition
      SET space = ${erased('names')}, subject = ${erased('names')}, predicate = ${erased('names')},
        branch = '', since = '${OPEN_START}' WHERE names IN ${given}`);
    this.#begin = db.prepare(
      'UPDATE fact_rebuild SET run = run + 1, whole = 0, made = 0, awaited = 0 RETURNING run',
    );
    this.#end = db.prepare('UPDATE fact_rebuild SET made = 1, whole = 1 - awaited');
    this.#await = db.prepare('UPDATE fact_rebuild SET awaited = 1, whole = 0');
    this.#keep = db.prepare(`UPDATE fact_rebuild SET awaited = 0, whole = 1
      WHERE made = 1 AND EXISTS (SELECT 1 FROM fact_partition)`);
    this.#insertKey = db.prepare(
      'INSERT INTO fact_claim_key (one, key) VALUES (1, ?) ON CONFLICT DO NOTHING',
    );
    this.#selectKey = db.prepare(SELECT_CLAIM_KEY);
    const first = (
      table: string,
      column: string,
    ): string => `DELETE FROM ${table} WHERE ${column} <=
      (SELECT max(${column}) FROM (SELECT ${column} FROM ${table} ORDER BY ${column} LIMIT ${DELETED_MAX}))`;
    this.#delete = [
      db.prepare(first('fact_time', 'key')),
      db.prepare(first('fact', 'n')),
      db.prepare(first('fact_object', 'id')),
      db.prepare(first('fact_version', 'system_start')),
      db.prepare(first('fact_partition', 'key')),
    ];
  }

  /** Call this when another connection has written, and after every rollback. */
  invalidate(): void {
    this.#forgetKnown();
    this.#hasErased = undefined;
    this.#lastStart = undefined;
    this.#rebuild = undefined;
    this.#texts.forget();
  }

  /** Writes nothing. @throws {StoreError} for misuse, and while the facts are incomplete */
  judge(writes: readonly FactWrite[]): FactVerdict {
    if (this.#state.whole === 0) throw this.#incomplete();
    return judgeFacts(writes, this);
  }

  /** Writes the changes that were checked last. Nothing may have been written since that check. */
  write(changes: readonly FactChange[]): void {
    for (const change of changes) {
      const key = this.#writePartition(change);
      for (const { valid_from, fact_id, system_time_start } of change.close) {
        const { changes } = this.#close.run(
          change.system_time,
          key,
          valid_from,
          fact_id,
          fact_id,
          system_time_start,
        );
        // The row was open when the change was checked.
        if (changes !== 1)
          throw damagedError(`fact ${fact_id} of ${system_time_start} is not closed at its row`);
      }
      for (const row of change.insert) this.#insertRow(key, row);
      // Inherited rows of a branch keep their time.
      for (const [time, rows] of Map.groupBy(change.insert, (row) => row.system_time_start))
        this.#texts.enqueue(key, time, change.partition, rows);
    }
  }

  /**
   * Replaces erased values in every version. An index of rows by text would cost every write, so
   * this scans all rows.
   */
  erase(erased: readonly ErasedRow[]): void {
    const hashes = JSON.stringify(erased.map(({ hash }) => hash));
    this.#texts.erase(hashes);
    this.#eraseLong.run(hashes);
    this.#eraseObjects.run(hashes);
    this.#eraseNames.run(hashes);
    this.invalidate();
    // The cache of the writing thread.
    forgetWords();
  }

  isErased(hash: Hash): boolean {
    this.#hasErased ??= this.#selectAnyErased.get() !== undefined;
    if (!this.#hasErased) return false;
    const position = this.#blobs.findWritten(hash);
    return position !== undefined && this.#selectErased.get(position) !== undefined;
  }

  partition(name: PartitionName): CachedPartition | undefined {
    const known = this.#found(name);
    if (known !== undefined) return known;
    const { space, branch = '', subject, predicate } = name;
    const rows = this.#selectState.all(
      space,
      branch,
      subject,
      predicate,
    ) as unknown as OpenColumns[];
    const [first] = rows;
    if (first === undefined) return undefined;
    const [key, hash, bytes, version, latest, several, since, isAny] = first;
    const open = isAny === null ? [] : rows.map(openOf);
    const state = {
      key,
      names: { hash, bytes },
      ...lastChange({ version, latest }, open),
      several: several !== 0,
      since: name.branch === undefined ? undefined : since,
      open: new OpenSet(open.map(openKey)),
    };
    this.#know(name, state);
    return state;
  }

  /**
   * Caches a partition that was read outside of a transaction. The cached partition is valid until
   * another connection writes. A change planned on it is checked against the same rows.
   */
  remember(name: PartitionName, { key, several, state }: FoundPartition): void {
    if (this.#found(name) !== undefined) return;
    const { names, version, latest, since } = state;
    const open = new OpenSet<OpenKey>(state.open);
    this.#know(name, { key, names, version, latest, several, since, open });
  }

  has({ space, branch = '' }: PartitionName, { fact_id, system_time_start }: FactKey): boolean {
    this.#lastStart ??= this.#selectLastStart.get()!['last'] as string;
    if (system_time_start > this.#lastStart) return false;
    return this.#selectVersion.get(system_time_start, fact_id, space, branch) !== undefined;
  }

  /** Returns the stored key. If the store has no key, it stores and returns the offered one. */
  claimKey(offered: Uint8Array): Uint8Array {
    this.#insertKey.run(offered);
    return this.#selectKey.get()!['key'] as Uint8Array;
  }

  /** Marks the facts as incomplete. Returns the identity of this rebuild. */
  beginRebuilding(): number {
    this.#rebuild = undefined;
    this.#texts.reset();
    return this.#begin.get()!['run'] as number;
  }

  /**
   * Deletes some facts. Returns false if no facts were left.
   * @throws {StoreError} if another rebuild has started
   */
  deleteSome(run: number): boolean {
    this.#requireMine(run);
    this.#forgetKnown();
    this.#lastStart = undefined;
    return this.#delete
      .map((statement) => Number(statement.run().changes))
      .some((changes) => changes > 0);
  }

  /** @throws {StoreError} for misuse, and if another rebuild has started */
  takeIn(writes: readonly FactWrite[], run: number): void {
    this.#requireMine(run);
    for (const write of writes) {
      const verdict = judgeFacts([write], this);
      if ('refusal' in verdict) throw brokenOrder(write);
      this.write(verdict.changes);
    }
  }

  /** @throws {StoreError} if another rebuild has started */
  endRebuilding(run: number): void {
    this.#requireMine(run);
    this.#rebuild = undefined;
    requireRows(this.#end.run(), 1);
  }

  /** Marks the facts as incomplete. The facts themselves stay as they are. */
  await(): void {
    this.#rebuild = undefined;
    requireRows(this.#await.run(), 1);
  }

  /** Same as `FactStore.keepFacts`. */
  keep(): boolean {
    this.#rebuild = undefined;
    this.#keep.run();
    return this.#state.whole === 1;
  }

  get #state(): { readonly run: number; readonly whole: number } {
    this.#rebuild ??= this.#selectRebuild.get() as unknown as { run: number; whole: number };
    return this.#rebuild;
  }

  #requireMine(run: number): void {
    if (this.#state.run !== run) throw this.#incomplete();
  }

  #incomplete(): StoreError {
    return incompleteError(this.#path);
  }

  #writePartition(change: FactChange): number | bigint {
    const { partition, names, version, system_time, insert, since } = change;
    const before = change.before as CachedPartition | undefined;
    const several =
      before?.several === true || insert.some((row) => row.cardinality !== 'single-valued');
    const flag = several ? 1 : 0;
    let key = before?.key;
    if (key === undefined) {
      const { space, branch = '', subject, predicate } = partition;
      const hash = Buffer.from(names.hash, 'hex');
      const inserted = this.#insertPartition.run(
        space,
        branch,
        subject,
        predicate,
        hash,
        names.bytes,
        version,
        system_time,
        flag,
        since ?? OPEN_START,
      );
      key = requireRows(inserted, 1).lastInsertRowid;
    } else if (several !== before?.several || !insert.some(isOpen)) {
      requireRows(this.#updatePartition.run(version, system_time, flag, key), 1);
    }
    // A rollback discards the cached state.
    const open = before?.open ?? new OpenSet();
    changeOpen(open, change);
    this.#know(partition, { key, names, version, latest: system_time, several, since, open });
    return key;
  }

  #insertRow(key: number | bigint, row: FactVersion): void {
    const long =
      row.object.length > LONG_OBJECT
        ? requireRows(this.#insertObject.run(row.object), 1).lastInsertRowid
        : null;
    const audit = row.row_kind === 'audit' ? 1 : 0;
    const inserted = this.#insert.run(
      key,
      audit,
      row.valid_from,
      row.fact_id,
      row.system_time_start,
      Buffer.from(row.content.hash, 'hex'),
      row.content.bytes,
      row.valid_to,
      row.confidence,
      row.seq,
      row.asserted_seq,
      row.asserted_from,
      row.cardinality === 'single-valued' ? 1 : 0,
      row.resolution_strategy_id,
      Buffer.from(row.entry_id, 'hex'),
      row.lineage,
      row.resolution_id,
      row.provenance_id,
      long === null ? row.object : '',
      long,
    );
    const { lastInsertRowid } = requireRows(inserted, 1);
    requireRows(
      this.#insertTime.run(
        key,
        audit,
        row.system_time_end,
        row.valid_from,
        row.fact_id,
        lastInsertRowid,
      ),
      1,
    );
    requireRows(this.#insertVersion.run(row.system_time_start, row.fact_id, key), 1);
    if (this.#lastStart !== undefined && row.system_time_start > this.#lastStart)
      this.#lastStart = row.system_time_start;
  }

  #found(name: PartitionName): CachedPartition | undefined {
    const key = nameKey(name);
    const known = this.#known.get(key);
    if (known !== undefined) return known.state;
    const before = this.#knownBefore.get(key);
    if (before !== undefined) this.#know(name, before.state);
    return before?.state;
  }

  #know(name: PartitionName, state: CachedPartition): void {
    const key = nameKey(name);
    const rows = state.open.size;
    const known = this.#known.get(key);
    // A partition with more rows than the limit stays cached while it changes.
    if (
      known === undefined &&
      (this.#known.size >= KNOWN_MAX || this.#knownRows > KNOWN_ROWS_MAX)
    ) {
      this.#knownBefore = this.#known;
      this.#known = new Map();
      this.#knownRows = 0;
    }
    this.#knownRows += rows - (known?.rows ?? 0);
    this.#known.set(key, { state, rows });
  }

  #forgetKnown(): void {
    this.#known.clear();
    this.#knownBefore.clear();
    this.#knownRows = 0;
  }
}

/**
 * An open row alone states the version of its partition and the time of the last change, until the
 * next change.
 */
function isOpen({ row_kind, system_time_end }: FactVersion): boolean {
  return row_kind === 'current' && system_time_end === OPEN_END;
}

/**
 * A partition and one of its open rows. The columns of the row are null if the partition has no
 * open row.
 */
type OpenColumns = [
  key: number,
  hash: Hash,
  bytes: number,
  version: number,
  latest: string,
  several: number,
  since: string,
  fact_id: string | null,
  system_time_start: string,
  valid_from: string,
  valid_to: string,
  seq: number,
];

function openOf(row: OpenColumns): OpenKey & Pick<FactVersion, 'seq'> {
  return {
    fact_id: row[7]!,
    system_time_start: row[8],
    valid_from: row[9],
    valid_to: row[10],
    seq: row[11],
  };
}
