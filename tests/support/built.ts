import { execFileSync } from 'node:child_process';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';

const root = join(import.meta.dirname, '../..');
/**
 * The variable with the folder in which the first test of a run leaves the built package for the
 * others. The folder is in the repository, because source maps name their sources from there.
 */
const KEPT = 'ASSIZE_BUILT';

/** Once for all processes of a run. */
export default function keepBuilt(): void {
  const folder = join(root, `dist-test-${process.pid}`);
  process.env[KEPT] = folder;
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
}

/**
 * The folder of the package as published. Callers must not change it. The build skips the type
 * check, because `npm run typecheck` has done it.
 */
export function builtPackage(): string {
  const kept = process.env[KEPT]!;
  if (existsSync(kept)) return kept;
  const mine = `${kept}-${process.pid}`;
  const build = join(root, 'scripts/build.ts');
  execFileSync(process.execPath, [build, basename(mine), '--noCheck'], { cwd: root, stdio: 'pipe' });
  try {
    renameSync(mine, kept);
  } catch (error) {
    rmSync(mine, { recursive: true });
    // Others may have been faster.
    if (!existsSync(kept)) throw error;
  }
  return kept;
}
