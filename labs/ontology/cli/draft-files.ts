import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CliError, unreadable } from '@assize/command';

const SUFFIX = '.draft.ts';

export function draftFile(folder: string, name: string): string {
  return join(folder, `${name}${SUFFIX}`);
}

/** The store URL of a draft's ledger. */
export function recordOf(folder: string, name: string, record: string | undefined): string {
  return `sqlite:${record ?? join(folder, `${name}.draft.db`)}`;
}

/** The name of the only draft in a folder. @throws CliError */
export function draftIn(folder: string): string {
  if (statSync(folder, { throwIfNoEntry: false })?.isFile() === true)
    throw new CliError('usage', `${folder} is a file. Name its folder: ${dirname(folder)}.`);
  let files: string[];
  try {
    files = readdirSync(folder).filter((file) => file.endsWith(SUFFIX));
  } catch (cause) {
    throw unreadable(folder, cause);
  }
  const [only, second] = files;
  if (only === undefined || second !== undefined)
    throw new CliError(
      'not_found',
      `${folder} has ${files.length === 0 ? 'no draft' : `the drafts ${files.join(', ')}`}. Name a folder with one file NAME${SUFFIX}.`,
    );
  return only.slice(0, -SUFFIX.length);
}
