import { rmSync } from 'node:fs';
import {
  CliError,
  isFile,
  parsedAt,
  readText,
  repeatable,
  replaceFile,
  writeNewFile,
} from '@assize/command';
import { derivedLogKey, findRootKey, type RootKey } from 'assize/internal/config';
import {
  formatSignerKey,
  formatVerifierKey,
  type KnownLog,
  parseSignerKey,
  parseVerifierKey,
  type SignerKey,
  type VerifierKey,
} from 'assize/internal/merkle';
import { checkpointFile } from 'assize/internal/stores';
import { Option } from 'commander';
import { type LogKeys, readCheckpointFile } from '#checkpoints';

/**
 * The files of a store's log: the private key that signs its checkpoints, the public key that
 * verifies them, and the last checkpoint. By default they are next to the store's file. Keep the
 * last checkpoint, and a copy of the public key, in another location as well.
 */
export const keyOption: Option = new Option(
  '--key <file>',
  'file of the private key of the log (default: <store file>.key)',
);
export const logKeyOption: Option = repeatable(
  '--log-key <key>',
  'public key of the log, or a file with its keys; an earlier one too, if the key was changed (default: <store file>.vkey)',
);
export const checkpointOption: Option = new Option(
  '--checkpoint <file>',
  'file of the last checkpoint (default: <store file>.checkpoint)',
);

/** The default path of a file of the store's log. */
export function fileBeside(storeUrl: string, ending: string): string | undefined {
  return storeUrl.startsWith('sqlite:')
    ? `${storeUrl.slice('sqlite:'.length)}.${ending}`
    : undefined;
}

/**
 * The private key of the log: of the named file, else of the file beside the store, else derived
 * from the root key, as a server signs.
 *
 * @throws CliError
 */
export function readSigner(storeUrl: string, file?: string): SignerKey {
  const path = file ?? fileBeside(storeUrl, 'key');
  if (file === undefined && (path === undefined || !isFile(path))) {
    const derived = derivedKey(storeUrl);
    if (derived !== undefined) return derived;
  }
  if (path === undefined)
    throw new CliError('usage', 'The private key of the log is missing. Pass --key FILE.');
  const text = readText(path, 'The private key of the log', 'Create one with assize keys new NAME');
  const key = parsedAt(path, () => parseSignerKey(text.trim()));
  if (key.use === 'note') return key;
  throw new CliError(
    'bad_input',
    `${path} contains the key of a witness. Pass the private key of the log with --key.`,
  );
}

/** The key that servers with the root key of the store sign with, if this user may read it. */
function derivedKey(storeUrl: string): SignerKey | undefined {
  try {
    const root = findRootKey(storeUrl);
    return root && derivedLogKey(root);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return undefined;
    throw error;
  }
}

/**
 * The log from configuration: by its public keys. Without given ones, by those in the file beside
 * the store and the one that is derived from the root key.
 *
 * @throws CliError
 */
export function readKnownLog(storeUrl: string, given: readonly string[] = []): KnownLog {
  const what = 'The public key of the log';
  const beside = fileBeside(storeUrl, 'vkey');
  const derived = given.length > 0 ? undefined : derivedKey(storeUrl);
  const files = given.length > 0 ? given : beside !== undefined && isFile(beside) ? [beside] : [];
  const keys = [
    ...files.flatMap((one) => readVerifierKeys(one, what)),
    ...(derived ? [derived] : []),
  ];
  return { keys: keys.length > 0 ? keys : [readVerifierKey(undefined, beside, what)] };
}

/** The keys of a log for a server. It reads them again for each checkpoint. @throws CliError */
export function serverLogKeys(storeUrl: string, root: RootKey): LogKeys {
  const [key, vkey] = [fileBeside(storeUrl, 'key'), fileBeside(storeUrl, 'vkey')];
  const derived = derivedLogKey(root);
  const known =
    vkey !== undefined && isFile(vkey) ? readVerifierKeys(vkey, 'The public key of the log') : [];
  const signer = key !== undefined && isFile(key) ? readSigner(storeUrl) : derived;
  return { signer, earlier: [...known, derived] };
}

/**
 * Writes the public key of a signer before the known ones beside the store, so that both keys of a
 * change verify. A file that has the key stays.
 */
export function rememberLogKey(storeUrl: string, signer: SignerKey): void {
  const path = fileBeside(storeUrl, 'vkey');
  if (path === undefined) return;
  const known = isFile(path) ? readVerifierKeys(path, 'The public key of the log') : [];
  const keys = [...new Set([signer, ...known].map(formatVerifierKey))];
  if (keys.length > known.length) replaceFile(path, `${keys.join('\n')}\n`);
}

/** Whether the store has a known key of its log, beside it or by its root key. */
export function hasLogKeys(storeUrl: string): boolean {
  const beside = fileBeside(storeUrl, 'vkey');
  return (beside !== undefined && isFile(beside)) || derivedKey(storeUrl) !== undefined;
}

/** One public key as text, or a file with a key on each line. @throws CliError */
function readVerifierKeys(given: string, what: string): VerifierKey[] {
  if (given.includes('+')) return [readVerifierKey(given, undefined, what)];
  const lines = readText(given, what, 'Ask the operator of the log for the key')
    .trim()
    .split(/\s*\n\s*/);
  return lines.map((text) => parsedAt(given, () => parseVerifierKey(text)));
}

/** A public key given as text, or the first one of a file. @throws CliError */
export function readVerifierKey(
  given: string | undefined,
  fallback: string | undefined,
  what: string,
): VerifierKey {
  if (given?.includes('+')) return parsedAt('the key', () => parseVerifierKey(given));
  const path = given ?? fallback;
  if (path === undefined)
    throw new CliError('usage', `${what} is missing. Pass the key, or a file with it.`);
  return readVerifierKeys(path, what)[0]!;
}

/** The last checkpoint. Undefined if there is none. */
export async function lastCheckpoint(storeUrl: string, file?: string): Promise<string | undefined> {
  const path = file ?? checkpointFile(storeUrl);
  return path === undefined ? undefined : readCheckpointFile(path);
}

/** The options that name a checkpoint, and the keys that only a checkpoint needs. */
export interface CheckpointOptions {
  readonly checkpoint?: string | undefined;
  readonly logKey?: readonly string[];
  readonly witness?: readonly string[];
}

/**
 * The last checkpoint. Undefined if there is none and no option needs one: a key without a
 * checkpoint would verify nothing.
 *
 * @throws CliError `unreadable_file`, `usage`
 */
export async function usedCheckpoint(
  storeUrl: string,
  { checkpoint, logKey = [], witness = [] }: CheckpointOptions,
): Promise<string | undefined> {
  const signed = await lastCheckpoint(storeUrl, checkpoint);
  if (signed !== undefined) return signed;
  if (checkpoint !== undefined)
    throw new CliError(
      'unreadable_file',
      `There is no checkpoint at ${checkpoint}. Create one with assize checkpoint.`,
    );
  if (logKey.length === 0 && witness.length === 0) return undefined;
  const option = logKey.length === 0 ? '--witness' : '--log-key';
  throw new CliError(
    'usage',
    `The option ${option} needs a checkpoint, and the store has none beside it. Create one with assize checkpoint, or pass --checkpoint FILE.`,
  );
}

/**
 * Writes a new private key, readable by its owner only, and its public key: both, or neither.
 * Neither file may exist.
 *
 * @throws CliError
 */
export function writeKeys(key: SignerKey, privatePath: string, publicPath: string): void {
  writeNewFile(privatePath, `${formatSignerKey(key)}\n`, 0o600);
  try {
    writeNewFile(publicPath, `${formatVerifierKey(key)}\n`, 0o644);
  } catch (error) {
    rmSync(privatePath, { force: true });
    throw error;
  }
}
