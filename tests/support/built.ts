import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

const root = join(import.meta.dirname, '../..');
/**
 * The variable with the folder in which the first test of a run leaves the built packages for the
 * others.
 */
const KEPT = 'ASSIZE_BUILT';

/** Once for all processes of a run. */
export default function keepBuilt(): void {
  const folder = join(root, `dist-test-${process.pid}`);
  process.env[KEPT] = folder;
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
}

/**
 * The folder with the packages as published. Callers must not change it. The build skips the type
 * check, because `npm run typecheck` has done it.
 */
export function builtPackages(): string {
  const kept = process.env[KEPT]!;
  if (existsSync(kept)) return kept;
  const mine = `${kept}-${process.pid}`;
  const build = join(root, 'scripts/build.ts');
  execFileSync(process.execPath, [build, basename(mine), '--noCheck'], {
    cwd: root,
    stdio: 'pipe',
  });
  try {
    renameSync(mine, kept);
  } catch (error) {
    rmSync(mine, { recursive: true });
    // Others may have been faster.
    if (!existsSync(kept)) throw error;
  }
  return kept;
}

/** Puts the built packages into a folder `node_modules`, with the libraries that they need. */
export function installBuilt(modules: string, also: readonly string[] = []): void {
  const libraries = new Set(also);
  for (const short of readdirSync(builtPackages())) {
    const folder = join(builtPackages(), short);
    const { name, dependencies = {} } = JSON.parse(
      readFileSync(join(folder, 'package.json'), 'utf8'),
    );
    for (const each of Object.keys(dependencies))
      if (!/^(@assize\/|assize$)/.test(each)) libraries.add(each);
    cpSync(folder, join(modules, name), { recursive: true });
  }
  for (const name of libraries) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), join(modules, name));
  }
}
