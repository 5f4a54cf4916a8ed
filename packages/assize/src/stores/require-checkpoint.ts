import { readFile } from 'node:fs/promises';
import { isAssizeError } from '#base';
import { compareWithHead, comparisonFault, type LogStore } from '#ledger';
import { type Checkpoint, parseCheckpoint, parseNote } from '#merkle';
import { StoreError } from './errors.ts';

/**
 * Rejects a store that is behind the checkpoint in a file, or apart from it. Such a store lost its
 * end or was replaced by an older copy. Its own chains cannot show that.
 *
 * A missing file means no checkpoint. The function does not verify the signature, because an
 * attacker with write access to the file can also remove it. `fsck` and `audit` verify the
 * signature.
 *
 * @throws StoreError `bad_checkpoint`
 */
export async function requireCheckpoint(store: LogStore, file: string): Promise<void> {
  const checkpoint = await readCheckpoint(file);
  if (checkpoint === undefined) return;
  const standing = await compareWithHead(store, checkpoint);
  const fault = comparisonFault(standing, checkpoint);
  if (fault === undefined) return;
  throw new StoreError('bad_checkpoint', `${fault} (checkpoint: ${file})`, {
    evidence: { file, checkpoint: Number(checkpoint.size), log: standing.size },
  });
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
    'bad_checkpoint',
    `The store's checkpoint cannot be read, so a lost end of the store would go unnoticed: ${what} (${file})`,
    { evidence: { file }, cause },
  );
}
