/**
 * Statements on the caller's own database as tools, over a minimal port for any driver.
 *
 * Guarantees: all that a transaction of tools holds for a database is one transaction there, with the keys of the effects in it, in the
 * table `assize_effects`: so nobody sees a part of it, and it is done once, however often it is called and whatever is lost; and undone
 * once. Where the database is held (`heldMs`), that transaction is open while the body runs, and what it would answer otherwise later is
 * never done. Values are never a part of a statement's text.
 *
 * Never: begins or ends a transaction that is not its own; uses a connection again that could not be rolled back.
 */
export { EFFECTS_TABLE } from './effect-rows.ts';
export type { SqlConnection, SqlDatabase, SqlRow, SqlValue } from './port.ts';
export { type SqlReaderOptions, sqlReader } from './sql-reader.ts';
export { type SqlToolOptions, sqlTool } from './sql-tool.ts';
export type { SqlStatement } from './statements.ts';
