import type { ArchiveAccess } from './access.ts';
import { fileName, type SealedFile } from './segment-file.ts';

/**
 * Writes files, and reads each back. The database has a row of each file first, so a crash leaves
 * no file that a later process does not know. Returns the numbers of the files, or undefined if the
 * archive has another level.
 *
 * @throws StoreError
 */
export async function writeFiles(
  { writes, place, reader }: Pick<ArchiveAccess, 'writes' | 'place' | 'reader'>,
  level: number,
  sealed: readonly SealedFile[],
): Promise<number[] | undefined> {
  const numbers = await writes.beginFiles(
    { level, place: place.name },
    sealed.map(({ file }) => file),
  );
  if (numbers === undefined) return undefined;
  for (const [at, { file, bytes }] of sealed.entries()) {
    const numbered = { ...file, n: numbers[at]!, erasures: 0 };
    await place.write(fileName(numbered), bytes);
    await reader.check(numbered);
  }
  return numbers;
}

/** Deletes the discarded files, and then their rows. */
export async function removeFiles({
  reads,
  writes,
  place,
}: Pick<ArchiveAccess, 'reads' | 'writes' | 'place'>): Promise<void> {
  const discarded = (await reads.filesDue()).filter(({ due }) => due === 'remove');
  if (discarded.length === 0) return;
  for (const { file } of discarded) await place.remove(fileName(file));
  await writes.forgetFiles(discarded.map(({ file }) => file.n));
}
