import { StoreError } from './errors.ts';
import type { OpenMode } from './options.ts';

/** Development versions of Assize wrote the schemas up to this version. No migration reads them. */
export const UNRELEASED_MAX = 100;

/** The schema version of a store after its first `n` migrations. */
export function versionAfter(n: number): number {
  return UNRELEASED_MAX + n;
}

/** The number of migrations that a store of this schema version has; 0 for a new store. */
export function migrationsIn(version: number): number {
  return Math.max(0, version - UNRELEASED_MAX);
}

/**
 * Rejects a store with a schema that this version of Assize neither supports nor migrates.
 *
 * @throws {StoreError} `store_other_schema`; `store_other_schema`
 */
export function checkVersion(
  path: string,
  version: number,
  supported: number,
  mode: OpenMode,
): void {
  if (version > supported) throw newerSchemaError(path, version, supported);
  if (version <= UNRELEASED_MAX) {
    throw new StoreError(
      'store_other_schema',
      `${path} has schema ${version} of a development version of Assize, which no later version reads. Export the store with the version that wrote it (assize export), and import the export into a new store (assize import).`,
      { evidence: { path, schema: version, supported } },
    );
  }
  if (version < supported && mode === 'readonly') {
    throw new StoreError(
      'store_other_schema',
      `${path} has schema ${version}, and a reader needs schema ${supported}. Open the store once for writing, which migrates it.`,
      { evidence: { path, schema: version, supported } },
    );
  }
}

/** The error for a store that a newer version of Assize created or migrated. */
export function newerSchemaError(path: string, version: number, supported: number): StoreError {
  return new StoreError(
    'store_other_schema',
    `${path} has schema ${version}, and this version of Assize supports schemas up to ${supported}. Open the store with a newer version.`,
    { evidence: { path, schema: version, supported } },
  );
}

/** `faults`: the objects of the database that differ from the schema. */
export function changedSchemaError(path: string, faults: readonly string[]): StoreError {
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : '';
  return new StoreError(
    'store_other_schema',
    `The schema of ${path} was changed: ${faults[0]}${more}. Undo the change or restore a backup, and check the store with assize verify --database.`,
    { evidence: { path, faults } },
  );
}
