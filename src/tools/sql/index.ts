/**
 * Statements on the caller's own database as a tool, over a minimal port for any driver.
 *
 * Guarantees: what one call does is one transaction of the database, with the key of the effect in it, in the table
 * `assize_effects`: so it is done once, however often it is called and whatever is lost; and undone once. Values are never a part of a
 * statement's text.
 *
 * Never: begins or ends a transaction that is not its own; uses a connection again that could not be rolled back.
 */
export { EFFECTS_TABLE } from './effect-rows.ts';
export type { SqlConnection, SqlDatabase, SqlRow, SqlValue } from './port.ts';
export { type SqlReaderOptions, sqlReader } from './sql-reader.ts';
export { type SqlToolOptions, sqlTool } from './sql-tool.ts';
export type { SqlStatement } from './statements.ts';
