import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);

/** The installed version of each package, as Node finds it from here. */
export function versionsOf(...names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, versionOf(name)]));
}

function versionOf(name: string): string {
  for (const folder of require.resolve.paths(name) ?? []) {
    const file = join(folder, name, 'package.json');
    if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')).version;
  }
  throw new Error(`${name} is not installed beside ${dirname(import.meta.url)}`);
}
