import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Whether a package that Assize does not depend on can be imported from here. */
export function isInstalled(specifier: string): boolean {
  try {
    import.meta.resolve(specifier);
    return true;
  } catch {
    return false;
  }
}

/** Imports an optional package. `isInstalled` tells beforehand whether the import can succeed. */
export async function importInstalled<Module>(specifier: string): Promise<Module> {
  return (await import(specifier)) as Module;
}

/** The folder of this package. */
export function installedFolder(): string {
  return dirname(fileURLToPath(import.meta.resolve('assize/package.json')));
}

/** The version of this package. */
export function installedVersion(): string {
  const path = join(installedFolder(), 'package.json');
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
}
