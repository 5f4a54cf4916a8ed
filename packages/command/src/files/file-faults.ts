import { isInstance } from 'assize/internal/base';
import { CliError } from '../errors.ts';

/** Translates system errors about calls and flags into a description of the path's problem. */
const UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: 'the file does not exist',
  ENOTDIR: 'the file does not exist',
  EISDIR: 'it is a folder',
  EACCES: 'this user may not read it',
  EPERM: 'this user may not read it',
};

const UNWRITABLE: Readonly<Record<string, string>> = {
  EEXIST: 'a file is in the way',
  EISDIR: 'it is a folder',
  ENOENT: 'the folder does not exist',
  ENOTDIR: 'a file is in the way',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space is left on the device',
  EDQUOT: 'the disk quota of this user is exceeded',
  EFBIG: 'the file is too large for the file system',
};

/**
 * The error for an unreadable file, with the reason and the remedy. `what`: the file's path, or its
 * description if `path` is given too.
 */
export function unreadable(
  what: string,
  cause: unknown,
  more: { path?: string; hint?: string } = {},
): CliError {
  const path = more.path === undefined ? '' : ` (${more.path})`;
  const hint = more.hint === undefined ? '' : ` ${more.hint}.`;
  return new CliError(
    'unreadable_file',
    `${what} cannot be read: ${whyOf(cause, UNREADABLE)}${path}.${hint}`,
    {
      cause,
    },
  );
}

/** The error for an unwritable file, with the reason. `hint`: the remedy. */
export function unwritable(path: string, cause: unknown, hint = 'Name another path'): CliError {
  return new CliError('usage', `${path} cannot be written: ${whyOf(cause, UNWRITABLE)}. ${hint}.`, {
    cause,
  });
}

/** Whether an error comes from the system, and has a code. */
export function isSystemFault(error: unknown): boolean {
  return isInstance(error, Error) && 'syscall' in error;
}

function whyOf(cause: unknown, words: Readonly<Record<string, string>>): string {
  const { code = '', message } = cause as NodeJS.ErrnoException;
  return words[code] ?? message;
}
