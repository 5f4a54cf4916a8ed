import { open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { form, requireForm } from '#canon';
import type { CheckpointSink } from './checkpoint.ts';

/**
 * Keeps the last checkpoint in a file, which belongs on another disk than the database; replaced whole and synced.
 *
 * @throws ArgumentError `bad_argument`
 */
export function fileSink(path: string): CheckpointSink {
  requireForm(form.text, path, 'path');
  return {
    put: async (signed) => {
      const draft = `${path}.${process.pid}.new`;
      const file = await open(draft, 'w', 0o644);
      try {
        await file.writeFile(signed);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(draft, path);
      // The name is durable when its folder is.
      const folder = await open(dirname(path), 'r');
      try {
        await folder.sync();
      } finally {
        await folder.close();
      }
    },
  };
}

/**
 * The checkpoint in a file; undefined where there is no such file.
 *
 * @throws ArgumentError `bad_argument`
 */
export async function readCheckpointFile(path: string): Promise<string | undefined> {
  requireForm(form.text, path, 'path');
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Writes each checkpoint to a stream, such as standard output, for whoever keeps what is printed. */
export function streamSink(write: (text: string) => void): CheckpointSink {
  return { put: async (signed) => write(signed) };
}
