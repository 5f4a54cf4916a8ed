/**
 * The local file that a store URL names: that of a SQLite store, or the file of cells that share
 * one root key. Undefined for other stores.
 */
export function fileOfStore(storeUrl: string): string | undefined {
  const [, scheme, file] = /^(sqlite|cells):(.*)$/s.exec(storeUrl) ?? [];
  return scheme === 'cells' ? file?.replace(/\?cell=[^?]*$/, '') : file;
}
