/**
 * Statements on the caller's own database as tools, over a minimal port for any driver.
 * Guarantees: all buffered calls of a tool transaction on a database run in one database
 * transaction, with the keys of their effects in the table `assize_effects`. Therefore no reader
 * sees a part of them, and they have one effect for any number of attempts and failures. They are
 * compensated once. With staging (`stagedTimeoutMs`), that database transaction is open while the
 * body runs, and it is never committed if a repeated write returns another answer. Values are never
 * part of a statement's text.
 * Never: starts or ends a transaction other than its own; reuses a connection that could not be
 * rolled back.
 */
export { EFFECTS_TABLE } from './effect-rows.ts';
export type { SqlConnection, SqlDatabase, SqlRow, SqlValue } from './port.ts';
export { type SqlReaderOptions, sqlReader } from './sql-reader.ts';
export { type SqlToolOptions, sqlTool } from './sql-tool.ts';
export type { SqlStatement } from './statements.ts';
