import { existsSync, readFileSync } from 'node:fs';
import module from 'node:module';
import { dirname, join } from 'node:path';

/** Whether a package that Assize does not depend on can be imported from here. */
export function isInstalled(specifier: string): boolean {
  try {
    import.meta.resolve(specifier);
    return true;
  } catch {
    return false;
  }
}

/** The folder of this package. */
function installedFolder(): string {
  return dirname(module.findPackageJSON(import.meta.url)!);
}

/** The folder of the repository, if this is a clone and no installed package. */
export function cloneFolder(): string | undefined {
  const folder = join(installedFolder(), '../..');
  return existsSync(join(folder, 'scripts/build.ts')) ? folder : undefined;
}

/** The version of this package. */
export function installedVersion(): string {
  const path = join(installedFolder(), 'package.json');
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
}
