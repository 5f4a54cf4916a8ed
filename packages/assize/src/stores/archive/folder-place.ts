import { constants } from 'node:fs';
import { chmod, type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { StoreError } from '../errors.ts';
import type { ArchivePlace } from './place.ts';

/** An archive in a folder. Its files can be read by their owner only, as the file of a store. */
export class FolderPlace implements ArchivePlace {
  readonly name: string;
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = resolve(folder);
    this.name = `file:${this.#folder}`;
  }

  async read(name: string, bytes: number): Promise<Buffer | undefined> {
    let file: FileHandle | undefined;
    try {
      // A pipe is opened without waiting for its writer.
      file = await open(join(this.#folder, name), constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
      if (!(await file.stat()).isFile()) throw new Error('it is a pipe, a device or a folder');
      return await readAtMost(file, bytes + 1);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw this.#failed('read', name, error);
    } finally {
      await file?.close();
    }
  }

  async write(name: string, bytes: Uint8Array): Promise<void> {
    // The file has its name only when it is complete. A crash leaves at most a draft. Nothing reads
    // it, and `remove` deletes it. No other writer has the same name.
    const draft = this.#draftOf(name);
    try {
      await this.#makeFolder();
      await this.#writeDraft(draft, bytes);
      await rename(draft, join(this.#folder, name));
      await this.#sync(this.#folder);
    } catch (error) {
      await rm(draft, { force: true });
      throw this.#failed('written', name, error);
    }
  }

  async remove(name: string): Promise<void> {
    try {
      for (const path of [join(this.#folder, name), this.#draftOf(name)])
        await rm(path, { force: true });
      await this.#sync(this.#folder);
    } catch (error) {
      if (isMissing(error)) return;
      throw this.#failed('deleted', name, error);
    }
  }

  #draftOf(name: string): string {
    return join(this.#folder, `${name}.part`);
  }

  async #makeFolder(): Promise<void> {
    const made = await mkdir(this.#folder, { recursive: true });
    if (made === undefined) return;
    await chmod(this.#folder, 0o700);
    await this.#sync(resolve(made, '..'));
  }

  async #writeDraft(draft: string, bytes: Uint8Array): Promise<void> {
    const file = await open(draft, 'w', 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
  }

  /** Windows cannot open folders, and makes a name durable by itself. */
  async #sync(folder: string): Promise<void> {
    if (process.platform === 'win32') return;
    const opened = await open(folder, 'r');
    try {
      await opened.sync();
    } finally {
      await opened.close();
    }
  }

  #failed(what: string, name: string, cause: unknown): StoreError {
    return new StoreError(
      'store_failed',
      `The file ${name} could not be ${what} in ${this.name}: ${(cause as Error).message}. Remove the cause, and repeat the command.`,
      { evidence: { archive: this.name, file: name }, cause },
    );
  }
}

async function readAtMost(file: FileHandle, bytes: number): Promise<Buffer> {
  const { size } = await file.stat();
  const read = Buffer.alloc(Math.min(size, bytes));
  let length = 0;
  for (let more = -1; more !== 0 && length < read.length; length += more)
    more = (await file.read(read, length, read.length - length, length)).bytesRead;
  return read.subarray(0, length);
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
