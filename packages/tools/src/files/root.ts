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
import { segment } from 'assize/internal/authority';
import { arg, checkArgument, isInstance } from 'assize/internal/base';
import { EffectError } from 'assize/internal/effects';

/** Folder name of this adapter's own data. Calls can't change it and listings do not show it. */
export const OWN = '.assize';

/** A folder of tools, with the naming rules of its file system. */
export interface Root {
  /** Absolute, without symbolic links. */
  readonly path: string;
  /** Whether `A` and `a` are one file. */
  readonly foldsCase: boolean;
  /** Whether `é` and `e` with a combining accent are one file. */
  readonly foldsForm: boolean;
}

/**
 * The root of a folder.
 * @throws EffectError `invalid_tool` if it is not a writable folder
 */
export function rootAt(given: string): Root {
  checkArgument(arg.text, given, 'root');
  if (!given.startsWith('/'))
    throw unusable(given, 'it must be an absolute path that starts with /');
  try {
    const path = realpathSync(given);
    if (!statSync(path).isDirectory()) throw unusable(given, 'it is not a folder');
    const own = join(path, OWN);
    makeOwn(own);
    if (!lstatSync(own).isDirectory())
      throw unusable(given, `its ${OWN} is a symbolic link. Remove the link`);
    return { path, ...foldsAt(own) };
  } catch (error) {
    if (isInstance(error, EffectError)) throw error;
    throw unusable(given, (error as Error).message, error);
  }
}

/**
 * Not recursive, since the parent folders exist: Node's recursive mkdir retries forever if the
 * system permits no folder there, as in `/proc`.
 */
function makeOwn(own: string): void {
  try {
    mkdirSync(own);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** A given path as a path in the root. */
export type Canonical = { readonly path: string } | { readonly problem: string };

/**
 * The canonical path of a file: absolute; its existing part has no `.`, `..`, `//` and symbolic
 * links. A path that leads out of the root has none. A link as the last name is followed, or
 * refused if the call is about the name itself.
 */
export function canonical(
  root: Root,
  given: string,
  last: 'followed' | 'itself' = 'followed',
): Canonical {
  if (given === '' || given.includes('\0')) return { problem: 'it is not a path' };
  const walked = walk(given.startsWith('/') ? '/' : root.path, given.split('/'), last);
  if ('problem' in walked) return walked;
  const { path } = walked;
  const below = path === root.path ? [] : namesBelow(root, path);
  if (below === undefined) return { problem: `it leads out of ${root.path}` };
  if (below.some((name) => isOwn(root, name)))
    return { problem: `names that start with ${OWN} are reserved for the tools` };
  return { path };
}

/** Whether a name is this adapter's own name, or may be it on a file system that folds names. */
export function isOwn(root: Root, name: string): boolean {
  if (!root.foldsCase && !root.foldsForm) return name.toLowerCase().startsWith(OWN);
  // Folds more than any file system does. In the worst case, a usable name is refused.
  const seen = name.replace(IGNORED, '').normalize('NFKC');
  return seen.toUpperCase().toLowerCase().startsWith(OWN);
}

/**
 * Whether the file system permits such a path. The file system reports this only for existing
 * folders.
 */
export function canBe(root: Root, path: string): boolean {
  return namesBelow(root, path)?.every((name) => Buffer.byteLength(name) <= NAME_BYTES_MAX) ?? true;
}

/** Names from the root down. Undefined for a path that is not below the root. */
export function namesBelow(root: Root, path: string): string[] | undefined {
  const base = root.path === '/' ? '/' : root.path + '/';
  return path.startsWith(base) ? path.slice(base.length).split('/') : undefined;
}

/** An identity that is equal for all paths of one file here. */
export function identity(root: Root, path: string): string {
  const below = path.slice(root.path.length);
  const formed = root.foldsForm ? below.normalize('NFC') : below;
  // Folding via upper case merges more names than lower case alone. In the worst case, calls on two
  // files wait for each other.
  return (
    root.path + (root.foldsCase ? formed.toUpperCase().toLowerCase().normalize('NFC') : formed)
  );
}

/** A path as a scope. Unicode variants share one scope, even if they are two files. */
export function scopeOf(root: Root, path: string): string {
  return (
    'fs:' +
    identity(root, path)
      .split(sep)
      .map((name, i) => (i === 0 ? '' : segment(name)))
      .join('/')
  );
}

/** Characters that some file systems ignore when comparing names. */
const IGNORED = /\p{Default_Ignorable_Code_Point}/gu;

/** Maximum number of bytes of a name on all common file systems. */
export const NAME_BYTES_MAX = 255;

/** Maximum number of followed links in one path, as on Linux. */
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
      return { problem: `${next} is a symbolic link. Pass its target` };
    if (++links > LINKS_MAX) return { problem: 'its symbolic links form a cycle' };
    left.unshift(...target.split('/'));
    if (target.startsWith('/')) path = '/';
  }
  return { path };
}

function linkAt(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    // The path is missing or unreadable, and opening it reports the error.
    return undefined;
  }
}

type Folds = Pick<Root, 'foldsCase' | 'foldsForm'>;

/**
 * The detected naming rules, by folder. They do not change, and their detection writes to the
 * folder.
 */
const FOLDS = new Map<string, Folds>();

function foldsAt(own: string): Folds {
  const { dev, ino } = lstatSync(own);
  const place = `${dev}:${ino}:${own}`;
  const known = FOLDS.get(place);
  if (known !== undefined) return known;
  const found = {
    foldsCase: isOne(own, join(dirname(own), OWN.toUpperCase())),
    foldsForm: foldsForm(own),
  };
  FOLDS.set(place, found);
  return found;
}

function foldsForm(own: string): boolean {
  // The random name is unpredictable, so no program can have placed a link or a pipe there, and no
  // other process uses it.
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

/** Does not follow links: the other name of a link target does not show how names fold. */
function isOne(left: string, right: string): boolean {
  const other = lstatSync(right, { throwIfNoEntry: false });
  if (other === undefined) return false;
  const { dev, ino } = lstatSync(left);
  return other.dev === dev && other.ino === ino;
}

function unusable(given: string, why: string, cause?: unknown): EffectError {
  return new EffectError(
    'invalid_tool',
    `The folder ${JSON.stringify(given)} cannot be used: ${why}.`,
    {
      cause,
    },
  );
}
