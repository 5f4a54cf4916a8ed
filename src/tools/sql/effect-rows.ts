import type { Json } from '#base';
import { canonicalize, parseCanonical } from '#canon';
import type { SqlConnection, SqlDatabase } from './port.ts';
import { TransactionEnded } from './still-open.ts';

/**
 * The table in the caller's database that says which effects have happened there. It is made where it is missing. A key is 64 hex digits, in a
 * column that MySQL can have an index of, by a name that it has for a word unless it is quoted. Tables of before, where it is a text, stay as they are.
 */
export const EFFECTS_TABLE = `CREATE TABLE IF NOT EXISTS assize_effects (
  "key" VARCHAR(64) NOT NULL PRIMARY KEY,
  tool TEXT NOT NULL,
  result TEXT NOT NULL,
  undone INTEGER NOT NULL
)`;

/** What the database says of an effect. */
export interface EffectRow {
  readonly result: Json;
  readonly isUndone: boolean;
}

/** Stands for an answer until there is one, which is before the commit: nobody ever sees it, unless a statement has ended the transaction. */
const UNANSWERED = '';

/** As `undone`; and what stands there while it is being undone, which is as little to be seen. */
const UNDONE = 1;
const BEING_UNDONE = 2;

/** The rows of effects, in whatever transaction the connection is in. */
export class EffectRows {
  readonly #connection: SqlConnection;
  readonly #mark: (n: number) => string;

  constructor(connection: SqlConnection, placeholders: NonNullable<SqlDatabase['placeholders']>) {
    this.#connection = connection;
    this.#mark = placeholders === '?' ? () => '?' : (n) => `$${n}`;
  }

  /** @throws TransactionEnded where it was written, and never answered, or was to be undone, and was not */
  async of(key: string): Promise<EffectRow | undefined> {
    const text = `SELECT result, undone FROM assize_effects WHERE "key" = ${this.#mark(1)}`;
    const [row] = await this.#connection.query(text, [key]);
    if (row === undefined) return undefined;
    const undone = Number(row['undone']);
    if (row['result'] === UNANSWERED || undone === BEING_UNDONE) throw new TransactionEnded();
    return { result: parseCanonical(String(row['result'])), isUndone: undone === UNDONE };
  }

  /** Fails where the key is there already: two who do the same at once do it once. */
  async add(key: string, tool: string): Promise<void> {
    const marks = [1, 2, 3, 4].map((n) => this.#mark(n)).join(', ');
    const text = `INSERT INTO assize_effects ("key", tool, result, undone) VALUES (${marks})`;
    await this.#connection.query(text, [key, tool, UNANSWERED, 0]);
  }

  async answer(key: string, result: Json): Promise<void> {
    const text = `UPDATE assize_effects SET result = ${this.#mark(1)} WHERE "key" = ${this.#mark(2)}`;
    await this.#connection.query(text, [canonicalize(result), key]);
  }

  /** Whoever does the same at once waits here until this transaction has ended, and sees then what it has done. */
  async lock(key: string): Promise<void> {
    await this.#connection.query(`UPDATE assize_effects SET undone = undone WHERE "key" = ${this.#mark(1)}`, [key]);
  }

  /** Before what undoes it. */
  undoing(key: string): Promise<void> {
    return this.#setUndone(key, BEING_UNDONE);
  }

  undo(key: string): Promise<void> {
    return this.#setUndone(key, UNDONE);
  }

  async #setUndone(key: string, to: number): Promise<void> {
    await this.#connection.query(`UPDATE assize_effects SET undone = ${to} WHERE "key" = ${this.#mark(1)}`, [key]);
  }
}
