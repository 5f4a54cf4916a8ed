import { hashBytes } from 'assize/internal/canon';
import { DidNothing } from 'assize/internal/effects';
import type { FileContents, PathContents } from './disk.ts';

/**
 * The file operations. `ifHash`: requires that the file has these bytes. Null requires that the
 * file does not exist.
 */
export type Operation =
  | {
      readonly do: 'write';
      readonly path: string;
      readonly bytes: Buffer;
      readonly mode?: number | undefined;
      readonly ifHash?: string | null | undefined;
    }
  | {
      readonly do: 'edit';
      readonly path: string;
      readonly edits: readonly Edit[];
      readonly ifHash?: string | undefined;
    }
  | { readonly do: 'delete'; readonly path: string; readonly ifHash?: string | undefined }
  | {
      readonly do: 'move';
      readonly path: string;
      readonly to: string;
      readonly ifHash?: string | undefined;
    };

export interface Edit {
  readonly old: string;
  readonly new: string;
  /** Replaces every occurrence, and does not require a single one. */
  readonly all?: boolean | undefined;
}

export interface Contents {
  readonly bytes: Buffer;
  readonly mode: number;
}

/** The effect of an operation on one path. Undefined if there is no file. */
export interface Change {
  readonly path: string;
  readonly before: FileContents | undefined;
  readonly after: Contents | undefined;
}

/** Default mode of a new file. */
const MODE = 0o644;

/**
 * The changes of an operation, by the current files. The plan and the execution use the same check.
 * @throws DidNothing, permanently, if the operation is impossible
 */
export async function changesOf(
  operation: Operation,
  look: (path: string) => Promise<PathContents>,
  bytesMax: number,
): Promise<readonly Change[]> {
  const changes = await decide(operation, look);
  for (const { path, after } of changes)
    if (after !== undefined && after.bytes.length > bytesMax)
      throw refused(
        `${path} would have ${after.bytes.length} bytes, more than the limit of ${bytesMax}`,
      );
  return changes;
}

async function decide(
  operation: Operation,
  look: (path: string) => Promise<PathContents>,
): Promise<readonly Change[]> {
  const { path, ifHash } = operation;
  const before = fileOf(path, await look(path));
  checkHash(path, before, ifHash);
  switch (operation.do) {
    case 'write':
      return [
        { path, before, after: contents(operation.bytes, operation.mode ?? before?.mode ?? MODE) },
      ];
    case 'edit': {
      const file = present(path, before);
      return [
        { path, before, after: contents(edited(path, file.bytes, operation.edits), file.mode) },
      ];
    }
    case 'delete':
      return [{ path, before: present(path, before), after: undefined }];
    case 'move': {
      const file = present(path, before);
      if (fileOf(operation.to, await look(operation.to)) !== undefined)
        throw refused(`${operation.to} exists already. Delete it first, or choose another path`);
      return [
        { path, before: file, after: undefined },
        { path: operation.to, before: undefined, after: file },
      ];
    }
  }
}

/**
 * New contents have permission bits only: the other bits would run bytes that the owner has not
 * seen with the owner's rights.
 */
function contents(bytes: Buffer, mode: number): Contents {
  return { bytes, mode: permissionsOf(mode) };
}

export function permissionsOf(mode: number): number {
  return mode & 0o777;
}

/** The result for the caller. */
export function resultOf(changes: readonly Change[]): {
  path: string;
  hash?: string;
  bytes?: number;
  mode?: number;
} {
  const { path, after } = changes.at(-1)!;
  if (after === undefined) return { path };
  return { path, hash: hashOf(after.bytes), bytes: after.bytes.length, mode: after.mode };
}

/** SHA-256, in lower-case hex. */
export function hashOf(bytes: Uint8Array): string {
  return Buffer.from(hashBytes(bytes)).toString('hex');
}

export function refused(what: string): DidNothing {
  return new DidNothing(what, { final: true });
}

export function isFolder(path: string): DidNothing {
  return refused(`${path} is a folder. Move, write and delete its files one by one`);
}

function fileOf(path: string, seen: PathContents): FileContents | undefined {
  switch (seen.is) {
    case 'absent':
      return undefined;
    case 'file':
      if (seen.links > 1) {
        throw refused(
          `${path} has another name (a hard link), which would not see the change. Copy the file first`,
        );
      }
      return seen;
    case 'folder':
      throw isFolder(path);
    case 'link':
      throw refused(`${path} has become a symbolic link. Check its target`);
    case 'other':
      throw refused(`${path} is a device, a pipe or a socket, not a file`);
  }
}

function present(path: string, file: FileContents | undefined): FileContents {
  if (file === undefined) throw refused(`there is no file ${path}`);
  return file;
}

function checkHash(
  path: string,
  file: FileContents | undefined,
  wanted: string | null | undefined,
): void {
  if (wanted === undefined) return;
  const found = file === undefined ? null : hashOf(file.bytes);
  if (found === wanted) return;
  const has = found === null ? 'does not exist' : `has the hash ${found}`;
  throw refused(
    `${path} ${has}, but the call expects ${wanted === null ? 'no file' : `the hash ${wanted}`}. Read the file again`,
  );
}

function edited(path: string, bytes: Buffer, edits: readonly Edit[]): Buffer {
  let text = textOf(path, bytes);
  for (const { old, new: instead, all = false } of edits) {
    const parts = text.split(old);
    if (parts.length === 1)
      throw refused(`${path} does not have the text ${JSON.stringify(old.slice(0, 80))}`);
    if (parts.length > 2 && !all)
      throw refused(
        `${path} has the text ${JSON.stringify(old.slice(0, 80))} ${parts.length - 1} times. Pass more context, or set all`,
      );
    text = parts.join(instead);
  }
  return Buffer.from(text);
}

/** @throws DidNothing for bytes that are not UTF-8 */
export function textOf(path: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new DidNothing(`${path} is not UTF-8 text. Read and write it as base64`, {
      final: true,
      cause: error,
    });
  }
}
