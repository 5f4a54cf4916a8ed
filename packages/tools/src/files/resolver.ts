import { statSync } from 'node:fs';
import { arg, checkArgument } from 'assize/internal/base';
import type { Resolver } from 'assize/internal/effects';
import { unsegment } from '../segment.ts';
import { canonical, type Root, rootAt, scopeOf } from './root.ts';

/**
 * Resolves scopes of files below a root (`fs:/repo/src/**`), for tools with their own file names.
 * The result is the path after resolving links, case and Unicode form, as the tools of this adapter
 * claim it. A file with several names (hard links) is claimed by its path and as
 * `fs:inode:DEVICE:NUMBER`. In a pattern, the part before its first star is resolved. Scopes that
 * are not below the root are left to other resolvers, and a path that leads out is refused.
 *
 * @throws EffectError `invalid_tool` for an unusable root; ArgumentError `bad_argument`
 */
export function fileResolver(root: string): Resolver {
  checkArgument(arg.text, root, 'root');
  const at = rootAt(root);
  return (scope) => {
    const path = pathOf(scope);
    return path !== undefined && isBelow(at, path) ? namesOf(at, path) : scope;
  };
}

/**
 * The path of a scope as strings, each a name or a star. Undefined for a scope that is not a path.
 */
function pathOf(scope: string): readonly string[] | undefined {
  return scope.startsWith('fs:/') && !scope.slice(4).includes(':')
    ? scope.slice(4).split('/')
    : undefined;
}

/**
 * Whether a path is below the root. Paths that reach it by an outside link count, and so do paths
 * named below it.
 */
function isBelow(root: Root, names: readonly string[]): boolean {
  const fixed = fixedOf(names);
  if ('path' in canonical(root, absolute(fixed))) return true;
  const own = root.path.slice(1).split('/');
  return fixed.length >= own.length && own.every((name, i) => unsegment(fixed[i]!) === name);
}

function namesOf(root: Root, names: readonly string[]): readonly string[] {
  const fixed = fixedOf(names);
  const found = canonical(root, absolute(fixed));
  if ('problem' in found) throw new Error(found.problem);
  const path = scopeOf(root, found.path);
  if (fixed.length < names.length) return [[path, ...names.slice(fixed.length)].join('/')];
  const stat = statSync(found.path, { throwIfNoEntry: false, bigint: true });
  if (stat === undefined || !stat.isFile() || stat.nlink < 2n) return [path];
  return [path, `fs:inode:${stat.dev}:${stat.ino}`];
}

function fixedOf(names: readonly string[]): readonly string[] {
  const star = names.findIndex((name) => name === '*' || name === '**');
  return star === -1 ? names : names.slice(0, star);
}

function absolute(names: readonly string[]): string {
  return `/${names.map(unsegment).join('/')}`;
}
