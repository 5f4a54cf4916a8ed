import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  type Stats,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { generateKeys } from '#canon';
import { systemRandom } from '#oracle';
import { ConfigError } from './errors.ts';

/** Only the owner reads and writes. */
const KEY_MODE = 0o600;
const OF_OTHERS = 0o077;
/** A key with a few earlier ones, a line each. */
const KEY_BYTES_MAX = 1_024;
const DRAFT = /^\.[0-9a-f]{16}\.draft$/;

/**
 * Creates a file with a new private key, or reads the one that is there. The file gets its name
 * when its content is durable, so no process reads half a key. Of several processes, the first
 * gives the file its name.
 *
 * @throws ConfigError `root_key_missing`, `bad_key`; the errors of the system
 */
export function createKeyFile(path: string): { readonly key: string; readonly created: boolean } {
  const { privateKey } = generateKeys();
  const draft = `${path}.${Buffer.from(systemRandom.bytes(8)).toString('hex')}.draft`;
  const created = publish(openedDraft(draft, path), draft, path, `${privateKey}\n`);
  // Also read after a creation: the file then passes the same checks as at each later start.
  const key = readKeyFile(path);
  if (key === undefined) throw unsafe(path, 'it was removed while it was created');
  return { key, created };
}

function openedDraft(draft: string, path: string): number {
  try {
    return openSync(draft, 'wx', KEY_MODE);
  } catch (cause) {
    const why = UNWRITABLE[(cause as NodeJS.ErrnoException).code ?? ''];
    if (why === undefined) throw cause;
    throw new ConfigError(
      'root_key_missing',
      `The root key ${path} cannot be created: ${why}. Choose another folder for the store, or set ASSIZE_ROOT_KEY_FILE to an existing key.`,
      { cause, evidence: { file: path } },
    );
  }
}

const UNWRITABLE: Readonly<Record<string, string>> = {
  EACCES: 'this user may not write into its folder',
  EPERM: 'this user may not write into its folder',
  EROFS: 'its file system is read-only',
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'its folder does not exist',
};

/** Returns false if the name is taken. */
function publish(file: number, draft: string, path: string, text: string): boolean {
  try {
    writeFileSync(file, text);
    fsyncSync(file);
    // A hard link never replaces a file, unlike a renaming.
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  } finally {
    closeSync(file);
    removeDraft(draft);
  }
  syncFolder(dirname(path));
  return true;
}

/**
 * The text of the key file beside a store. Undefined if there is no file.
 *
 * @throws ConfigError `bad_key` for a link, a file with a second name, a file of another user, and
 * a file that others may read or write; the errors of the system
 */
export function readKeyFile(path: string): string | undefined {
  return reading(path, constants.O_NOFOLLOW ?? 0, (stats) => {
    requireOwn(path, stats);
    if (stats.nlink > 1 && !dropDrafts(path, stats))
      throw unsafe(path, 'it has a second name (a hard link)');
  });
}

/**
 * The text of a file that the configuration names. It may be a link, as secrets of containers are.
 *
 * @throws ConfigError `bad_key` if the file does not exist, `bad_key`; the errors of the system
 */
export function readNamedKeyFile(path: string): string {
  const text = reading(path, 0, (stats) => requireOwn(path, stats));
  if (text !== undefined) return text;
  throw new ConfigError('bad_key', `The file ${path} of ASSIZE_ROOT_KEY_FILE does not exist.`, {
    evidence: { source: path },
  });
}

/** Checks the open file, not the path: another file could be at the path a moment later. */
function reading(path: string, flags: number, check: (stats: Stats) => void): string | undefined {
  const file = openedFor(path, flags);
  if (file === undefined) return undefined;
  try {
    check(fstatSync(file));
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

function openedFor(path: string, flags: number): number | undefined {
  try {
    // A pipe would otherwise block the process.
    return openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | flags);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    if (code === 'ELOOP' || code === 'EMLINK') throw unsafe(path, 'it is a symbolic link');
    throw error;
  }
}

function requireOwn(path: string, { mode, uid, size }: Stats): void {
  const user = process.getuid?.();
  if ((mode & constants.S_IFMT) !== constants.S_IFREG)
    throw unsafe(path, 'it is not a regular file');
  if (size > KEY_BYTES_MAX) throw unsafe(path, 'it is larger than a key');
  // On Windows, modes say nothing about other users.
  if (user === undefined) return;
  if ((mode & OF_OTHERS) !== 0) throw unsafe(path, `its mode is ${(mode & 0o777).toString(8)}`);
  if (uid !== user && uid !== 0) throw unsafe(path, 'it belongs to another user');
}

/**
 * A creator that ended between two steps left its draft: a second name of the same file. Returns
 * whether the file has one name without drafts.
 */
function dropDrafts(path: string, { ino, dev }: Stats): boolean {
  const folder = dirname(path);
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(basename(path)) || !DRAFT.test(name.slice(basename(path).length)))
      continue;
    const draft = join(folder, name);
    const found = lstatSync(draft, { throwIfNoEntry: false });
    if (found?.ino === ino && found.dev === dev) removeDraft(draft);
  }
  const left = lstatSync(path, { throwIfNoEntry: false });
  return left?.ino === ino && left.nlink === 1;
}

/** Another process may have removed it. */
function removeDraft(draft: string): void {
  try {
    unlinkSync(draft);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function unsafe(file: string, why: string): ConfigError {
  return new ConfigError(
    'bad_key',
    `The root key ${file} is not safe: ${why}. Make it a regular file of this user with mode 600; change the key if others may know it.`,
    { evidence: { file } },
  );
}
