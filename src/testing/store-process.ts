import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const WRITER = fileURLToPath(new URL('./store-writer.ts', import.meta.url));

/** A process of `store-writer.ts`, and what it has said. */
export class WriterProcess {
  /** Ids that the store has acknowledged. */
  readonly acknowledged: string[] = [];
  /** Ids of which the store could not tell. */
  readonly unknown: string[] = [];
  poisoned = false;
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  #errors = '';
  #heard: () => void = () => undefined;

  /** `fileBytesMax` lets every write beyond that size of a file fail, as a full disk does. */
  constructor(path: string, trajectories: number, options: { fileBytesMax?: number } = {}) {
    const command = [process.execPath, WRITER, path, String(trajectories)];
    const { fileBytesMax } = options;
    const limited = fileBytesMax === undefined ? command : ['sh', '-c', LIMIT, String(fileBytesMax / 512), ...command];
    this.#child = spawn(limited[0]!, limited.slice(1), { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child.stderr!.on('data', (data) => {
      this.#errors += data;
    });
    createInterface(this.#child.stdout!).on('line', (line) => this.#hear(line));
    this.#ended = once(this.#child, 'close').then(() => this.#heard());
  }

  /** Until so many batches are acknowledged, or the process ends. */
  async reach(acknowledged: number): Promise<void> {
    while (this.acknowledged.length < acknowledged && this.#child.exitCode === null) {
      await Promise.race([this.#ended, new Promise<void>((resolve) => (this.#heard = resolve))]);
    }
  }

  /** Until it has ended by itself; throws what it said on stderr when it failed. */
  async end(): Promise<void> {
    await this.#ended;
    if (this.#child.exitCode !== 0) throw new Error(`the writer failed: ${this.#errors}`);
  }

  /** `kill -9`, and all that it had said before. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
    if (this.#child.signalCode !== 'SIGKILL') throw new Error(`the writer ended before it was killed: ${this.#errors}`);
  }

  #hear(line: string): void {
    if (line === 'poisoned') this.poisoned = true;
    else if (line.startsWith('unknown ')) this.unknown.push(line.slice('unknown '.length));
    else if (line !== 'open') this.acknowledged.push(line);
    this.#heard();
  }
}

// In blocks of 512 bytes, as POSIX has it.
const LIMIT = 'ulimit -f "$0"; exec "$@"';
