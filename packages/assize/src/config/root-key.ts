import { generateKeys, type KeyPair } from '#canon';
import { type Environment, ownEnvironment } from './environment.ts';
import { ConfigError } from './errors.ts';
import { fileOfStore } from './file-of-store.ts';
import { createKeyFile, readKeyFile, readNamedKeyFile } from './key-file.ts';

/** The key pair that signs root writs of a store, and its origin. Its public key is an anchor. */
export interface RootKey extends KeyPair {
  /** `ephemeral`: a store in memory, whose key ends with the process. */
  readonly origin: 'environment' | 'file' | 'ephemeral';
  /** The file of the key, if it is in one. */
  readonly file?: string;
  /** Whether this call created the file. */
  readonly created: boolean;
  /** Private keys of before. Their seals of entries stay valid, and nothing else. */
  readonly earlier?: readonly string[];
}

let inMemory: KeyPair | undefined;

/** The environment variables of the root key. */
const KEY = 'ASSIZE_ROOT_KEY';
const KEY_FILE = 'ASSIZE_ROOT_KEY_FILE';

/**
 * The file of the root key beside a store, or beside the file of its cells. Undefined if neither is
 * a local file.
 */
export function rootKeyFile(storeUrl: string): string | undefined {
  const file = fileOfStore(storeUrl);
  return file && `${file}.root.key`;
}

/**
 * The root key of a store: that of the environment, else that in the file beside a SQLite store.
 * The file is created if it does not exist. Of several processes that create it, one wins, and all
 * get its key. The stores in memory of a process share a key that ends with it.
 *
 * @throws ConfigError `root_key_missing` for a store that is not local, `root_key_missing`,
 * `bad_key`; the errors of the system
 */
export function rootKeyOf(storeUrl: string, env: Environment = ownEnvironment()): RootKey {
  const found = findRootKey(storeUrl, env);
  if (found !== undefined) return found;
  if (storeUrl === 'memory:') {
    inMemory ??= generateKeys();
    return { ...inMemory, origin: 'ephemeral', created: false };
  }
  const file = rootKeyFile(storeUrl);
  if (file === undefined)
    throw new ConfigError(
      'root_key_missing',
      `The store has no root key, and a key is created only beside a SQLite file. Set ${KEY} to 64 hex digits, or ${KEY_FILE} to a file with them; assize writ key FILE makes such a file.`,
    );
  const { key, created } = createKeyFile(file);
  return { ...pairOf(key, `the file ${file}`), origin: 'file', file, created };
}

/**
 * Same as `rootKeyOf`, but creates no key. Undefined if there is none.
 *
 * @throws ConfigError `bad_key`; the errors of the system
 */
export function findRootKey(
  storeUrl: string,
  env: Environment = ownEnvironment(),
): RootKey | undefined {
  const { [KEY]: key, [KEY_FILE]: named } = env;
  if (key !== undefined && named !== undefined)
    throw badKey(`${KEY} and ${KEY_FILE} are both set. Unset one of them.`, KEY);
  if (key !== undefined) return { ...pairOf(key, KEY), origin: 'environment', created: false };
  if (named !== undefined) {
    const text = readNamedKeyFile(named);
    return {
      ...pairOf(text, `the file ${named} (${KEY_FILE})`),
      origin: 'file',
      file: named,
      created: false,
    };
  }
  const file = rootKeyFile(storeUrl);
  const text = file === undefined ? undefined : readKeyFile(file);
  if (file === undefined || text === undefined) return undefined;
  return { ...pairOf(text, `the file ${file}`), origin: 'file', file, created: false };
}

/**
 * One key, or several separated by white space or commas: the first is the root key, and the others
 * are earlier ones. The message has no part of the text, because it may be a key with a typing
 * error.
 */
function pairOf(text: string, source: string): KeyPair & Pick<RootKey, 'earlier'> {
  const [key = '', ...earlier] = text.trim().split(/[\s,]+/);
  if ([key, ...earlier].every((one) => /^[0-9a-f]{64}$/.test(one)))
    return { ...generateKeys(Buffer.from(key, 'hex')), earlier };
  throw badKey(`The root key of ${source} is not 64 lower-case hex digits.`, source);
}

function badKey(message: string, source: string): ConfigError {
  return new ConfigError('bad_key', message, { evidence: { source } });
}
