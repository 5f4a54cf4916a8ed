import { execFileSync } from 'node:child_process';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';

const root = join(import.meta.dirname, '../..');
/** Where the first test of a run that needs the package leaves it for the others: in the repository, as maps name their sources from there. */
const KEPT = 'ASSIZE_BUILT';

/** Once for all processes of a run. */
export default function keepBuilt(): void {
  const folder = join(root, `dist-test-${process.pid}`);
  process.env[KEPT] = folder;
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
}

/** The folder of the package as it is published, and not to be changed. What is built is not checked again: `npm run typecheck` has. */
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
