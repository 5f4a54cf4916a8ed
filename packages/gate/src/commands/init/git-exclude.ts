import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { makeFolder, replaceFile } from '@assize/command';
import type { ShownChange } from './agreement.ts';
import { COPY_MARK } from './copied-file.ts';
import { difference } from './difference.ts';

const MARK = '# Settings of this machine, added by assize init.';

/** The list of files that git ignores in one clone only, before and after a change. */
export interface ExcludeChange {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

/**
 * Keeps the settings of a person, and their copy, out of commits. Undefined outside of a work tree
 * of git, and for files that are ignored or listed already.
 */
export function excluding(file: string): ExcludeChange | undefined {
  const found = listFor(file);
  if (found === undefined || ['', COPY_MARK].every((end) => isIgnored(found.file + end)))
    return undefined;
  const { path, before } = found;
  const end = before === '' || before.endsWith('\n') ? '' : '\n';
  return { path, before, after: `${before}${end}${blockOf(found.name)}` };
}

/** Takes the lines of `excluding` out again. Undefined if they are not there. */
export function including(file: string): ExcludeChange | undefined {
  const found = listFor(file);
  if (found === undefined || !found.before.includes(blockOf(found.name))) return undefined;
  const { path, before } = found;
  return { path, before, after: before.replace(blockOf(found.name), '') };
}

export function shownExclude(change: ExcludeChange | undefined): readonly ShownChange[] {
  return change === undefined
    ? []
    : [{ path: change.path, lines: difference(change.before, change.after) }];
}

export function writeExclude(change: ExcludeChange | undefined): void {
  if (change === undefined) return;
  makeFolder(dirname(change.path));
  replaceFile(change.path, change.after);
}

function listFor(file: string) {
  const [top, list] =
    git(file, 'rev-parse', '--show-toplevel', '--git-path', 'info/exclude')?.split('\n') ?? [];
  if (top === undefined || list === undefined) return undefined;
  const folder = realpathSync(existing(dirname(file)));
  const path = resolve(folder, list);
  const whole = join(folder, relative(existing(dirname(file)), file));
  const name = relative(realpathSync(top), whole).split(sep).join('/');
  return { path, name, file: whole, before: existsSync(path) ? readFileSync(path, 'utf8') : '' };
}

function blockOf(name: string): string {
  return `${MARK}\n/${name.replace(/[\\*?[\]]/g, '\\$&')}*\n`;
}

function isIgnored(file: string): boolean {
  return git(file, 'check-ignore', '-q', '--', file) !== undefined;
}

/** Output of git in the folder of a file. Undefined if git fails or is not installed. */
function git(file: string, ...args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync('git', args, {
    cwd: existing(dirname(file)),
    encoding: 'utf8',
  });
  return status === 0 ? stdout.trimEnd() : undefined;
}

/** The folder, or the nearest one above that exists. */
function existing(folder: string): string {
  return existsSync(folder) || basename(folder) === '' ? folder : existing(dirname(folder));
}
