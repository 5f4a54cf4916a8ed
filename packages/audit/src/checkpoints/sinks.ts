import { open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { arg, checkArgument, isAssizeError } from 'assize/internal/base';
import { type Checkpoint, parseCheckpoint, parseNote } from 'assize/internal/merkle';
import { RuntimeError } from 'assize/internal/runtime';
import type { CheckpointSink } from './checkpoint.ts';

/**
 * Keeps the last checkpoint in a file. Put it on another disk than the database. The file is
 * replaced as a whole and synced. A larger checkpoint of the same log stays, because another
 * process has made it since; replacing it would hide the loss of the entries after this one. `put`
 * throws RuntimeError `bad_checkpoint` then.
 *
 * @throws ArgumentError `bad_argument`
 */
export function fileSink(path: string): CheckpointSink {
  checkArgument(arg.text, path, 'path');
  return {
    put: async (signed) => {
      const draft = `${path}.${process.pid}-${++drafts}.new`;
      try {
        await writeSynced(draft, signed);
        requireNotOlder(path, signed, await readCheckpointFile(path));
        await rename(draft, path);
      } catch (error) {
        await rm(draft, { force: true }).catch(() => undefined);
        throw error;
      }
      // The name is durable once its folder is synced.
      const folder = await open(dirname(path), 'r');
      try {
        await folder.sync();
      } finally {
        await folder.close();
      }
    },
  };
}

/** Counts drafts of this process: each call has its own draft file. */
let drafts = 0;

async function writeSynced(path: string, text: string): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

function requireNotOlder(path: string, signed: string, kept: string | undefined): void {
  const [ours, there] = [checkpointOf(signed), kept === undefined ? undefined : checkpointOf(kept)];
  if (
    ours === undefined ||
    there === undefined ||
    there.origin !== ours.origin ||
    there.size <= ours.size
  )
    return;
  throw new RuntimeError(
    'bad_checkpoint',
    `${path} has a newer checkpoint of ${ours.origin}, with ${there.size} entries instead of ${ours.size}. Make the checkpoint again.`,
    { evidence: { checkpoint: Number(there.size), log: Number(ours.size) }, retryable: true },
  );
}

/** Signatures are not checked here; the reader of the checkpoint checks them. */
function checkpointOf(signed: string): Checkpoint | undefined {
  try {
    return parseCheckpoint(parseNote(signed).text);
  } catch (error) {
    if (isAssizeError(error)) return undefined;
    throw error;
  }
}

/**
 * The checkpoint in a file; undefined if the file does not exist.
 *
 * @throws ArgumentError `bad_argument`
 */
export async function readCheckpointFile(path: string): Promise<string | undefined> {
  checkArgument(arg.text, path, 'path');
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Writes each checkpoint to a stream, such as standard output, for a system that stores the output.
 */
export function streamSink(write: (text: string) => void): CheckpointSink {
  return { put: async (signed) => write(signed) };
}
