import { join } from 'node:path';
import { contentHash } from 'assize/internal/canon';
import { DidNothing } from 'assize/internal/effects';
import { hashOf } from '../files/operations.ts';
import type { Copies, Copy } from './copies.ts';
import { namesAt, type OpenedPath, withOpened } from './opened-path.ts';

/** The item at a path of a copy. A folder exists while it contains an item. */
type PathContents =
  | { readonly is: 'file'; readonly hash: string; readonly mode: number }
  | { readonly is: 'link'; readonly to: string }
  | { readonly is: 'other' };

/** The content of a copy, by path. */
export type Contents = ReadonlyMap<string, PathContents>;

/** A file that a branch wrote or deleted, by its path in the folder. */
export interface FileChange {
  readonly path: string;
  readonly does: 'write' | 'delete';
  /** SHA-256 of the earlier content. Null if the file did not exist. */
  readonly before: string | null;
}

/**
 * The content of a copy.
 * @throws DidNothing for items that can't be read, and for names that no tool path can have
 */
export async function contentsOf({ root }: Copy, copies: Copies): Promise<Contents> {
  const found = new Map<string, PathContents>();
  const visit = (place: string, path: string): Promise<void> =>
    withOpened(place, path || root.path, async (held) => {
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

async function foundOf(held: OpenedPath): Promise<PathContents> {
  if (held.is === 'file')
    return {
      is: 'file',
      hash: hashOf(await held.handle.readFile()),
      mode: held.stat.mode & 0o7777,
    };
  return held.is === 'link' ? held : { is: 'other' };
}

export function hashOfContents(contents: Contents): string {
  return contentHash([...contents].map(([path, found]) => [path, { ...found }]));
}

/**
 * The file changes that turn one content into another, deletions first.
 * @throws DidNothing if a change affects more than files: links, devices, bits other than
 * permissions
 */
export function differences(before: Contents, after: Contents): readonly FileChange[] {
  const deleted = [...before].flatMap(([path, found]) =>
    after.has(path) ? [] : [changeOf(path, found, undefined)],
  );
  const written = [...after].flatMap(([path, found]) =>
    isSame(before.get(path), found) ? [] : [changeOf(path, before.get(path), found)],
  );
  return [...deleted, ...written];
}

function changeOf(
  path: string,
  before: PathContents | undefined,
  after: PathContents | undefined,
): FileChange {
  for (const found of [before, after])
    if (found !== undefined && found.is !== 'file')
      throw refused(
        path,
        `is ${found.is === 'link' ? 'a symbolic link' : 'not a file'}. A branch can change files only`,
      );
  if (after?.is === 'file' && after.mode > 0o777)
    throw refused(path, 'has mode bits other than permissions');
  return {
    path,
    does: after === undefined ? 'delete' : 'write',
    before: before?.is === 'file' ? before.hash : null,
  };
}

function isSame(left: PathContents | undefined, right: PathContents): boolean {
  return left !== undefined && contentHash({ ...left }) === contentHash({ ...right });
}

function refused(path: string, why: string): DidNothing {
  return new DidNothing(`the changes of the branch cannot be applied: ${path} ${why}`, {
    final: true,
  });
}
