import { join } from 'node:path';
import { contentHash } from '#canon';
import { DidNothing } from '#effects';
import { hashOf } from '../files/operations.ts';
import type { Copies, Copy } from './copies.ts';
import { type Held, holding, namesAt } from './held.ts';

/** What stands at a path of a copy. Folders are there as long as something is in them. */
type Found =
  | { readonly is: 'file'; readonly hash: string; readonly mode: number }
  | { readonly is: 'link'; readonly to: string }
  | { readonly is: 'other' };

/** What is in a copy, by path. */
export type Contents = ReadonlyMap<string, Found>;

/** A file that a branch has written or deleted, by its path in the folder. */
export interface FileChange {
  readonly path: string;
  readonly does: 'write' | 'delete';
  /** SHA-256 of what was there before; null where nothing was. */
  readonly before: string | null;
}

/** @throws DidNothing for what can't be read, and for names that no path of a tool could have */
export async function contentsOf({ root }: Copy, copies: Copies): Promise<Contents> {
  const found = new Map<string, Found>();
  const visit = (place: string, path: string): Promise<void> =>
    holding(place, path || root.path, async (held) => {
      if (held.is !== 'folder') {
        found.set(path, await foundOf(held));
        return;
      }
      for (const name of await namesAt(held.place, path || root.path))
        if (copies.has(name)) await visit(join(held.place, name), join(path, name));
    });
  await visit(root.path, '');
  return found;
}

async function foundOf(held: Held): Promise<Found> {
  if (held.is === 'file')
    return { is: 'file', hash: hashOf(await held.handle.readFile()), mode: held.stat.mode & 0o7777 };
  return held.is === 'link' ? held : { is: 'other' };
}

export function hashOfContents(contents: Contents): string {
  return contentHash([...contents].map(([path, found]) => [path, { ...found }]));
}

/**
 * What has to be done to files to make of one the other, deletions first.
 * @throws DidNothing where that is more than files: links, devices, bits beside those of permissions
 */
export function differences(before: Contents, after: Contents): readonly FileChange[] {
  const deleted = [...before].flatMap(([path, found]) => (after.has(path) ? [] : [changeOf(path, found, undefined)]));
  const written = [...after].flatMap(([path, found]) =>
    isSame(before.get(path), found) ? [] : [changeOf(path, before.get(path), found)],
  );
  return [...deleted, ...written];
}

function changeOf(path: string, before: Found | undefined, after: Found | undefined): FileChange {
  for (const found of [before, after])
    if (found !== undefined && found.is !== 'file')
      throw refused(path, `is ${found.is === 'link' ? 'a symbolic link' : 'no file'}, and only files are changed`);
  if (after?.is === 'file' && after.mode > 0o777) throw refused(path, 'has bits beside those of permissions');
  return {
    path,
    does: after === undefined ? 'delete' : 'write',
    before: before?.is === 'file' ? before.hash : null,
  };
}

function isSame(left: Found | undefined, right: Found): boolean {
  return left !== undefined && contentHash({ ...left }) === contentHash({ ...right });
}

function refused(path: string, why: string): DidNothing {
  return new DidNothing(`a branch can't be taken over: ${path} ${why}`, { final: true });
}
