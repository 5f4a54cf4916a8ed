import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type {
  Batch,
  BlobRow,
  CommitResult,
  EntryRow,
  ErasedAnswer,
  ErasedRow,
  Hash,
} from '#ledger';
import type { Clock } from '#oracle';
import { aheadOf } from '../../clock-ahead.ts';
import type { EffectChange } from '../../effects.ts';
import { type EntrySeals, unsealedWriterError } from '../../entry-seals.ts';
import { type FactChange, REPEATS_ERASED } from '../../facts.ts';
import { COMMITTED } from '../../native-port.ts';
import { newerSchemaError } from '../../schema-version.ts';
import { requireRows } from '../connection/statements.ts';
import type { EffectWriter } from '../effects/effects.ts';
import { damagedError, isDuplicate } from '../errors.ts';
import type { FactWriter } from '../facts/fact-writer.ts';
import type { HashIndex } from '../ledger/hash-index.ts';
import { prepareEraseAnswers } from '../ledger/oracle.ts';
import { prepareRefuseRetired } from '../ledger/retirement.ts';
import { prepareIsSealed } from '../ledger/seals.ts';
import { prepareRequireSchema } from '../schema/check-schema.ts';
import { readMark, SCHEMA_VERSION } from '../schema/migrate.ts';

/** The maximum number of trajectories with heads in memory. Each further one costs one lookup. */
const HEADS_MAX = 10_000;

/** The indexes that find rows by hash. */
export interface Indexes {
  /** Entries by their ids. */
  readonly ids: HashIndex;
  readonly blobs: HashIndex;
}

export interface BatchWriterOptions {
  /** Names the store in errors. */
  readonly path: string;
  /** The store's clock. */
  readonly clock: Clock;
  /** Undefined without a root key. */
  readonly seals: EntrySeals | undefined;
}

/** The writers of the parts of a batch, and the indexes. */
export interface Writers extends Indexes {
  readonly effects: EffectWriter;
  readonly facts: FactWriter;
}

/**
 * The position after which the next entry of a trajectory is appended. `key` is undefined if the
 * store has no such trajectory.
 */
interface Head {
  key: number | bigint | undefined;
  seq: number;
  id: Hash | null;
  idBytes: Uint8Array | null;
}

/**
 * Writes batches inside a transaction that the caller begins and ends.
 *
 * Compare-and-set is decided against the heads. They are cached while no other connection has
 * written. The constraints of the table are a second check.
 */
export class BatchWriter {
  readonly #effects: EffectWriter;
  readonly #facts: FactWriter;
  readonly #indexes: Indexes;
  readonly #heads = new Map<string, Head>();
  readonly #dataVersion: StatementSync;
  readonly #selectHead: StatementSync;
  readonly #insertTrajectory: StatementSync;
  readonly #insertEntry: StatementSync;
  readonly #insertBlob: StatementSync;
  readonly #eraseBlob: StatementSync;
  readonly #insertErased: StatementSync;
  readonly #selectErased: StatementSync;
  readonly #dropSnapshots: StatementSync;
  readonly #mark: StatementSync;
  readonly #eraseAnswers: (erased: readonly ErasedAnswer[]) => void;
  readonly #checkStore: () => void;
  readonly #clock: Clock;
  readonly #seals: EntrySeals | undefined;
  readonly #path: string;
  #isSealed = false;
  #seenVersion: unknown;

  constructor(
    db: DatabaseSync,
    { effects, facts, ...indexes }: Writers,
    { path, clock, seals }: BatchWriterOptions,
  ) {
    this.#clock = clock;
    this.#seals = seals;
    this.#path = path;
    const isSealed = prepareIsSealed(db);
    const refuseRetired = prepareRefuseRetired(db, path);
    const requireSchema = prepareRequireSchema(db, path);
    this.#checkStore = (): void => {
      const { version } = readMark(db);
      if (version !== SCHEMA_VERSION) throw newerSchemaError(path, version, SCHEMA_VERSION);
      refuseRetired();
      requireSchema();
      this.#isSealed = isSealed();
    };
    this.#effects = effects;
    this.#facts = facts;
    this.#indexes = indexes;
    this.#dataVersion = db.prepare('PRAGMA data_version');
    this.#selectHead = db.prepare(`
      SELECT t.key AS key, e.seq AS seq, lower(hex(e.id)) AS id, e.id AS idBytes
      FROM trajectory AS t LEFT JOIN entry AS e ON e.trajectory = t.key
      WHERE t.name = ? ORDER BY e.seq DESC LIMIT 1`);
    this.#insertTrajectory = db.prepare('INSERT INTO trajectory (name) VALUES (?)');
    this.#insertEntry = db.prepare(
      'INSERT INTO entry (trajectory, seq, id, parent, kind, payload, seal) VALUES (?, ?, ?, ?, ?, ?, ?)',
    );
    this.#insertBlob = db.prepare('INSERT INTO blob (hash, text) VALUES (?, ?)');
    this.#eraseBlob = db.prepare(
      "UPDATE blob SET text = '', erased_by = ? WHERE position = ? AND erased_by IS NULL",
    );
    this.#insertErased = db.prepare("INSERT INTO blob (hash, text, erased_by) VALUES (?, '', ?)");
    this.#selectErased = db.prepare(
      "SELECT 1 FROM blob WHERE position = ? AND erased_by IS NOT NULL AND text = ''",
    );
    this.#dropSnapshots = db.prepare('DELETE FROM snapshot');
    this.#mark = db.prepare('UPDATE scrub SET erasures = erasures + 1');
    this.#eraseAnswers = prepareEraseAnswers(db);
  }

  /**
   * Call this first in every transaction. It clears the caches if another connection has written.
   *
   * @throws {StoreError} `store_other_schema` if that connection has migrated the file, because no
   * write of this version fits the new schema; `store_other_schema` if that connection has changed
   * the schema otherwise; `store_retired` if that connection has retired the store
   */
  begin(): void {
    const version = this.#dataVersion.get()?.['data_version'];
    if (version !== this.#seenVersion) {
      this.#checkStore();
      this.#forgetHeads();
    }
    this.#seenVersion = version;
    this.#indexes.ids.begin(version);
    this.#indexes.blobs.begin(version);
  }

  /** Call this after every rollback, because the caches are then ahead of the file. */
  invalidate(): void {
    this.#forgetHeads();
    this.#indexes.ids.forget();
    this.#indexes.blobs.forget();
  }

  #forgetHeads(): void {
    this.#heads.clear();
    this.#effects.invalidate();
    this.#facts.invalidate();
  }

  /**
   * Call this last in every transaction. It does a part of the deferred work, so no commit waits
   * for all of it.
   */
  end(): void {
    this.#indexes.ids.move();
    this.#indexes.blobs.move();
  }

  /**
   * Writes the batch, or writes nothing and returns the reason.
   *
   * @throws SQLite's error. StoreError for misuse of the effect log or of facts, and
   * `root_key_missing`, with nothing written. `DuplicateEntry` for an id that the store has at
   * another position: part of the batch is then written, and the caller must roll it back.
   */
  write(batch: Batch): CommitResult {
    const ahead = aheadOf(this.#clock, batch.clock);
    if (ahead !== undefined) return ahead;
    if (this.#isSealed && this.#seals === undefined && batch.entries.length > 0)
      throw unsealedWriterError(this.#path);
    const conflict = this.#findConflict(batch.entries);
    if (conflict !== undefined) return conflictAt(conflict);
    let change: EffectChange | undefined;
    if (batch.effects !== undefined) {
      const verdict = this.#effects.judge(batch.effects);
      if ('refusal' in verdict) return verdict.refusal;
      change = verdict.change;
    }
    if (batch.repeats?.some((hash) => this.#facts.isErased(hash))) return REPEATS_ERASED;
    let facts: readonly FactChange[] = [];
    if (batch.facts !== undefined && batch.facts.length > 0) {
      const verdict = this.#facts.judge(batch.facts);
      if ('refusal' in verdict) return verdict.refusal;
      facts = verdict.changes;
    }
    for (const row of batch.entries) this.#insert(row);
    for (const row of batch.blobs) this.#putBlob(row);
    this.#facts.write(facts);
    if (batch.awaitsFacts === true) this.#facts.await();
    const { erased = [], erasedAnswers = [] } = batch;
    if (erased.length > 0) this.#erase(erased);
    if (erasedAnswers.length > 0) this.#eraseAnswers(erasedAnswers);
    if (erased.length + erasedAnswers.length > 0) requireRows(this.#mark.run(), 1);
    if (change !== undefined) this.#effects.write(change);
    return COMMITTED;
  }

  #putBlob({ hash, text }: BlobRow): void {
    const { blobs } = this.#indexes;
    if (blobs.findWritten(hash) !== undefined) return;
    blobs.add(
      hash,
      Number(requireRows(this.#insertBlob.run(Buffer.from(hash, 'hex'), text), 1).lastInsertRowid),
    );
  }

  #erase(erased: readonly ErasedRow[]): void {
    const { blobs } = this.#indexes;
    for (const { hash, by } of erased) {
      const eraser = Buffer.from(by, 'hex');
      const position = blobs.findWritten(hash);
      if (position === undefined) {
        const { lastInsertRowid } = requireRows(
          this.#insertErased.run(Buffer.from(hash, 'hex'), eraser),
          1,
        );
        blobs.add(hash, Number(lastInsertRowid));
        continue;
      }
      this.#eraseBlob.run(eraser, position);
      if (this.#selectErased.get(position) === undefined)
        throw damagedError(`the text ${hash} was not erased`);
    }
    this.#dropSnapshots.run();
    this.#facts.erase(erased);
  }

  // Runs before the first insert. A conflict, the usual refusal, then needs no savepoint.
  #findConflict(rows: readonly EntryRow[]): EntryRow | undefined {
    // The positions that this batch itself moves. Used only if the batch alternates between
    // trajectories.
    let moved: Map<string, { seq: number; id: Hash | null }> | undefined;
    let name: string | undefined;
    let seq = -1;
    let id: Hash | null = null;
    for (const row of rows) {
      if (row.trajectory_id !== name) {
        if (name !== undefined) {
          moved ??= new Map();
          moved.set(name, { seq, id });
        }
        name = row.trajectory_id;
        ({ seq, id } = moved?.get(name) ?? this.#head(name));
      }
      if (row.seq !== seq + 1 || row.parent !== id) return row;
      ({ seq, id } = row);
    }
    return undefined;
  }

  #insert(row: EntryRow): void {
    const head = this.#head(row.trajectory_id);
    head.key ??= requireRows(this.#insertTrajectory.run(row.trajectory_id), 1).lastInsertRowid;
    const { ids } = this.#indexes;
    if (ids.findWritten(row.id) !== undefined) throw new DuplicateEntry(row);
    const idBytes = Buffer.from(row.id, 'hex');
    const seal = this.#seals === undefined ? null : Buffer.from(this.#seals.of(row), 'hex');
    try {
      const { seq, kind, payload } = row;
      const inserted = this.#insertEntry.run(
        head.key,
        seq,
        idBytes,
        head.idBytes,
        kind,
        payload,
        seal,
      );
      const { lastInsertRowid } = requireRows(inserted, 1);
      ids.add(row.id, Number(lastInsertRowid));
    } catch (error) {
      throw isDuplicate(error) ? new DuplicateEntry(row, error) : error;
    }
    head.seq = row.seq;
    head.id = row.id;
    head.idBytes = idBytes;
  }

  #head(name: string): Head {
    const known = this.#heads.get(name);
    if (known !== undefined) return known;
    const row = this.#selectHead.get(name);
    const head: Head = {
      key: row?.['key'] as number | undefined,
      seq: (row?.['seq'] ?? -1) as number,
      id: (row?.['id'] ?? null) as Hash | null,
      idBytes: (row?.['idBytes'] ?? null) as Uint8Array | null,
    };
    if (this.#heads.size >= HEADS_MAX) this.#heads.clear();
    this.#heads.set(name, head);
    return head;
  }
}

/** The id of an entry that the store has at another position. */
export class DuplicateEntry extends Error {
  readonly row: EntryRow;

  constructor(row: EntryRow, cause?: unknown) {
    super(`the store has the entry ${row.id} already`, { cause });
    this.row = row;
  }
}

export function conflictAt(row: EntryRow): CommitResult {
  return { status: 'conflict', trajectory_id: row.trajectory_id, seq: row.seq };
}
