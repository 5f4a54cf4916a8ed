import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Workshop } from './binaries.ts';

/**
 * The path at which the first server of a test run leaves a copy of its data, as `initdb` made it.
 * Copying that takes a fraction of the time.
 */
const KEPT = 'ASSIZE_KEPT_CLUSTER';

/** Once for all processes of a run. */
export default function keepCluster(): void {
  const folder = mkdtempSync(join(tmpdir(), 'assize-cluster-'));
  process.env[KEPT] = join(folder, 'data');
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
}

/** Makes the data of a server that has no database of its own. */
export function makeCluster(workshop: Workshop, data: string): void {
  const { folder, as } = workshop;
  if (as.uid !== undefined) chownSync(folder, as.uid, as.gid!);
  const kept = process.env[KEPT];
  if (kept !== undefined && existsSync(kept)) {
    copyCluster(kept, data);
  } else {
    initialise(workshop, data);
    if (kept !== undefined) keep(data, kept);
  }
}

function initialise({ folder, initdb, as }: Workshop, data: string): void {
  const args = [
    '--no-sync',
    '--no-instructions',
    '--auth=trust',
    '--username=postgres',
    '--encoding=UTF8',
  ];
  const made = spawnSync(initdb, [...args, '--locale=C', '-D', data], {
    cwd: folder,
    encoding: 'utf8',
    ...as,
  });
  if (made.status !== 0) throw new Error(`initdb failed: ${made.error ?? made.stderr}`);
}

/** Whole or not at all, and once: others may be at it as well. */
function keep(data: string, kept: string): void {
  const mine = `${kept}-${process.pid}`;
  copyCluster(data, mine);
  try {
    renameSync(mine, kept);
  } catch (error) {
    rmSync(mine, { recursive: true });
    if (!existsSync(kept)) throw error;
  }
}

/** Copies the data of a server with owner and rights. */
export function copyCluster(from: string, to: string): void {
  const made = spawnSync('cp', ['-a', from, to], { encoding: 'utf8' });
  if (made.status !== 0)
    throw new Error(`data of a server could not be copied: ${made.error ?? made.stderr}`);
}
