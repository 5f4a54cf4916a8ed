import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { FactHit, FactQuery, FactVersion, Hash } from '#ledger';
import { dayOf } from '#memory';
import { compareRows } from '../../facts.ts';
import { prepareByText } from '../connection/statements.ts';
import { ROW, ROWS, type RowColumns, restrictions, versionOf } from './fact-rows.ts';

/**
 * The number of texts of one partition that the first read covers with their rows. Each later read
 * covers twice as many, because every read scans the whole partition.
 */
const TOGETHER = 32;

/** A matching text, with its rows once they are loaded. */
export interface Candidate {
  readonly key: number;
  readonly score: number;
  /** Undefined if the text is not indexed yet. The text then has its name. */
  readonly id: number | undefined;
  name?: string;
  rows?: FactVersion[];
}

/** Finds the rows of texts, inside the caller's transaction. */
export class RankedRows {
  readonly #selectName: StatementSync;
  readonly #query: (text: string) => StatementSync;

  constructor(db: DatabaseSync) {
    this.#query = prepareByText(db);
    this.#selectName = db.prepare(
      'SELECT lower(hex(content)) AS content, audit, day FROM fact_text WHERE id = ?',
    );
  }

  /**
   * The best rows that match the query. The function loads the rows of texts in the order of their
   * scores until it has enough.
   */
  best(candidates: readonly Candidate[], query: FactQuery, limit: number): FactHit[] {
    const ranked = candidates.toSorted((a, b) => b.score - a.score);
    const found: FactHit[] = [];
    const together = new Map<number, number>();
    for (let at = 0; at < ranked.length && found.length < limit; ) {
      const { score } = ranked[at]!;
      const rows: FactVersion[] = [];
      for (; ranked[at]?.score === score; at += 1) {
        const { key, rows: known } = ranked[at]!;
        if (known === undefined) together.set(key, 2 * (together.get(key) ?? TOGETHER / 2));
        rows.push(...(known ?? this.#read(ranked, at, together.get(key)!, query)));
      }
      for (const fact of rows.sort(compareRows)) found.push({ fact, score });
    }
    return found.slice(0, limit);
  }

  /** Loads the rows of a text and of the next texts of its partition, at most `most` texts. */
  #read(
    ranked: readonly Candidate[],
    from: number,
    most: number,
    query: FactQuery,
  ): readonly FactVersion[] {
    const first = ranked[from]!;
    const same: Candidate[] = [];
    for (let at = from; at < ranked.length && same.length < most; at += 1)
      if (ranked[at]!.key === first.key && ranked[at]!.rows === undefined) same.push(ranked[at]!);
    const named = new Map<string, FactVersion[]>();
    for (const each of same) {
      each.rows = [];
      each.name ??= this.#name(each.id!);
      named.set(each.name, each.rows);
    }
    const { where, values } = restrictions(query);
    const contents = JSON.stringify([
      ...new Set([...named.keys()].map((name) => name.slice(0, HASH_DIGITS))),
    ]);
    const statement = this.#query(`SELECT ${ROW}, p.subject, p.predicate
      FROM fact_partition AS p CROSS JOIN ${ROWS}
      WHERE e.key = p.key AND p.key = ? AND f.content IN (SELECT unhex(value) FROM json_each(?)) AND ${where.join(' AND ')}`);
    const rows = statement.all(first.key, contents, ...values) as unknown as [
      ...RowColumns,
      string,
      string,
    ][];
    for (const columns of rows) {
      const [subject, predicate] = columns.slice(-2) as [string, string];
      const { space, branch } = query;
      const name = { space, subject, predicate, ...(branch !== undefined && { branch }) };
      const row = versionOf(columns as unknown as RowColumns, name);
      named.get(nameOf(row.content.hash, row.row_kind === 'audit' ? 1 : 0, dayOf(row)))?.push(row);
    }
    return first.rows!;
  }

  #name(id: number): string {
    const { content, audit, day } = this.#selectName.get(id) as unknown as {
      content: Hash;
      audit: 0 | 1;
      day: string;
    };
    return nameOf(content, audit, day);
  }
}

const HASH_DIGITS = 64;

/** The name of a text within its partition. */
export function nameOf(content: Hash, audit: 0 | 1, day: string): string {
  return `${content} ${audit} ${day}`;
}
