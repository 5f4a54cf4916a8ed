import { readFile } from 'node:fs/promises';
import { isAssizeError } from '#base';
import { type LogStore, standingFault, standingOf } from '#ledger';
import { type Checkpoint, parseCheckpoint, parseNote } from '#merkle';
import { StoreError } from './errors.ts';

/**
 * Refuses a store that is behind the checkpoint in a file, or apart from it: its end was cut off, or an older copy was put
 * in its place, which its own chains can't show. No file is no checkpoint. The signature is not looked at: whoever can write
 * the file can as well remove it; `fsck` and `audit` look.
 *
 * @throws StoreError `store_behind_checkpoint`, `store_apart_from_checkpoint`, `store_bad_checkpoint`
 */
export async function requireCheckpoint(store: LogStore, file: string): Promise<void> {
  const checkpoint = await readCheckpoint(file);
  if (checkpoint === undefined) return;
  const standing = await standingOf(store, checkpoint);
  const fault = standingFault(standing, checkpoint);
  if (fault === undefined) return;
  throw new StoreError(
    standing.stands === 'behind' ? 'store_behind_checkpoint' : 'store_apart_from_checkpoint',
    `${fault} (checkpoint: ${file})`,
    { evidence: { file, checkpoint: Number(checkpoint.size), log: standing.size } },
  );
}

async function readCheckpoint(file: string): Promise<Checkpoint | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw bad(file, (cause as Error).message, cause);
  }
  try {
    return parseCheckpoint(parseNote(text).text);
  } catch (cause) {
    if (!isAssizeError(cause)) throw cause;
    throw bad(file, cause.message, cause);
  }
}

function bad(file: string, what: string, cause: unknown): StoreError {
  return new StoreError(
    'store_bad_checkpoint',
    `The store's checkpoint can't be read, so nobody can tell whether its end is there: ${what} (${file})`,
    { evidence: { file }, cause },
  );
}
