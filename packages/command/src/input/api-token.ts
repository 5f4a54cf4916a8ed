import { readFileSync, type Stats, statSync } from 'node:fs';
import { CliError } from '../errors.ts';
import { isSystemFault, unreadable } from '../files/file-faults.ts';
import { whileBlocked } from '../terminal/interrupt.ts';

/**
 * The token of a client of the API. It is never an argument, because other users of the machine can
 * read arguments. Its file is not readable for them either.
 *
 * @throws CliError `usage`, `unreadable_file`
 */
export function apiToken(file: string | undefined): string {
  const token = file === undefined ? process.env['ASSIZE_TOKEN'] : tokenIn(file);
  if (token !== undefined && token.trim() !== '') return token.trim();
  throw new CliError('usage', 'The token is missing. Set ASSIZE_TOKEN, or pass --token-file FILE.');
}

/** The header line that `curl -H @FILE` sends, up to the token. */
const HEADER = /^authorization:\s*bearer\s+/i;

/** The token in a file that has it alone, or in a header line for `curl`. */
function tokenIn(file: string): string {
  try {
    return whileBlocked(() => {
      requirePrivate(file, statSync(file));
      return readFileSync(file, 'utf8').trimStart().replace(HEADER, '');
    });
  } catch (error) {
    if (!isSystemFault(error)) throw error;
    throw unreadable('The token', error, { path: file, hint: 'Make it with assize token create' });
  }
}

/** A pipe is readable for the program that opened it, whatever its mode. */
function requirePrivate(file: string, stats: Stats): void {
  if (process.platform === 'win32' || !stats.isFile() || (stats.mode & 0o077) === 0) return;
  throw new CliError('usage', `Others can read the token in ${file}. Run chmod 600 ${file}.`);
}
