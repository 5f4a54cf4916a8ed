import { statSync } from 'node:fs';
import { CliError } from '@assize/command';
import { openStore, type Store } from 'assize/internal/stores';

/**
 * Runs the work with the store of `--record`, a SQLite file that keeps answers, and closes the
 * store. Without the option the work gets none.
 *
 * @throws CliError `usage`; StoreError; the errors of the work
 */
export async function recordingTo<T>(
  file: string | undefined,
  work: (record: Store | undefined) => Promise<T>,
): Promise<T> {
  if (file === undefined) return work(undefined);
  if (file.includes('://') || file.startsWith('sqlite:'))
    throw new CliError(
      'usage',
      'The option --record names a file, not a URL. Pass --record FILE.db.',
    );
  await requireNoTrajectories(file);
  const record = await openStore(`sqlite:${file}`);
  try {
    return await work(record);
  } finally {
    await record.close();
  }
}

/**
 * Refuses the production store, and any other store with trajectories, before it is opened to be
 * written.
 *
 * @throws CliError `usage`
 */
async function requireNoTrajectories(file: string): Promise<void> {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0) return;
  const store = await openStore(`sqlite:${file}`, { mode: 'readonly', checkpoint: false });
  try {
    if ((await store.trajectories()).length === 0) return;
  } finally {
    await store.close();
  }
  throw new CliError(
    'usage',
    `The file ${file} of --record is a store with trajectories, and answers need a file of their own. Pass another file.`,
  );
}
