import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from '../../errors.ts';
import { openDatabase } from '../connection/database.ts';

/**
 * The path of the loadable library of the package `sqlite-vec`. The package is an optional peer,
 * and only this function imports it.
 *
 * The function loads the library once into a database in memory. Later connections can therefore
 * load it too.
 *
 * @throws {StoreError} `missing_package` if the package is not installed, or cannot be loaded on
 * this machine
 */
export async function sqliteVecPath(): Promise<string> {
  const { getLoadablePath } = await importPackage();
  try {
    const path = getLoadablePath();
    const db = openDatabase(':memory:', { allowExtension: true });
    try {
      loadSqliteVec(db, path);
    } finally {
      db.close();
    }
    return path;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new StoreError(
      'missing_package',
      `sqlite-vec cannot be loaded on this machine (${why}). Install sqlite-vec, or use exact vectors: they find the same facts.`,
      { cause },
    );
  }
}

/**
 * Loads the functions of the library into a connection that allows extensions, and then disables
 * extensions.
 */
export function loadSqliteVec(db: DatabaseSync, path: string): void {
  try {
    db.loadExtension(path);
  } finally {
    db.enableLoadExtension(false);
  }
}

async function importPackage(): Promise<{ readonly getLoadablePath: () => string }> {
  try {
    return await import('sqlite-vec');
  } catch (cause) {
    if (!(cause instanceof Error) || !('code' in cause) || cause.code !== 'ERR_MODULE_NOT_FOUND')
      throw cause;
    throw new StoreError(
      'missing_package',
      'The package sqlite-vec is not installed. Run npm install sqlite-vec, or use exact vectors: they find the same facts.',
      { cause },
    );
  }
}
