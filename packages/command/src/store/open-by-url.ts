import { existsSync } from 'node:fs';
import { findRootKey, type RootKey, rootKeyOf } from 'assize/internal/config';
import { openStore, type StoreOptions, sealKeys } from 'assize/internal/stores';
import { note } from '../errors.ts';
import { type OpenByUrlOptions, type OpenedStore, storeFormOf } from '../feature.ts';

/** The root key that seals the entries of a store. A new local store gets one. */
function sealingKey(url: string, mode: StoreOptions['mode']): RootKey | undefined {
  try {
    const isNew =
      mode === 'create' && url.startsWith('sqlite:') && !existsSync(url.slice('sqlite:'.length));
    const root = isNew ? rootKeyOf(url) : findRootKey(url);
    if (root?.created)
      note(
        `Created the root key ${root.file}. It grants all authority in this store: keep it secret.`,
      );
    return root;
  } catch (error) {
    // A reader of the store need not be a reader of its key.
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return undefined;
    throw error;
  }
}

/**
 * The store of a URL, in a form of `openStore` or of a feature.
 *
 * @throws CliError; the errors of the feature and of `openStore`
 */
export async function openByUrl(
  url: string,
  { root: wantsRoot = false, ...given }: OpenByUrlOptions,
): Promise<OpenedStore> {
  const root = sealingKey(url, given.mode);
  const options = { ...given, ...sealKeys(root) };
  const form = await storeFormOf(url);
  if (form !== undefined) return form.open(url, { ...options, root: wantsRoot }, root);
  return { store: await openStore(url, options), explained: (error) => error };
}
