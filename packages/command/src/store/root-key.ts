import {
  anchorRoot,
  findRootKey,
  type RootKey,
  recoveryKeyOf,
  rootKeyOf,
} from 'assize/internal/config';
import type { EffectOptions } from 'assize/internal/runtime';
import { CliError, note } from '../errors.ts';
import { requireStoreFile } from './missing-store.ts';

/**
 * The root key that the environment names. Reading anchors needs no key beside a store: its public
 * key is in the anchors file.
 *
 * @throws ConfigError `bad_key`
 */
export function rootKeyInEnvironment(storeUrl: string): RootKey | undefined {
  const { ASSIZE_ROOT_KEY: key, ASSIZE_ROOT_KEY_FILE: file } = process.env;
  return key === undefined && file === undefined ? undefined : findRootKey(storeUrl);
}

/**
 * The root key of a store. A missing key is created beside a SQLite file. Its public key becomes an
 * anchor of the store.
 *
 * @throws ConfigError `root_key_missing`, `bad_key`, `bad_config`
 */
export function requireRootKey(storeUrl: string): RootKey {
  const root = rootKeyOf(storeUrl);
  if (root.created)
    note(
      `Created the root key ${root.file}. It grants all authority in this store: keep it secret.`,
    );
  anchorRoot(storeUrl, root.publicKey);
  return root;
}

/**
 * The root key of a store, as an anchor of it. `need` ends the sentence of the error without one.
 *
 * @throws CliError `store_not_found` for a missing file; `unreadable_file`, `usage` for files that
 * this user may not use, and without a root key; ConfigError
 */
export function anchoredRoot(
  storeUrl: string,
  need: string = '. Name the file of its root key in ASSIZE_ROOT_KEY_FILE.',
): RootKey {
  const root = forThisUser('read', () => findRootKey(storeUrl));
  if (root === undefined) {
    requireStoreFile(storeUrl);
    throw new CliError('usage', `The store has no root key${need}`);
  }
  forThisUser('written', () => anchorRoot(storeUrl, root.publicKey));
  return root;
}

/** The key and the anchors belong to the user of the store. @throws CliError */
function forThisUser<T>(does: 'read' | 'written', use: () => T): T {
  try {
    return use();
  } catch (cause) {
    const { code = '', path = 'The store' } = cause as NodeJS.ErrnoException;
    if (!['EACCES', 'EPERM', 'EROFS'].includes(code)) throw cause;
    throw new CliError(
      does === 'read' ? 'unreadable_file' : 'usage',
      `${path} cannot be ${does}: this user may not do it. Run the command as the user to whom the store belongs.`,
      { cause },
    );
  }
}

/** How people and agents use standing approvals of a store on a server. */
export const SERVED =
  'a server must authenticate its people. Run assize serve, and use assize api standing.ask or standing.end.';

/**
 * Refuses a name of the command line for a store on a server, where names must be authenticated.
 *
 * @throws CliError `usage`
 */
export function requireLocal(storeUrl: string, instead: string): void {
  if (/^postgres(?:ql)?:/.test(storeUrl))
    throw new CliError('usage', `The option --as is for local stores: ${instead}`);
}

/**
 * The key that authenticates the effect log of a store with a root key, as `createAssize` uses it.
 * A process with a signer derives its key from that.
 * Empty without a root key, and for a key that this user may not read.
 *
 * @throws ConfigError `bad_key`
 */
export function rootRecovery(storeUrl: string): Pick<EffectOptions, 'recoveryKey'> {
  try {
    const root = findRootKey(storeUrl);
    return root === undefined ? {} : { recoveryKey: recoveryKeyOf(root) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return {};
    throw error;
  }
}
