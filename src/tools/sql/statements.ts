import { DidNothing } from '#effects';
import type { SqlConnection, SqlRow, SqlValue } from './port.ts';

export interface SqlStatement {
  readonly text: string;
  readonly values?: readonly SqlValue[];
}

/** A transaction is the tool's own: a statement that ends it would take away what it promises. */
const CONTROL = /^\s*(begin|start|commit|end|rollback|abort|savepoint|release|prepare\s+transaction)\b/i;

/** The rows of each, in their order. @throws DidNothing for one that would begin or end a transaction; what the database throws */
export async function runAll(
  connection: SqlConnection,
  statements: readonly SqlStatement[],
  signal: AbortSignal,
): Promise<(readonly SqlRow[])[]> {
  const rows: (readonly SqlRow[])[] = [];
  for (const { text, values = [] } of statements) {
    signal.throwIfAborted();
    if (CONTROL.test(text))
      throw new DidNothing(`a transaction is begun and ended here alone: ${text}`, { final: true });
    rows.push(await connection.query(text, values));
  }
  return rows;
}
