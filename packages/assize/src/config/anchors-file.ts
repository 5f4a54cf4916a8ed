import {
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { isAssizeError } from '#base';
import { assertPublicKey, canonicalize, parseStrict } from '#canon';
import { ConfigError } from './errors.ts';
import { fileOfStore } from './file-of-store.ts';

/** A writer of the file can grant authority. */
const ANCHORS_MODE = 0o644;

/** The file of a store's trusted root keys. Undefined if the store has no local file. */
export function anchorsFile(storeUrl: string): string | undefined {
  const file = fileOfStore(storeUrl);
  return file && `${file}.anchors.json`;
}

/**
 * Adds the public key of a root to the file beside the store. Commands read it when they have no
 * private key. A file that has the key is not changed.
 *
 * @throws ConfigError `bad_config`; the errors of the system
 */
export function anchorRoot(storeUrl: string, publicKey: string): void {
  const path = anchorsFile(storeUrl);
  if (path === undefined) return;
  const known = anchorsIn(path);
  if (!known.includes(publicKey)) replace(path, `${canonicalize([...known, publicKey])}\n`);
}

function anchorsIn(path: string): readonly string[] {
  try {
    const keys = parseStrict(readFileSync(path));
    if (!Array.isArray(keys)) throw new ConfigError('bad_config', 'it is not a list');
    for (const key of keys) assertPublicKey(key);
    return keys as string[];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    if (!isAssizeError(error)) throw error;
    throw new ConfigError(
      'bad_config',
      `${path} must be a JSON list of public keys: ${error.message}`,
      {
        cause: error,
        evidence: { file: path },
      },
    );
  }
}

/** A partial list would remove authority, so the content is whole before it gets the name. */
function replace(path: string, text: string): void {
  const draft = `${path}.${process.pid}.new`;
  rmSync(draft, { force: true });
  try {
    const file = openSync(draft, 'wx', ANCHORS_MODE);
    try {
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
