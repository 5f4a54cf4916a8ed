import { dirname, join } from 'node:path';
import type { Disk, FolderItem, PathContents } from './disk.ts';
import { type Change, changesOf, type Operation, refused } from './operations.ts';
import { identity, isOwn, namesBelow, type Root } from './root.ts';

/** Files after all planned changes: the files on the disk, and the plans over them. */
export class View {
  readonly #root: Root;
  readonly #disk: Disk;
  readonly #bytesMax: number;
  readonly #planned = new Map<string, { readonly path: string; readonly seen: PathContents }>();
  /**
   * Files of the disk that the plans remove. A planned folder may replace such a file, and the disk
   * knows no content of it.
   */
  readonly #gone = new Set<string>();

  constructor(root: Root, disk: Disk, bytesMax: number) {
    this.#root = root;
    this.#disk = disk;
    this.#bytesMax = bytesMax;
  }

  /**
   * The planned item at a path.
   * @throws DidNothing if a parent of the path is not a folder
   */
  async look(path: string): Promise<PathContents> {
    for (const above of foldersAbove(this.#root, path))
      if (this.#at(above)?.is === 'file') throw refused(`${above} is a file, not a folder`);
    const planned = this.#at(path);
    if (planned !== undefined) return planned;
    return foldersAbove(this.#root, path).some((above) => this.#isGone(above))
      ? { is: 'absent' }
      : this.#disk.look(path);
  }

  /**
   * Plans an operation.
   * @throws DidNothing if the operation is impossible
   */
  async plan(operation: Operation): Promise<readonly Change[]> {
    const changes = await changesOf(operation, (path) => this.look(path), this.#bytesMax);
    for (const { path, after } of changes) {
      this.#set(
        path,
        after === undefined ? { is: 'absent' } : { is: 'file', ...after, id: '', links: 1 },
      );
      if (after === undefined) this.#gone.add(identity(this.#root, path));
      // Folders that are created for a file stay after its removal.
      else for (const above of foldersAbove(this.#root, path)) this.#set(above, { is: 'folder' });
    }
    return changes;
  }

  /** The items of a folder, by name. Undefined if the folder does not exist. */
  async names(folder: string): Promise<readonly FolderItem[] | undefined> {
    const isNew = [folder, ...foldersAbove(this.#root, folder)].some((each) => this.#isGone(each));
    const onDisk = isNew ? undefined : await this.#disk.names(folder);
    const known = new Map<string, FolderItem>();
    for (const each of onDisk ?? [])
      if (!isOwn(this.#root, each.name))
        known.set(identity(this.#root, join(folder, each.name)), each);
    let isFolder = onDisk !== undefined || this.#at(folder)?.is === 'folder';
    for (const [key, { path, seen }] of this.#planned) {
      if (dirname(key) !== identity(this.#root, folder)) continue;
      if (seen.is === 'absent') known.delete(key);
      else known.set(key, { name: namesBelow(this.#root, path)!.at(-1)!, is: seen.is });
      isFolder ||= seen.is !== 'absent';
    }
    if (!isFolder) return undefined;
    return [...known.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  #at(path: string): PathContents | undefined {
    return this.#planned.get(identity(this.#root, path))?.seen;
  }

  #set(path: string, seen: PathContents): void {
    this.#planned.set(identity(this.#root, path), { path, seen });
  }

  #isGone(path: string): boolean {
    return this.#gone.has(identity(this.#root, path));
  }
}

/** A set of paths. Tests whether a path is equal to, above or below one of them. */
export class Places {
  readonly #root: Root;
  readonly #all = new Set<string>();
  readonly #above = new Set<string>();

  constructor(root: Root, paths: readonly string[]) {
    this.#root = root;
    for (const path of paths) this.add(path);
  }

  add(path: string): void {
    const place = identity(this.#root, path);
    this.#all.add(place);
    for (const above of foldersAbove(this.#root, place)) this.#above.add(above);
  }

  meets(path: string): boolean {
    const place = identity(this.#root, path);
    if (this.#all.has(place) || this.#above.has(place)) return true;
    // The root itself is above all paths.
    return (
      this.#all.has(this.#root.path) ||
      foldersAbove(this.#root, place).some((above) => this.#all.has(above))
    );
  }
}

/** The parent folders of a path below the root, the innermost first. */
function foldersAbove(root: Root, path: string): string[] {
  const above: string[] = [];
  for (let folder = dirname(path); folder.length > root.path.length; folder = dirname(folder))
    above.push(folder);
  return above;
}
