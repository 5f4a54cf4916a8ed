import { realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isUnder, readPath } from '#gateway';
import { repositoryOf } from './repository.ts';

/**
 * The folder of the project in which a folder is: the repository of git around it, or else the
 * folder itself. Undefined if rules cannot name that folder, and for the home of the person and the
 * folders above it: what is there belongs to no project.
 */
export async function projectOf(cwd: string): Promise<string | undefined> {
  const real = await realpath(cwd).catch(() => cwd);
  const read = readPath(repositoryOf(real) ?? real);
  return 'value' in read && !isUnder(homedir(), read.value) ? read.value : undefined;
}
