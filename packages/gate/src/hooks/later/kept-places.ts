import { existsSync, globSync, statSync } from 'node:fs';
import { posix } from 'node:path';
import { hasStar } from '#gateway';
import { hookFiles } from './later-parts.ts';
import { RUN_LATER } from './run-later.ts';

/**
 * The places of a project that something runs or obeys later, also those that are not there: names
 * at the top of the project, the same names below it, and the hooks of git with their scripts.
 */
export async function keptPlaces(project: string): Promise<readonly string[]> {
  const patterns = RUN_LATER.flatMap(({ paths }) => paths);
  // Git warns in each command about attributes that it cannot open.
  const whole = RUN_LATER.filter(
    ({ member, paths }) => member === undefined && !paths.includes('**/.gitattributes'),
  );
  const names = whole.flatMap(({ paths }) => paths).map((each) => each.slice('**/'.length));
  const exclude = (path: string): boolean => /(?:^|\/)(?:node_modules|\.git)$/.test(path);
  const found = globSync(patterns, { cwd: project, exclude });
  // A file HEAD beside the repository makes the revision of that name ambiguous.
  const isFree = (name: string): boolean =>
    hasStar(name) || (name === 'HEAD' && existsSync(posix.join(project, '.git')));
  const places = [...names.filter((name) => !isFree(name)), ...found].map((name) =>
    posix.join(project, name),
  );
  // Git itself writes its folder, whose settings and hooks a sandbox keeps anyway.
  const kept = places.filter(
    (path) => isFolder(posix.dirname(path)) && posix.basename(path) !== '.git',
  );
  return [...new Set([...kept, ...(await hookFiles(project))])];
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
