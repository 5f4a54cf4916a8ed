import { posix } from 'node:path';

/** The folders in which a command may run, because an earlier `cd` may fail. */
export interface Folders {
  readonly known: readonly string[];
  /** Whether the command runs in a known folder for sure. */
  readonly sure: boolean;
  /** The folder of the whole call. Only of this folder `..` is certainly its parent by name. */
  readonly start: string | undefined;
}

/** The folders after a command: after its success, and after its failure. */
export interface Outcome {
  readonly ok: Folders;
  readonly failed: Folders;
}

/** The paths that a word can name. `sure` is false if it can also name others. */
export interface Places {
  readonly paths: readonly string[];
  readonly sure: boolean;
}

const FOLDERS_MAX = 4;

export function startIn(cwd: string): Folders {
  if (!cwd.startsWith('/')) return { known: [], sure: false, start: undefined };
  const start = normal(cwd);
  return { known: [start], sure: true, start };
}

export function same(at: Folders): Outcome {
  return { ok: at, failed: at };
}

export function unsure(at: Folders): Folders {
  return { ...at, sure: false };
}

/** After a command that does not return. A command there is read as if its folder were unknown. */
export function nowhere(at: Folders): Folders {
  return { ...at, known: [], sure: true };
}

export function either(left: Folders, right: Folders): Folders {
  const known = [...new Set([...left.known, ...right.known])];
  const sure = left.sure && right.sure && known.length <= FOLDERS_MAX;
  return { known: known.slice(0, FOLDERS_MAX), sure, start: left.start };
}

export function after({ ok, failed }: Outcome): Folders {
  return either(ok, failed);
}

export function equal(left: Folders, right: Folders): boolean {
  return left.sure === right.sure && left.known.join('\0') === right.known.join('\0');
}

/** The folders after `cd`. The shell itself resolves `..` by name. */
export function entered(at: Folders, folder: string): Folders {
  if (folder.startsWith('/')) return { ...at, known: [normal(folder)], sure: true };
  return { ...at, known: [...new Set(at.known.map((each) => normal(`${each}/${folder}`)))] };
}

/**
 * The paths of a word in lexical normal form. The system resolves `..` after symbolic links, so a
 * path that leaves a named folder by `..` can be elsewhere.
 */
export function placesOf(at: Folders, word: string): Places {
  const leaves = /(?:^|\/)(?!\.{0,2}\/)[^/]+\/(?:\.?\/)*\.\.(?:\/|$)/.test(word);
  // Links there lead each program to files of its own.
  const isOfProgram = /^\/+(?:proc\/+(?:self|thread-self|\d+)|dev\/+fd)\//.test(normal(word));
  if (word.startsWith('/')) return { paths: [normal(word)], sure: !leaves && !isOfProgram };
  const isAtStart = at.known.every((each) => each === at.start);
  return {
    paths: at.known.map((each) => normal(`${each}/${word}`)),
    sure:
      at.sure &&
      at.known.length > 0 &&
      !leaves &&
      (isAtStart || !/^(?:\.\/+)*\.\.(?:\/|$)/.test(word)),
  };
}

function normal(path: string): string {
  const text = posix.normalize(path).replace(/^\/+/, '/');
  return text.length > 1 && text.endsWith('/') ? text.slice(0, -1) : text;
}
