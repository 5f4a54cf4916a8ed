import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { segment } from '#authority';
import { form, requireForm } from '#base';
import { EffectError } from '#effects';

/** Names of this adapter's own, which no call may touch and no listing shows. */
export const OWN = '.assize';

/** A folder that tools work in, and how its file system tells names apart. */
export interface Root {
  /** Absolute, without symbolic links. */
  readonly path: string;
  /** `A` and `a` are one file. */
  readonly foldsCase: boolean;
  /** `é` and `e` with an accent after it are one file. */
  readonly foldsForm: boolean;
}

/** @throws EffectError `invalid_tool` where it is no folder that can be written to */
export function rootAt(given: string): Root {
  requireForm(form.text, given, 'root');
  if (!given.startsWith('/')) throw unusable(given, 'it has to be an absolute path, of a system that has /');
  try {
    const path = realpathSync(given);
    if (!statSync(path).isDirectory()) throw unusable(given, 'it is no folder');
    const own = join(path, OWN);
    makeOwn(own);
    if (!lstatSync(own).isDirectory()) throw unusable(given, `its ${OWN} is a symbolic link; remove that`);
    return { path, ...foldsAt(own) };
  } catch (error) {
    if (error instanceof EffectError) throw error;
    throw unusable(given, (error as Error).message, error);
  }
}

/** Not with those above it, which are there: Node’s own way to do that tries for ever where the system lets nobody make any, as in `/proc`. */
function makeOwn(own: string): void {
  try {
    mkdirSync(own);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** What was given, as a place in the root. */
export type Canonical = { readonly path: string } | { readonly problem: string };

/**
 * The one path of what is named: absolute, without `.`, `..`, `//` and symbolic links, as far as it exists. What leads out of the
 * root has none. A link as the last name is followed, or refused where the name itself is what is meant.
 */
export function canonical(root: Root, given: string, last: 'followed' | 'itself' = 'followed'): Canonical {
  if (given === '' || given.includes('\0')) return { problem: 'it is no path' };
  const walked = walk(given.startsWith('/') ? '/' : root.path, given.split('/'), last);
  if ('problem' in walked) return walked;
  const { path } = walked;
  const below = path === root.path ? [] : namesBelow(root, path);
  if (below === undefined) return { problem: `it leads out of ${root.path}` };
  if (below.some((name) => isOwn(root, name)))
    return { problem: `names that begin with ${OWN} are kept for the tools themselves` };
  return { path };
}

/** Whether a name is, or may be where names fold, one of this adapter's own. */
export function isOwn(root: Root, name: string): boolean {
  if (!root.foldsCase && !root.foldsForm) return name.toLowerCase().startsWith(OWN);
  // By more than any file system folds: at worst, a name is refused that could have been had.
  const seen = name.replace(IGNORED, '').normalize('NFKC');
  return seen.toUpperCase().toLowerCase().startsWith(OWN);
}

/** Whether a file system has such a path. It says so itself only of a folder that is there, and not of one that is still to be made. */
export function canBe(root: Root, path: string): boolean {
  return namesBelow(root, path)?.every((name) => Buffer.byteLength(name) <= NAME_BYTES_MAX) ?? true;
}

/** Names from the root down; undefined for what is not below. */
export function namesBelow(root: Root, path: string): string[] | undefined {
  const base = root.path === '/' ? '/' : root.path + '/';
  return path.startsWith(base) ? path.slice(base.length).split('/') : undefined;
}

/** The same for all paths that are one file here. */
export function identity(root: Root, path: string): string {
  const below = path.slice(root.path.length);
  const formed = root.foldsForm ? below.normalize('NFC') : below;
  // By way of upper case, which brings more together than lower case alone: at worst, two files are kept apart by waiting.
  return root.path + (root.foldsCase ? formed.toUpperCase().toLowerCase().normalize('NFC') : formed);
}

/** A path as a scope. Unicode twins share one scope, also where they are two files. */
export function scopeOf(root: Root, path: string): string {
  return (
    'fs:' +
    identity(root, path)
      .split(sep)
      .map((name, i) => (i === 0 ? '' : segment(name)))
      .join('/')
  );
}

/** Characters that some file systems leave out where they compare names. */
const IGNORED = /\p{Default_Ignorable_Code_Point}/gu;

/** Of one name, on all file systems that are in use. */
export const NAME_BYTES_MAX = 255;

/** Links that are followed in one path, as Linux does. */
const LINKS_MAX = 40;

function walk(start: string, names: readonly string[], last: 'followed' | 'itself'): Canonical {
  const left = [...names];
  let path = start;
  let links = 0;
  while (left.length > 0) {
    const name = left.shift()!;
    if (name === '' || name === '.') continue;
    if (name === '..') {
      path = dirname(path);
      continue;
    }
    const next = join(path, name);
    const target = linkAt(next);
    if (target === undefined) {
      path = next;
      continue;
    }
    if (last === 'itself' && left.every((each) => each === '' || each === '.'))
      return { problem: `${next} is a symbolic link; name what it leads to` };
    if (++links > LINKS_MAX) return { problem: 'its symbolic links lead in a circle' };
    left.unshift(...target.split('/'));
    if (target.startsWith('/')) path = '/';
  }
  return { path };
}

function linkAt(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    // It is not there, or can't be looked at, which whoever opens it is told.
    return undefined;
  }
}

type Folds = Pick<Root, 'foldsCase' | 'foldsForm'>;

/** What was found out, by the folder that it was found out in: that does not change, and finding it out writes there. */
const FOLDS = new Map<string, Folds>();

function foldsAt(own: string): Folds {
  const { dev, ino } = lstatSync(own);
  const place = `${dev}:${ino}:${own}`;
  const known = FOLDS.get(place);
  if (known !== undefined) return known;
  const found = { foldsCase: isOne(own, join(dirname(own), OWN.toUpperCase())), foldsForm: foldsForm(own) };
  FOLDS.set(place, found);
  return found;
}

function foldsForm(own: string): boolean {
  // Nobody can have put a link or a pipe at a name that nobody knows, and no other process looks at the root with it.
  const name = randomUUID();
  const probe = join(own, `${name}-\u00e9`);
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  closeSync(openSync(probe, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600));
  try {
    return isOne(probe, join(own, `${name}-e\u0301`));
  } finally {
    rmSync(probe, { force: true });
  }
}

/** Not by where a link leads: that is another name, which tells nothing of how names fold. */
function isOne(left: string, right: string): boolean {
  const other = lstatSync(right, { throwIfNoEntry: false });
  if (other === undefined) return false;
  const { dev, ino } = lstatSync(left);
  return other.dev === dev && other.ino === ino;
}

function unusable(given: string, why: string, cause?: unknown): EffectError {
  return new EffectError('invalid_tool', `Files can't be kept in ${JSON.stringify(given)}: ${why}.`, {
    cause,
  });
}
