import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A value for each run, as files in a folder. A file is replaced in one step. */
export class JsonFiles<T> {
  readonly #folder: string;
  readonly #kind: string;

  constructor(folder: string, kind: string) {
    this.#folder = folder;
    this.#kind = kind;
  }

  read(run: string): T | undefined {
    const file = this.#file(run);
    return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
  }

  write(run: string, value: T): void {
    const file = this.#file(run);
    writeFileSync(`${file}.${process.pid}`, JSON.stringify(value));
    renameSync(`${file}.${process.pid}`, file);
  }

  /** The runs that have a value. */
  runs(): string[] {
    const start = `${this.#kind}-`;
    return readdirSync(this.#folder)
      .filter((name) => name.startsWith(start) && name.endsWith('.json'))
      .map((name) => decodeURIComponent(name.slice(start.length, -'.json'.length)));
  }

  #file(run: string): string {
    return join(this.#folder, `${this.#kind}-${encodeURIComponent(run)}.json`);
  }
}
