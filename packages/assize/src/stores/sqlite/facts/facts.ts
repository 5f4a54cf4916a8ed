import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type {
  BranchPartition,
  BranchPartitionQuery,
  FactQuery,
  FactVersion,
  Hash,
  PartitionName,
  PartitionState,
} from '#ledger';
import { OPEN_END } from '#memory';
import { incompleteError } from '../../facts.ts';
import {
  ROW,
  ROW_COLUMNS,
  ROWS,
  type RowColumns,
  restrictions,
  rowThatEnds,
  versionOf,
} from './fact-rows.ts';

export const SELECT_CLAIM_KEY = 'SELECT key FROM fact_claim_key';

/** A partition as a reader found it. */
export interface FoundPartition {
  readonly key: number | bigint;
  readonly several: boolean;
  readonly state: PartitionState;
}

/** Reads of facts. Each read sees one snapshot, and throws while the facts are incomplete. */
export class FactReader {
  readonly #db: DatabaseSync;
  readonly #path: string;
  readonly #isHeld: boolean;
  readonly #begin: StatementSync;
  readonly #end: StatementSync;
  readonly #selectWhole: StatementSync;
  readonly #selectKey: StatementSync;
  readonly #selectSpaces: StatementSync;
  readonly #selectBranches: StatementSync;
  readonly #selectBranchPartitions: StatementSync;
  readonly #selectState: StatementSync;
  readonly #selectOpenAt: StatementSync;
  readonly #selectClosedAt: StatementSync;
  /** Statements by their text. */
  readonly #queries = new Map<string, StatementSync>();

  /**
   * `path` names the store in errors. `isHeld`: whether the connection is in a transaction, so all
   * reads see one snapshot.
   */
  constructor(
    db: DatabaseSync,
    path: string,
    { isHeld = false }: { readonly isHeld?: boolean } = {},
  ) {
    this.#isHeld = isHeld;
    this.#db = db;
    this.#path = path;
    this.#begin = db.prepare('BEGIN');
    this.#end = db.prepare('ROLLBACK');
    this.#selectWhole = db.prepare('SELECT whole FROM fact_rebuild');
    this.#selectKey = db.prepare(SELECT_CLAIM_KEY);
    this.#selectSpaces = db.prepare(
      "SELECT DISTINCT space FROM fact_partition WHERE branch = '' ORDER BY space",
    );
    this.#selectBranches = db.prepare(
      "SELECT DISTINCT space, branch FROM fact_partition WHERE branch <> '' ORDER BY space, branch",
    );
    this.#selectBranchPartitions = db.prepare(`SELECT subject, predicate, since FROM fact_partition
      WHERE space = :space AND branch = :branch AND branch <> '' AND subject = coalesce(:subject, subject)
        AND predicate = coalesce(:predicate, predicate)
        AND (:after_subject IS NULL OR (subject, predicate) > (:after_subject, :after_predicate))
      ORDER BY subject, predicate LIMIT :limit`);
    const named = 'p.space = ? AND p.branch = ? AND p.subject = ? AND p.predicate = ?';
    const isOpen = `e.key = p.key AND e.audit = 0 AND e.system_end = '${OPEN_END}'`;
    this.#selectState =
      this.#rows(`SELECT ${ROW}, p.key, lower(hex(p.names)), p.names_bytes, p.version, p.latest,
        p.several, p.since, r.whole
      FROM fact_rebuild AS r
        LEFT JOIN fact_partition AS p ON ${named}
        LEFT JOIN fact_time AS e ON ${isOpen}
        LEFT JOIN fact AS f ON f.n = e.n
      ORDER BY f.valid_from, f.fact_id, f.system_start`);
    // For rows that do not overlap, the last row that starts before the point.
    const openAt = `SELECT e.n FROM fact_time AS e WHERE ${isOpen} AND e.valid_from <= ? ORDER BY e.valid_from DESC LIMIT 1`;
    this.#selectOpenAt = this.#rows(`SELECT ${rowThatEnds(`'${OPEN_END}'`)}, p.several, r.whole
      FROM fact_rebuild AS r LEFT JOIN fact_partition AS p ON ${named} LEFT JOIN fact AS f ON f.n = (${openAt})`);
    // The join declares `fact_rebuild` to have one row, so SQLite accepts the order of the index.
    this.#selectClosedAt = this.#rows(`SELECT ${ROW}, p.several, r.whole
      FROM fact_rebuild AS r LEFT JOIN fact_partition AS p ON ${named}
        LEFT JOIN fact_time AS e ON e.key = p.key AND e.audit = 0 AND e.system_end > ? AND e.system_end < '${OPEN_END}'
          AND e.valid_from <= ?
          AND EXISTS (SELECT 1 FROM fact AS f WHERE f.n = e.n AND f.valid_to > ? AND f.system_start <= ?)
        LEFT JOIN fact AS f ON f.n = e.n
      WHERE r.one = 1 ORDER BY e.system_end LIMIT 1`);
  }

  /** Same as `FactStore.partition`. @throws {StoreError} while the facts are incomplete */
  partition(name: PartitionName): FoundPartition | undefined {
    const { space, branch = '', subject, predicate } = name;
    // One statement sees one snapshot.
    const rows = this.#selectState.all(
      space,
      branch,
      subject,
      predicate,
    ) as unknown as StateColumns[];
    const [first] = rows;
    if (first === undefined) throw incompleteError(this.#path);
    const [key, hash, bytes, version, latest, several, since, whole] = first.slice(
      ROW_COLUMNS,
    ) as PartitionColumns;
    if (whole !== 1) throw incompleteError(this.#path);
    if (key === null) return undefined;
    const open =
      first[0] === null ? [] : rows.map((row) => versionOf(row as unknown as RowColumns, name));
    const changed = lastChange({ version, latest }, open);
    const state = {
      names: { hash, bytes },
      ...changed,
      open,
      ...(name.branch !== undefined && { since }),
    };
    return { key, several: several !== 0, state };
  }

  /**
   * Same as `FactStore.facts`, with the defaults filled in.
   * @throws {StoreError} while the facts are incomplete
   */
  facts(query: FactQuery & { readonly limit: number }): FactVersion[] {
    return this.#point(query) ?? this.atOneMoment(() => this.#search(query));
  }

  claimKey(): Uint8Array | undefined {
    return this.#selectKey.get()?.['key'] as Uint8Array | undefined;
  }

  /** @throws {StoreError} while the facts are incomplete */
  spaces(): string[] {
    return this.atOneMoment(() => this.#selectSpaces.all().map((row) => row['space'] as string));
  }

  /** @throws {StoreError} while the facts are incomplete */
  branches(): { readonly space: string; readonly branch: string }[] {
    return this.atOneMoment(() =>
      this.#selectBranches
        .all()
        .map((row) => ({ space: row['space'] as string, branch: row['branch'] as string })),
    );
  }

  /**
   * Same as `FactStore.branchPartitions`, with the defaults filled in.
   * @throws {StoreError} while the facts are incomplete
   */
  branchPartitions(query: BranchPartitionQuery & { readonly limit: number }): BranchPartition[] {
    const { space, branch, subject = null, predicate = null, after, limit } = query;
    const values = { space, branch, subject, predicate, limit };
    const from = {
      after_subject: after?.subject ?? null,
      after_predicate: after?.predicate ?? null,
    };
    return this.atOneMoment(() =>
      this.#selectBranchPartitions.all({ ...values, ...from }).map((row) => ({
        space,
        subject: row['subject'] as string,
        predicate: row['predicate'] as string,
        branch,
        since: row['since'] as string,
      })),
    );
  }

  /** @throws {StoreError} while the facts are incomplete; the errors of `read` */
  atOneMoment<T>(read: () => T): T {
    if (!this.#isHeld) this.#begin.run();
    try {
      if (this.#selectWhole.get()?.['whole'] !== 1) throw incompleteError(this.#path);
      return read();
    } finally {
      if (!this.#isHeld && this.#db.isTransaction) this.#end.run();
    }
  }

  /**
   * The row at a point of valid time and system time, if at most one can exist. Undefined if a
   * search is necessary.
   */
  #point({
    space,
    branch,
    subject,
    predicate,
    kind,
    valid,
    system,
    lineage,
    after,
  }: FactQuery): FactVersion[] | undefined {
    if (
      subject === undefined ||
      predicate === undefined ||
      valid === undefined ||
      system === undefined
    )
      return undefined;
    if (kind !== 'current' || lineage !== undefined || after !== undefined) return undefined;
    const name =
      branch === undefined ? { space, subject, predicate } : { space, subject, predicate, branch };
    const at = [space, branch ?? '', subject, predicate] as const;
    const open = this.#rowAt(this.#selectOpenAt.get(...at, valid), name);
    if (open === 'several') return undefined;
    const isOpen = open !== undefined && valid < open.valid_to;
    if (isOpen && (system === 'now' || open.system_time_start <= system)) return [open];
    if (system === 'now') return [];
    // A later snapshot gives the same answer despite writes in between: rows that had ended by that
    // point of time are final.
    const closed = this.#rowAt(this.#selectClosedAt.get(...at, system, valid, valid, system), name);
    if (closed === 'several') return undefined;
    return closed === undefined ? [] : [closed];
  }

  /** `several`: more than one row may exist. @throws {StoreError} while the facts are incomplete */
  #rowAt(found: unknown, name: PartitionName): FactVersion | 'several' | undefined {
    const columns = found as PointColumns | undefined;
    if (columns?.[ROW_COLUMNS + 1] !== 1) throw incompleteError(this.#path);
    if (columns[ROW_COLUMNS] === 1) return 'several';
    return columns[0] === null ? undefined : versionOf(columns as unknown as RowColumns, name);
  }

  #search(query: FactQuery): FactVersion[] {
    const { space, branch, after, limit } = query;
    const { where, values } = restrictions(query);
    if (after !== undefined) {
      // The first condition lets SQLite use the index.
      where.push('(p.subject, p.predicate) >= (?, ?)');
      values.push(after.subject, after.predicate);
      where.push(
        '(p.subject, p.predicate, f.system_start, f.valid_from, f.fact_id) > (?, ?, ?, ?, ?)',
      );
      values.push(
        after.subject,
        after.predicate,
        after.system_time_start,
        after.valid_from,
        after.fact_id,
      );
    }
    const rows = this.#query(where.join(' AND ')).all(...values, limit!) as unknown as [
      ...RowColumns,
      string,
      string,
    ][];
    return rows.map((row) => {
      const names = { space, subject: row[19], predicate: row[20] };
      return versionOf(
        row as unknown as RowColumns,
        branch === undefined ? names : { ...names, branch },
      );
    });
  }

  #query(where: string): StatementSync {
    const known = this.#queries.get(where);
    if (known !== undefined) return known;
    // The sort reads all rows of a key, but reads only the sort columns of rows that are not
    // returned.
    const order = (row: string): string =>
      `subject, predicate, ${row}.system_start, ${row}.valid_from, ${row}.fact_id`;
    const statement = this.#rows(`SELECT ${rowThatEnds('x.system_end')}, x.subject, x.predicate
      FROM (
        SELECT p.subject, p.predicate, f.system_start, f.valid_from, f.fact_id, e.system_end, e.n
        FROM fact_partition AS p CROSS JOIN ${ROWS} WHERE e.key = p.key AND ${where}
        ORDER BY ${order('f')} LIMIT ?
      ) AS x CROSS JOIN fact AS f ON f.n = x.n ORDER BY ${order('x')}`);
    this.#queries.set(where, statement);
    return statement;
  }

  #rows(text: string): StatementSync {
    const statement = this.#db.prepare(text);
    statement.setReturnArrays(true);
    return statement;
  }
}

/**
 * The version and the latest change of a partition. The partition's own row can be behind its open
 * rows.
 */
export function lastChange(
  stored: Pick<PartitionState, 'version' | 'latest'>,
  open: readonly Pick<FactVersion, 'seq' | 'system_time_start'>[],
): { readonly version: number; readonly latest: string } {
  let { version, latest } = stored;
  for (const { seq, system_time_start } of open) {
    if (seq > version) version = seq;
    if (system_time_start > latest) latest = system_time_start;
  }
  return { version, latest };
}

/**
 * The columns of a partition, null if the partition does not exist, and whether the facts are
 * complete.
 */
type PartitionColumns = [
  key: number | null,
  hash: Hash,
  bytes: number,
  version: number,
  latest: string,
  several: number,
  since: string,
  whole: number,
];

/**
 * A row with null columns if it does not exist, whether its partition may have several values, and
 * whether the facts are complete.
 */
type PointColumns = [...row: RowColumns | null[], several: number | null, whole: number];

/** An open row, with null columns if it does not exist, and its partition. */
type StateColumns = [...row: RowColumns | null[], ...PartitionColumns];
