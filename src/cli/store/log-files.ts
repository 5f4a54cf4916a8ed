import { closeSync, fchmodSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Option } from 'commander';
import { isAssizeError } from '#base';
import {
  formatSignerKey,
  formatVerifierKey,
  type KnownLog,
  parseSignerKey,
  parseVerifierKey,
  type SignerKey,
  type VerifierKey,
} from '#merkle';
import { readCheckpointFile } from '#runtime';
import { checkpointFile } from '#stores';
import { CliError } from '../errors.ts';
import { unreadable, unwritable } from '../files/file-faults.ts';
import { whileBlocked } from '../terminal/interrupt.ts';

/**
 * The files of a store's log: the private key that signs its checkpoints, the public key that
 * verifies them, and the last checkpoint. By default they are next to the store's file. Keep the
 * last checkpoint, and a copy of the public key, in another location as well.
 */
export const keyOption: Option = new Option(
  '--key <file>',
  'file of the private key of the log (default: <store file>.key)',
);
export const logKeyOption: Option = new Option(
  '--log-key <key>',
  'public key of the log, or a file with it (default: <store file>.vkey)',
);
export const checkpointOption: Option = new Option(
  '--checkpoint <file>',
  'file of the last checkpoint (default: <store file>.checkpoint)',
);

/** The default path of a file of the store's log. */
export function fileBeside(storeUrl: string, ending: string): string | undefined {
  return storeUrl.startsWith('sqlite:') ? `${storeUrl.slice('sqlite:'.length)}.${ending}` : undefined;
}

/** The private key of the log. @throws CliError */
export function readSigner(storeUrl: string, file?: string): SignerKey {
  const path = file ?? fileBeside(storeUrl, 'key');
  if (path === undefined) throw new CliError('usage', 'The private key of the log is missing. Pass --key FILE.');
  const text = readText(path, 'The private key of the log', 'Create one with assize keys new NAME');
  const key = inOurWords(path, () => parseSignerKey(text.trim()));
  if (key.use === 'note') return key;
  throw new CliError('bad_input', `${path} contains the key of a witness. Pass the private key of the log with --key.`);
}

/**
 * The log from configuration: by its public key.
 * @throws CliError
 */
export function readKnownLog(storeUrl: string, given?: string): KnownLog {
  const key = readVerifierKey(given, fileBeside(storeUrl, 'vkey'), 'The public key of the log');
  return { origin: key.name, keys: [key] };
}

/** A public key given as text, or by a file. @throws CliError */
export function readVerifierKey(given: string | undefined, fallback: string | undefined, what: string): VerifierKey {
  if (given?.includes('+')) return inOurWords('the key', () => parseVerifierKey(given));
  const path = given ?? fallback;
  if (path === undefined) throw new CliError('usage', `${what} is missing. Pass the key, or a file with it.`);
  const text = readText(path, what, 'Ask the operator of the log for the key');
  return inOurWords(path, () => parseVerifierKey(text.trim()));
}

/** The last checkpoint. Undefined if there is none. */
export async function lastCheckpoint(storeUrl: string, file?: string): Promise<string | undefined> {
  const path = file ?? checkpointFile(storeUrl);
  return path === undefined ? undefined : readCheckpointFile(path);
}

/** The options that name a checkpoint, and the keys that only a checkpoint needs. */
export interface CheckpointOptions {
  readonly checkpoint?: string;
  readonly logKey?: string;
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
  { checkpoint, logKey, witness = [] }: CheckpointOptions,
): Promise<string | undefined> {
  const signed = await lastCheckpoint(storeUrl, checkpoint);
  if (signed !== undefined) return signed;
  if (checkpoint !== undefined)
    throw new CliError(
      'unreadable_file',
      `There is no checkpoint at ${checkpoint}. Create one with assize checkpoint.`,
    );
  if (logKey === undefined && witness.length === 0) return undefined;
  const option = logKey === undefined ? '--witness' : '--log-key';
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
  writeNew(privatePath, `${formatSignerKey(key)}\n`, 0o600);
  try {
    writeNew(publicPath, `${formatVerifierKey(key)}\n`, 0o644);
  } catch (error) {
    rmSync(privatePath, { force: true });
    throw error;
  }
}

/**
 * Writes a new file, whole or not at all: a partial file would block the next attempt. `rule`: why
 * an existing file stays.
 *
 * @throws CliError
 */
export function writeNew(path: string, text: string, mode: number, rule = 'and a key is never overwritten'): void {
  const file = openNew(path, mode, rule);
  try {
    writeInto(file, text, mode);
  } catch (cause) {
    rmSync(path, { force: true });
    throw unwritable(path, cause);
  }
}

function openNew(path: string, mode: number, rule: string): number {
  try {
    return openSync(path, 'wx', mode);
  } catch (cause) {
    const isThere = (cause as NodeJS.ErrnoException).code === 'EEXIST';
    if (!isThere) throw unwritable(path, cause);
    throw new CliError('usage', `${path} already exists, ${rule}. Name another path.`, { cause });
  }
}

function writeInto(file: number, text: string, mode: number): void {
  try {
    writeFileSync(file, text);
    // The process's umask may remove further rights, and never adds any.
    fchmodSync(file, mode);
  } finally {
    closeSync(file);
  }
}

/** @throws CliError */
export function readText(path: string, what: string, hint: string): string {
  return readBytes(path, what, hint).toString('utf8');
}

/**
 * For data that is verified byte by byte: as a string, invalid bytes would equal U+FFFD.
 * @throws CliError
 */
export function readBytes(path: string, what: string, hint: string): Buffer {
  try {
    return whileBlocked(() => readFileSync(path));
  } catch (cause) {
    throw unreadable(what, cause, { path, hint });
  }
}

function inOurWords<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!isAssizeError(error)) throw error;
    throw new CliError('bad_input', `${what}: ${error.message}`, { cause: error });
  }
}
