/**
 * Export and import of whole ledgers as JSON Lines. The same ledger has the same bytes in every
 * store.
 */
export { ExportError, type ExportErrorCode } from './errors.ts';
export { IMPORT_GROUP, type ImportOptions, type ImportReport, importLines } from './import.ts';
export { type ExportedEntry, readExport } from './read.ts';
export { splitLines } from './split-lines.ts';
export { type ExportedStore, type ExportOptions, exportLines } from './write.ts';
