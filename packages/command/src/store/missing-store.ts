import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { CliError } from '../errors.ts';

/** The error for a store that does not exist, in the words of the command line. */
export function missingStore(path: string, cause?: unknown): CliError {
  const agents = join(homedir(), '.assize', 'assize.config.json');
  const next = existsSync(agents)
    ? `The server of your agents has --config ${agents}`
    : 'Create a sample store with assize demo';
  return new CliError(
    'store_not_found',
    `The store ${path} does not exist. Pass another one with --store. ${next}.`,
    {
      cause,
    },
  );
}

/**
 * Refuses a missing file before a check of the keys beside it. Any other store says so when it is
 * opened.
 *
 * @throws CliError `store_not_found`
 */
export function requireStoreFile(storeUrl: string): void {
  const path = storeUrl.startsWith('sqlite:') ? storeUrl.slice('sqlite:'.length) : '';
  if (path !== '' && !existsSync(path)) throw missingStore(path);
}
