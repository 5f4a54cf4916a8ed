import { CliError } from '@assize/command';
import { isAssizeError } from 'assize/internal/base';
import { findRootKey, rootKeyFile } from 'assize/internal/config';
import { openStore } from 'assize/internal/stores';
import { isCellsUrl, partsOfCellsUrl, readCellsFile } from '../index.ts';

/**
 * Refuses to create a root key for cells whose root log exists: another machine has the key, and
 * tokens and orders of a second key would not count there. Any other URL passes.
 *
 * @throws CliError `usage`; CellsError `bad_config`; the errors of the root store
 */
export async function requireCellsKey(storeUrl: string): Promise<void> {
  if (!isCellsUrl(storeUrl) || findRootKey(storeUrl) !== undefined) return;
  const { file, root } = readCellsFile(partsOfCellsUrl(storeUrl).file);
  if (!(await exists(root))) return;
  throw new CliError(
    'usage',
    `The root log of ${file} exists, and its root key is not on this machine. Copy ${rootKeyFile(storeUrl)} from the machine that has it, or name the file of the key in ASSIZE_ROOT_KEY_FILE.`,
  );
}

/**
 * Refuses a root log that does not exist, in the words of the command line.
 *
 * @throws CliError `store_not_found`; the errors of the root store
 */
export async function requireRootLog(storeUrl: string): Promise<void> {
  const { file, root } = readCellsFile(partsOfCellsUrl(storeUrl).file);
  if (await exists(root)) return;
  throw new CliError(
    'store_not_found',
    `The root log of ${file} does not exist yet. Check the member root, or begin with assize cells place TENANT --cell NAME.`,
  );
}

async function exists(url: string): Promise<boolean> {
  try {
    await (await openStore(url, { mode: 'readonly' })).close();
    return true;
  } catch (error) {
    if (isAssizeError(error, 'store_not_found')) return false;
    throw error;
  }
}
