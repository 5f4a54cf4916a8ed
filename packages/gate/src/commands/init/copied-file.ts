import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { makeFolder, replaceFile } from '@assize/command';
import { hashText } from 'assize/internal/canon';

/** A copy of a file as it was before `assize init` changed it, beside the file. */
export interface Copy {
  readonly path: string;
  /** Empty for a file that did not exist. */
  readonly text: string;
  /** Whether the file is still as the command has written it. */
  readonly isCurrent: boolean;
}

/** The name of a copy ends with this and the hash of the text that the command has written. */
export const COPY_MARK = '.before-assize-';

/** The copy of a file with this text. Undefined: the command has not changed the file. */
export function copyOf(path: string, text: string): Copy | undefined {
  const folder = dirname(path);
  if (!existsSync(folder)) return undefined;
  const name = readdirSync(folder).find((each) => each.startsWith(`${basename(path)}${COPY_MARK}`));
  if (name === undefined) return undefined;
  const copy = join(folder, name);
  return { path: copy, text: readFileSync(copy, 'utf8'), isCurrent: copy === pathOf(path, text) };
}

/** Replaces the text of a file. A copy with the text of before lies beside it then. */
export function writeCopied(
  path: string,
  before: string,
  after: string,
  earlier: Copy | undefined,
  most?: number,
): void {
  makeFolder(dirname(path));
  const copy = pathOf(path, after);
  replaceFile(copy, before, OWN);
  replaceFile(path, after, most);
  if (earlier !== undefined && earlier.path !== copy) rmSync(earlier.path);
}

/** Puts a text back. The copy stays if the file was changed since. */
export function putBack(path: string, before: string, copy: Copy | undefined): void {
  if (before === '' && copy?.text === '') rmSync(path, { force: true });
  else replaceFile(path, before);
  if (copy?.isCurrent === true) rmSync(copy.path);
}

/** A settings file can have secrets. */
const OWN = 0o600;

function pathOf(path: string, written: string): string {
  return `${path}${COPY_MARK}${hashText(written).slice(0, 12)}`;
}
