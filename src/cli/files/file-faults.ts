import { CliError } from '../errors.ts';

/** The system speaks of calls and flags; whoever typed a path wants to know what is wrong with it. */
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

/** A file that can't be read: why not, and what to do. `what`: the file's path, or what it is, where `path` is named beside it. */
export function unreadable(what: string, cause: unknown, more: { path?: string; hint?: string } = {}): CliError {
  const path = more.path === undefined ? '' : ` (${more.path})`;
  const hint = more.hint === undefined ? '' : `; ${more.hint}`;
  return new CliError('unreadable_file', `${what} can't be read: ${whyOf(cause, UNREADABLE)}${path}${hint}.`, {
    cause,
  });
}

/** A file that can't be written, and why not. `hint`: what to do. */
export function unwritable(path: string, cause: unknown, hint = 'name another place'): CliError {
  return new CliError('usage', `${path} can't be written: ${whyOf(cause, UNWRITABLE)}; ${hint}.`, { cause });
}

/** Whether something was thrown by the system, which has a code. */
export function isSystemFault(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}

function whyOf(cause: unknown, words: Readonly<Record<string, string>>): string {
  const { code = '', message } = cause as NodeJS.ErrnoException;
  return words[code] ?? message;
}
