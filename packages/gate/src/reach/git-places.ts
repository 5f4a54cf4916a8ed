import { posix } from 'node:path';
import { folderOf, hasStar, isUnder, mayBeUnder } from '#gateway';
import { unseen } from './below.ts';
import { gitText, repositoryOf } from './repository.ts';

/** The files below a folder that a program uses, where git knows which they are. */
export type Only = 'tracked' | 'unignored';

/**
 * The places among those of rules that git has files for, in the repository of a folder. Undefined
 * if git cannot tell: it has no repository there, or took too long.
 *
 * - `tracked`: in the index, or in a commit of any branch.
 * - `unignored`: in the index, or new and not ignored.
 */
export async function gitPlaces(
  folder: string,
  patterns: readonly string[],
  { only, isKept }: { readonly only: Only; readonly isKept: (path: string) => boolean },
): Promise<readonly string[] | undefined> {
  const top = repositoryOf(folder);
  if (top === undefined) return undefined;
  const found: string[] = [];
  for (const pattern of patterns) {
    const paths = pathspecs(pattern, top);
    if (paths.length === 0) continue;
    const has = async (...args: readonly string[]): Promise<string | undefined> =>
      gitText(only === 'tracked' ? top : folder, [...args, '--', ...paths]);
    const kinds = only === 'tracked' ? [] : ['--others', '--exclude-standard'];
    const listed = await has('ls-files', '-z', '--full-name', '--cached', ...kinds);
    if (listed === undefined) return undefined;
    const files = listed.split('\0').map((name) => posix.join(top, name));
    const file = files.find((path) => mayBeUnder(path, pattern) && isKept(path));
    if (file !== undefined) found.push(file);
    else if (only === 'tracked') {
      const commit = await has('log', '--all', '-1', '--format=%H');
      if (commit === undefined) return undefined;
      if (commit !== '') found.push(...unseen(top, pattern).filter(isKept));
    }
  }
  return found;
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
