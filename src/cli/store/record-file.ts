import { openStore, type Store } from '#stores';
import { CliError } from '../errors.ts';

/**
 * Work with the store of `--record`, a SQLite file that keeps answers. The store is undefined
 * without the option.
 *
 * @throws CliError `usage`; StoreError; the errors of the work
 */
export async function recordingTo<T>(
  file: string | undefined,
  work: (record: Store | undefined) => Promise<T>,
): Promise<T> {
  if (file === undefined) return work(undefined);
  if (file.includes('://') || file.startsWith('sqlite:'))
    throw new CliError('usage', 'The option --record names a file, not a URL. Pass --record FILE.db.');
  const record = await openStore(`sqlite:${file}`);
  try {
    return await work(record);
  } finally {
    await record.close();
  }
}
