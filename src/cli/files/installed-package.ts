import { readFileSync } from 'node:fs';
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

/** The version of this package. */
export function installedVersion(): string {
  const path = fileURLToPath(import.meta.resolve('assize/package.json'));
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
}
