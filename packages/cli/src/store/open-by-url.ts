import { existsSync } from 'node:fs';
import { findRootKey, type RootKey, rootKeyOf } from 'assize/internal/config';
import { openStore, type Store, type StoreOptions, sealKeys } from 'assize/internal/stores';
import { CliError, described, note } from '../errors.ts';

/** An open store, with the words for its errors. */
export interface OpenedStore {
  readonly store: Store;
  /** An error in the words of the root log, if the store is of a cell and an order is the cause. */
  readonly explained: (error: unknown) => unknown;
}

const asItIs = (error: unknown): unknown => error;

/** The root key that seals the entries of a store. A new local store gets one. */
function sealingKey(url: string, mode: StoreOptions['mode']): RootKey | undefined {
  try {
    const isNew = mode === 'create' && url.startsWith('sqlite:') && !existsSync(url.slice('sqlite:'.length));
    const root = isNew ? rootKeyOf(url) : findRootKey(url);
    if (root?.created)
      note(`Created the root key ${root.file}. It grants all authority in this store: keep it secret.`);
    return root;
  } catch (error) {
    // A reader of the store need not be a reader of its key.
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return undefined;
    throw error;
  }
}

/** Whether a URL names the root log of several cells, and none of the cells. */
export function isRootLog(url: string): boolean {
  return url.startsWith('cells:') && !url.includes('?cell=');
}

/**
 * The store of a URL. `cells:FILE` is the store of the root log, and `cells:FILE?cell=NAME` the one
 * of a cell, which refuses what the root log does not allow.
 *
 * @throws CliError `usage` without the root key of the cells; CellsError; the errors of `openStore`
 */
export async function openByUrl(
  url: string,
  { root: wantsRoot = false, ...given }: StoreOptions & { readonly root?: boolean },
): Promise<OpenedStore> {
  const root = sealingKey(url, given.mode);
  const options = { ...given, ...sealKeys(root) };
  const plain = async (opening: Promise<Store>) => ({ store: await opening, explained: asItIs });
  if (!url.startsWith('cells:')) return plain(openStore(url, options));
  const { explainedHalt, openCell, partsOfCellsUrl, readCellsFile } = await import('@assize/cells/internal');
  const { file: path, cell } = partsOfCellsUrl(url);
  const file = readCellsFile(path);
  const { archive: _, ...others } = options;
  if (cell === undefined || wantsRoot) return plain(openStore(file.root, others));
  const place = file.cells.find(({ name }) => name === cell);
  if (place !== undefined && options.mode === 'readonly')
    return plain(openStore(place.store, { ...others, archive: place.archive }));
  if (root === undefined)
    throw new CliError('usage', 'A cell follows the root log by its root key. Set ASSIZE_ROOT_KEY_FILE to its file.');
  const { store, watch } = await openCell(url, {
    root,
    ...others,
    onFailure: (error) => note(described(error).message),
  });
  return { store, explained: (error) => explainedHalt(error, watch) };
}
