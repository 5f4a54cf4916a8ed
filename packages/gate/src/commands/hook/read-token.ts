import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';

/** A value, or the text that says why there is none and what to do. */
export type Result<T> =
  | { readonly value: T }
  /** `isFinal`: the server refuses, or cannot be asked. It counts also where rules only observe. */
  | { readonly fault: string; readonly isFinal?: boolean };

/** The token in a file that only its owner can read. */
export function readToken(file: string): Result<string> {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'r');
  } catch {
    return { fault: `The file of the token, ${file}, cannot be read. Run assize init again.` };
  }
  try {
    const { mode } = fstatSync(descriptor);
    if (process.platform !== 'win32' && (mode & 0o077) !== 0)
      return {
        fault: `Others can read the token in ${file}. Run chmod 600 ${file}, or assize init again.`,
      };
    const token = readFileSync(descriptor, 'utf8').trim();
    return /^[\x21-\x7e]{1,500}$/.test(token)
      ? { value: token }
      : { fault: `The file ${file} has no token. Run assize init again.` };
  } catch {
    return { fault: `The file of the token, ${file}, cannot be read. Run assize init again.` };
  } finally {
    closeSync(descriptor);
  }
}
