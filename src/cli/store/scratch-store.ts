import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore, type Store } from '#stores';
import { unwritable } from '../files/file-faults.ts';

/**
 * Runs the work with an empty store in a private temporary folder, and removes the folder after the
 * work. The folder is in `TMPDIR`, which needs space for everything that the work writes.
 *
 * @throws CliError `usage` if the temporary folder cannot be created
 */
export async function withScratchStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
  const folder = newFolder();
  try {
    const store = await openStore(`sqlite:${join(folder, 'scratch.db')}`, { mode: 'create' });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Created with mode 0700, so other users cannot read the values. */
function newFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'assize-scratch-'));
  } catch (error) {
    throw unwritable(tmpdir(), error, 'Set TMPDIR to a folder for temporary files');
  }
}
