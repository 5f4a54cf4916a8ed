import { CliError } from '../errors.ts';

/** Translates system errors about calls and flags into a description of the path's problem. */
const UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'it may not be read by this user',
  EPERM: 'it may not be read by this user',
};

const UNWRITABLE: Readonly<Record<string, string>> = {
  EEXIST: 'there is a file in its way',
  EISDIR: 'it is a folder',
  ENOENT: 'there is no such folder',
  ENOTDIR: 'there is a file in its way',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'nothing can be written there',
  ENOSPC: 'there is no room left there',
  EDQUOT: 'there is no room left there for this user',
  EFBIG: 'a file may not be that large there',
};

/**
 * The error for an unreadable file, with the reason and the remedy. `what`: the file's path, or its
 * description if `path` is given too.
 */
export function unreadable(what: string, cause: unknown, more: { path?: string; hint?: string } = {}): CliError {
  const path = more.path === undefined ? '' : ` (${more.path})`;
  const hint = more.hint === undefined ? '' : `; ${more.hint}`;
  return new CliError('unreadable_file', `${what} can't be read: ${whyOf(cause, UNREADABLE)}${path}${hint}.`, {
    cause,
  });
}

/** The error for an unwritable file, with the reason. `hint`: the remedy. */
export function unwritable(path: string, cause: unknown, hint = 'name another place'): CliError {
  return new CliError('usage', `${path} can't be written: ${whyOf(cause, UNWRITABLE)}; ${hint}.`, { cause });
}

/** Whether an error comes from the system, and has a code. */
export function isSystemFault(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}

function whyOf(cause: unknown, words: Readonly<Record<string, string>>): string {
  const { code = '', message } = cause as NodeJS.ErrnoException;
  return words[code] ?? message;
}
