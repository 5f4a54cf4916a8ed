import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Append, Operation } from '../../packages/testing/src/history.ts';

/** A batch as its writer sent it. */
export interface Sent extends Append {
  readonly trajectory_id: string;
  /** The store answered that it could not tell; when `resolve` has told, that is the result. */
  readonly wasInDoubt: boolean;
  /** Whether it carries a blob: its first id and 6,000 dots. */
  readonly hasBlob: boolean;
}

export interface WriterOptions {
  /** Names the process in the history. */
  readonly name: string;
  readonly writers: number;
  /** Default `writers.ts`: it writes to a SQLite file; beside this one, or a path. */
  readonly program?: string;
  /** Lets every write beyond that size of a file fail, as a full disk does. */
  readonly fileBytesMax?: number;
  /**
   * The folder of Node's compile cache, so that other processes start faster. A dismissed process
   * writes it.
   */
  readonly cache?: string;
}

/** A process of writers, and its output. */
export class WriterProcess {
  readonly #name: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  readonly #sent = new Map<string, Sent>();
  readonly #reads: Operation[] = [];
  #lastWord = '';
  #committed = 0;
  #settled = 0;
  #errors = '';
  #heard: () => void = () => undefined;

  /** It is started and ready, and opens nothing until `go`. */
  constructor(
    path: string,
    { name, writers, program = 'writers.ts', fileBytesMax, cache }: WriterOptions,
  ) {
    this.#name = name;
    const script = fileURLToPath(new URL(program, import.meta.url));
    const command = [process.execPath, script, path, String(writers)];
    const limited =
      fileBytesMax === undefined
        ? command
        : ['sh', '-c', LIMIT, String(fileBytesMax / 512), ...command];
    const env = cache === undefined ? process.env : { ...process.env, NODE_COMPILE_CACHE: cache };
    this.#child = spawn(limited[0]!, limited.slice(1), { stdio: 'pipe', env });
    // A process that is dead takes no more lines.
    this.#child.stdin!.on('error', () => undefined);
    this.#child.stderr!.on('data', (data) => {
      this.#errors += data;
    });
    createInterface(this.#child.stdout!).on('line', (line) => this.#hear(line));
    this.#ended = once(this.#child, 'close').then(() => this.#heard());
  }

  /** Batches that the store has answered with `committed`. */
  get committed(): number {
    return this.#committed;
  }

  /** Batches that were in doubt, and are not any more. */
  get settled(): number {
    return this.#settled;
  }

  /** Its last line, except batches and reads: `ready`, `open` or `poisoned`. */
  get lastWord(): string {
    return this.#lastWord;
  }

  /** All batches; in doubt is also what was sent and never answered. */
  get sent(): readonly Sent[] {
    return [...this.#sent.values()];
  }

  /** Everything that it did, as `checkHistory` wants it. */
  get history(): readonly Operation[] {
    return [...this.#sent.values(), ...this.#reads];
  }

  /** Lets it open the store and begin. */
  async go(seed: number): Promise<void> {
    await this.#until(() => this.#lastWord !== '');
    this.#child.stdin!.write(`${seed}\n`);
  }

  /** Until so many batches are committed, or the process ends. */
  reach(committed: number): Promise<void> {
    return this.#until(() => this.#committed >= committed);
  }

  /** Until it has ended by itself; throws what it said on stderr when it failed. */
  async end(): Promise<void> {
    await this.#ended;
    if (this.#child.exitCode !== 0) throw new Error(`the writers failed: ${this.#errors}`);
  }

  /** Lets it finish what is under way, and end. */
  async stop(): Promise<void> {
    this.#child.stdin!.end('stop\n');
    await this.end();
  }

  /** Ends one that was never let go. */
  async dismiss(): Promise<void> {
    this.#child.stdin!.end();
    await this.end();
  }

  /** `kill -9`, and all that it had said before. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
    if (this.#child.signalCode !== 'SIGKILL')
      throw new Error(`the writers ended before they were killed: ${this.#errors}`);
  }

  async #until(reached: () => boolean): Promise<void> {
    while (!reached() && this.#child.exitCode === null && this.#child.signalCode === null) {
      await Promise.race([this.#ended, new Promise<void>((resolve) => (this.#heard = resolve))]);
    }
  }

  #hear(line: string): void {
    const [word, ...rest] = line.split(' ') as [string, ...string[]];
    if (word === 'sent') this.#hearSent(rest);
    else if (word === 'read') this.#hearRead(rest);
    else if (word === 'committed' || word === 'conflict' || word === 'failed' || word === 'unknown')
      this.#hearAnswer(word, rest);
    else if (word === 'settled') this.#hearSettled(rest);
    else this.#lastWord = word;
    this.#heard();
  }

  #hearSent([n, writer, invoked, trajectory_id, blobs, ids]: string[]): void {
    this.#sent.set(n!, {
      operation: 'append',
      client: `${this.#name}/${writer}`,
      invoked: Number(invoked),
      returned: Number.POSITIVE_INFINITY,
      result: 'unknown',
      ids: ids!.split(','),
      trajectory_id: trajectory_id!,
      hasBlob: blobs !== '0',
      wasInDoubt: false,
    });
  }

  #hearAnswer(
    status: 'committed' | 'conflict' | 'failed' | 'unknown',
    [n, returned]: string[],
  ): void {
    const result = status === 'conflict' ? 'failed' : status;
    const wasInDoubt = status === 'unknown';
    this.#sent.set(n!, { ...this.#sent.get(n!)!, returned: Number(returned), result, wasInDoubt });
    if (status === 'committed') this.#committed += 1;
  }

  #hearSettled([n, returned, result]: string[]): void {
    const told = result as 'committed' | 'failed';
    this.#sent.set(n!, { ...this.#sent.get(n!)!, returned: Number(returned), result: told });
    this.#settled += 1;
  }

  #hearRead([writer, invoked, returned, trajectory_id, entries, head]: string[]): void {
    this.#reads.push({
      operation: 'read',
      client: `${this.#name}/${writer}`,
      invoked: Number(invoked),
      returned: Number(returned),
      trajectory_id: trajectory_id!,
      entries: Number(entries),
      ...(head === '' ? {} : { head: head! }),
    });
  }
}

// In blocks of 512 bytes, as POSIX has it.
const LIMIT = 'ulimit -f "$0"; exec "$@"';
