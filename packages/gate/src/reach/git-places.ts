import { posix } from 'node:path';
import { folderOf, hasStar, isUnder, mayBeUnder } from '#gateway';
import { unseen } from './below.ts';
import { gitText, repositoryOf, unfiltered } from './repository.ts';

/** The files below a folder that a program uses, where git knows which they are. */
export type Only = 'tracked' | 'unignored' | 'changed' | 'modified' | 'stashed';

/** The files of a use of git: those of one kind, and those that differ between two revisions. */
interface Kept {
  readonly only: Only;
  /** As `FROM..TO`. */
  readonly revisions: readonly string[];
  readonly isKept: (path: string) => boolean;
}

/**
 * The places among those of rules that git has files for, in the repository of a folder. Undefined
 * if git cannot tell: it has no repository there, or took too long.
 *
 * - `tracked`: in the index, or in a commit of any branch.
 * - `unignored`: in the index, or new and not ignored.
 * - `changed`: other than in the last commit, or new and not ignored.
 * - `modified`: in the index or in the last commit, and changed.
 * - `stashed`: in the last stash.
 */
export async function gitPlaces(
  folder: string,
  patterns: readonly string[],
  { only, revisions, isKept }: Kept,
): Promise<readonly string[] | undefined> {
  const top = repositoryOf(folder);
  if (top === undefined) return undefined;
  const specs = new Map(patterns.map((pattern) => [pattern, pathspecs(pattern, top)]));
  const all = [...specs.values()].flat();
  if (all.length === 0) return [];
  const at = only === 'unignored' ? folder : top;
  const isStatus = only === 'changed' || only === 'modified';
  const safe = isStatus ? await unfiltered(at) : [];
  if (safe === undefined) return undefined;
  const lists = await Promise.all([
    gitText(at, [...LISTS[only], '--', ...all], safe),
    ...revisions.map((each) => between(top, each, all)),
  ]);
  if (lists.includes(undefined)) return undefined;
  const files = lists
    .flatMap((text, i) => namesIn(text as string, isStatus && i === 0))
    .map((name) => posix.join(top, name));
  const commitOf = async (paths: readonly string[]): Promise<string | undefined> =>
    only === 'tracked' ? gitText(top, ['log', '--all', '-1', '--format=%H', '--', ...paths]) : '';
  const some = await commitOf(all);
  const found: string[] = [];
  for (const [pattern, paths] of specs) {
    const file = files.find((path) => mayBeUnder(path, pattern) && isKept(path));
    if (file !== undefined) found.push(file);
    else if (some !== '' && paths.length > 0) {
      const commit = await commitOf(paths);
      if (commit === undefined) return undefined;
      if (commit !== '') found.push(...unseen(top, pattern).filter(isKept));
    }
  }
  return found;
}

const STATUS = ['status', '--porcelain', '-z', '--no-renames', '--ignore-submodules=dirty'];
const LISTED = ['ls-files', '-z', '--full-name', '--cached'];
const DIFF = ['diff-tree', '-r', '-z', '--name-only', '--no-renames'];

const LISTS: Readonly<Record<Only, readonly string[]>> = {
  tracked: LISTED,
  unignored: [...LISTED, '--others', '--exclude-standard'],
  changed: [...STATUS, '--untracked-files=all'],
  modified: [...STATUS, '--untracked-files=no'],
  // Commits of the stash: of the files, of the index, and of new files.
  stashed: [
    ...['log', '-z', '--format=', '--name-only', '--no-renames', '--diff-merges=first-parent'],
    // Git fails for a missing name, and adds `/*` to a glob without a star or a bracket.
    ...['--glob=refs/stas[h]', '--not', 'HEAD'],
  ],
};

/**
 * The files that differ between two revisions. A name that is not a revision is that of a file, or
 * of a branch that a remote has.
 */
async function between(
  top: string,
  revisions: string,
  paths: readonly string[],
): Promise<string | undefined> {
  const [from = '', to = ''] = revisions.split('..');
  const differing = (name: string): Promise<string | undefined> =>
    gitText(top, [...DIFF, from, name, '--', ...paths]);
  const text = await differing(to);
  if (text !== undefined || from !== 'HEAD') return text;
  const known = await gitText(top, ['rev-parse', '--quiet', '--verify', `${to}^{tree}`]);
  const listed = await gitText(top, [
    'for-each-ref',
    '--format=%(refname)',
    `refs/remotes/*/${to}`,
  ]);
  if (known !== '' || listed === undefined) return undefined;
  const names = listed.split('\n').filter((name) => name !== '');
  const texts = await Promise.all(names.map(differing));
  return texts.includes(undefined) ? undefined : texts.join('\0');
}

/** The names in a list. In a status, two letters and a space precede each of them. */
function namesIn(text: string, isStatus: boolean): readonly string[] {
  const names = text.split(/[\0\n]/).filter((name) => name !== '');
  return isStatus ? names.map((name) => name.slice(3)) : names;
}

/** The pathspecs of a pattern: git takes its stars as rules do. None: it is elsewhere. */
function pathspecs(pattern: string, top: string): readonly string[] {
  const within = folderOf(pattern);
  if (!hasStar(pattern)) {
    const name = posix.relative(top, pattern);
    return isUnder(pattern, top) ? [`:(top,icase,literal)${name}`] : [];
  }
  const name = isUnder(within, top)
    ? posix.join(posix.relative(top, within), pattern.slice(within.length))
    : isUnder(top, within)
      ? `**/${pattern.split('/').at(-1)}`
      : undefined;
  return name === undefined
    ? []
    : [name, `${name}/**`].map((each) => `:(top,icase,glob)${each.replace(/^\//, '')}`);
}
