import type { Json } from 'assize/internal/base';
import { canonicalize, parseCanonical } from 'assize/internal/canon';
import type { SqlConnection, SqlDatabase } from './port.ts';
import { TransactionEnded } from './still-open.ts';

/**
 * The table in the caller's database that records the effects in it, created if it is missing. A
 * key is 64 hex digits, in a column type that MySQL can index, with a quoted name. Older tables
 * have a text column, and stay as they are.
 */
export const EFFECTS_TABLE = `CREATE TABLE IF NOT EXISTS assize_effects (
  "key" VARCHAR(64) NOT NULL PRIMARY KEY,
  tool TEXT NOT NULL,
  result TEXT NOT NULL,
  undone INTEGER NOT NULL
)`;

/** The database's record of an effect. */
export interface EffectRow {
  readonly result: Json;
  readonly isUndone: boolean;
}

/**
 * The placeholder of an answer before the commit. No other transaction sees it, unless a statement
 * has ended the transaction.
 */
const UNANSWERED = '';

/**
 * The value of `undone`, and the placeholder while the compensation runs. No other transaction sees
 * that either.
 */
const UNDONE = 1;
const BEING_UNDONE = 2;

/** The rows of effects, in the connection's current transaction. */
export class EffectRows {
  readonly #connection: SqlConnection;
  readonly #mark: (n: number) => string;

  constructor(connection: SqlConnection, placeholders: NonNullable<SqlDatabase['placeholders']>) {
    this.#connection = connection;
    this.#mark = placeholders === '?' ? () => '?' : (n) => `$${n}`;
  }

  /**
   * The row of a key.
   * @throws TransactionEnded if the row has a placeholder: a write without an answer, or an
   * unfinished compensation
   */
  async of(key: string): Promise<EffectRow | undefined> {
    const text = `SELECT result, undone FROM assize_effects WHERE "key" = ${this.#mark(1)}`;
    const [row] = await this.#connection.query(text, [key]);
    if (row === undefined) return undefined;
    const undone = Number(row['undone']);
    if (row['result'] === UNANSWERED || undone === BEING_UNDONE) throw new TransactionEnded();
    return { result: parseCanonical(String(row['result'])), isUndone: undone === UNDONE };
  }

  /** Fails if the key exists already, so two concurrent attempts have one effect. */
  async add(key: string, tool: string): Promise<void> {
    const marks = [1, 2, 3, 4].map((n) => this.#mark(n)).join(', ');
    const text = `INSERT INTO assize_effects ("key", tool, result, undone) VALUES (${marks})`;
    await this.#connection.query(text, [key, tool, UNANSWERED, 0]);
  }

  async answer(key: string, result: Json): Promise<void> {
    const text = `UPDATE assize_effects SET result = ${this.#mark(1)} WHERE "key" = ${this.#mark(2)}`;
    await this.#connection.query(text, [canonicalize(result), key]);
  }

  /** A concurrent attempt waits here until this transaction has ended, and then sees its result. */
  async lock(key: string): Promise<void> {
    await this.#connection.query(
      `UPDATE assize_effects SET undone = undone WHERE "key" = ${this.#mark(1)}`,
      [key],
    );
  }

  /** Called before the compensating statements. */
  undoing(key: string): Promise<void> {
    return this.#setUndone(key, BEING_UNDONE);
  }

  undo(key: string): Promise<void> {
    return this.#setUndone(key, UNDONE);
  }

  async #setUndone(key: string, to: number): Promise<void> {
    await this.#connection.query(
      `UPDATE assize_effects SET undone = ${to} WHERE "key" = ${this.#mark(1)}`,
      [key],
    );
  }
}
