import { hashBytes } from '#canon';
import { DidNothing } from '#effects';
import type { FileSeen, Seen } from './disk.ts';

/** What can be done to files. `ifHash`: only while the file has these bytes; null: only while there is none. */
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
  | { readonly do: 'move'; readonly path: string; readonly to: string; readonly ifHash?: string | undefined };

export interface Edit {
  readonly old: string;
  readonly new: string;
  /** Wherever it stands, and not at the only place. */
  readonly all?: boolean | undefined;
}

export interface Contents {
  readonly bytes: Buffer;
  readonly mode: number;
}

/** What an operation makes of one path: undefined where there is no file. */
export interface Change {
  readonly path: string;
  readonly before: FileSeen | undefined;
  readonly after: Contents | undefined;
}

/** Of a new file, unless said otherwise. */
const MODE = 0o644;

/**
 * What an operation would change, by what stands there. It decides alike for a plan and for the deed.
 * @throws DidNothing, for good, where it can't be done
 */
export async function changesOf(
  operation: Operation,
  look: (path: string) => Promise<Seen>,
  bytesMax: number,
): Promise<readonly Change[]> {
  const changes = await decide(operation, look);
  for (const { path, after } of changes)
    if (after !== undefined && after.bytes.length > bytesMax)
      throw refused(`${path} would have ${after.bytes.length} bytes, more than the ${bytesMax} that are worked with`);
  return changes;
}

async function decide(operation: Operation, look: (path: string) => Promise<Seen>): Promise<readonly Change[]> {
  const { path, ifHash } = operation;
  const before = fileOf(path, await look(path));
  checkHash(path, before, ifHash);
  switch (operation.do) {
    case 'write':
      return [{ path, before, after: contents(operation.bytes, operation.mode ?? before?.mode ?? MODE) }];
    case 'edit': {
      const file = present(path, before);
      return [{ path, before, after: contents(edited(path, file.bytes, operation.edits), file.mode) }];
    }
    case 'delete':
      return [{ path, before: present(path, before), after: undefined }];
    case 'move': {
      const file = present(path, before);
      if (fileOf(operation.to, await look(operation.to)) !== undefined)
        throw refused(`${operation.to} is there already; delete it first, or name another place`);
      return [
        { path, before: file, after: undefined },
        { path: operation.to, before: undefined, after: file },
      ];
    }
  }
}

/** New ones have the bits of permissions only: by the others a file acts for its owner, who has not seen these bytes. */
function contents(bytes: Buffer, mode: number): Contents {
  return { bytes, mode: permissionsOf(mode) };
}

export function permissionsOf(mode: number): number {
  return mode & 0o777;
}

/** What the caller is answered of it. */
export function resultOf(changes: readonly Change[]): { path: string; hash?: string; bytes?: number; mode?: number } {
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
  return refused(`${path} is a folder; files are moved, written and deleted one by one`);
}

function fileOf(path: string, seen: Seen): FileSeen | undefined {
  switch (seen.is) {
    case 'absent':
      return undefined;
    case 'file':
      if (seen.links > 1) {
        throw refused(
          `${path} has another name (a hard link), under which the change would not be seen; make a copy of it first`,
        );
      }
      return seen;
    case 'folder':
      throw isFolder(path);
    case 'link':
      throw refused(`${path} has become a symbolic link; look at what it leads to`);
    case 'other':
      throw refused(`${path} is no file, but a device, a pipe or a socket`);
  }
}

function present(path: string, file: FileSeen | undefined): FileSeen {
  if (file === undefined) throw refused(`there is no file ${path}`);
  return file;
}

function checkHash(path: string, file: FileSeen | undefined, wanted: string | null | undefined): void {
  if (wanted === undefined) return;
  const found = file === undefined ? null : hashOf(file.bytes);
  if (found === wanted) return;
  const has = found === null ? 'is not there' : `has the hash ${found}`;
  throw refused(`${path} ${has}, and was to have ${wanted ?? 'none, and not to be there'}; read it again`);
}

function edited(path: string, bytes: Buffer, edits: readonly Edit[]): Buffer {
  let text = textOf(path, bytes);
  for (const { old, new: instead, all = false } of edits) {
    const parts = text.split(old);
    if (parts.length === 1) throw refused(`${path} does not have the text ${JSON.stringify(old.slice(0, 80))}`);
    if (parts.length > 2 && !all)
      throw refused(
        `${path} has the text ${JSON.stringify(old.slice(0, 80))} ${parts.length - 1} times; give more of it, or say all`,
      );
    text = parts.join(instead);
  }
  return Buffer.from(text);
}

/** @throws DidNothing for what is not UTF-8 */
export function textOf(path: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new DidNothing(`${path} is no text of UTF-8; read and write it as base64`, { final: true, cause: error });
  }
}
