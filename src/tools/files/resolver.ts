import { statSync } from 'node:fs';
import { form, requireForm } from '#base';
import type { Resolver } from '#effects';
import { unsegment } from '../segment.ts';
import { canonical, type Root, rootAt, scopeOf } from './root.ts';

/**
 * Resolves scopes of files below a root (`fs:/repo/src/**`), for tools that name files in their own way: to the one path that
 * links, case and Unicode form lead to, as the tools of this adapter claim it. A file that has more than one name (hard links) is
 * claimed by its path and, for all of these, as `fs:inode:DEVICE:NUMBER`. Of a pattern, what stands before its first star is
 * resolved. Scopes that are not below the root are left to others; what leads out of it is refused.
 *
 * @throws EffectError `invalid_tool` for a root that can't be used; ArgumentError `bad_argument`
 */
export function fileResolver(root: string): Resolver {
  requireForm(form.text, root, 'root');
  const at = rootAt(root);
  return (scope) => {
    const path = pathOf(scope);
    return path !== undefined && isBelow(at, path) ? namesOf(at, path) : scope;
  };
}

/** The path of a scope as texts, each a name or a star; undefined for what is no path. */
function pathOf(scope: string): readonly string[] | undefined {
  return scope.startsWith('fs:/') && !scope.slice(4).includes(':') ? scope.slice(4).split('/') : undefined;
}

/** Also what comes there by a link from elsewhere; and what is named as below, wherever its links lead. */
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
