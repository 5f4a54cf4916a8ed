import { existsSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The real data is never copied into the project: `ASSIZE_DATA` names its folder, or it is next to
 * the repository.
 */
const root = process.env['ASSIZE_DATA'] ?? join(import.meta.dirname, '../../shared/data');

/** The path of a file or folder of the data. */
export function dataPath(...parts: readonly string[]): string {
  return join(root, ...parts);
}

/** Whether it is there. A test that needs data which is absent says so and is skipped. */
export function hasData(...parts: readonly string[]): boolean {
  return existsSync(dataPath(...parts));
}
