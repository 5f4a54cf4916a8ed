import { realpath } from 'node:fs/promises';
import { readPath } from '#gateway';
import { repositoryOf } from './repository.ts';

/**
 * The folder of the project in which a folder is: the repository of git around it, or else the
 * folder itself. Undefined if rules cannot name that folder.
 */
export async function projectOf(cwd: string): Promise<string | undefined> {
  const real = await realpath(cwd).catch(() => cwd);
  const read = readPath(repositoryOf(real) ?? real);
  return 'value' in read ? read.value : undefined;
}
