import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A folder that is removed when it is disposed of. The folder is in memory if the machine has such
 * a place: no disk is measured here.
 */
export interface Scratch extends AsyncDisposable {
  readonly path: string;
}

export async function openScratch(): Promise<Scratch> {
  const path = await mkdtemp(
    join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'assize-faults-'),
  );
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
