import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A program that says its events as lines of JSON. */
export class Program {
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;
  readonly #said: Record<string, any>[] = [];
  #errors = '';

  constructor(file: string, asked: object, env: Readonly<Record<string, string>> = {}) {
    this.#process = spawn(process.execPath, [file, JSON.stringify(asked)], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#ended = once(this.#process, 'close');
    createInterface({ input: this.#process.stdout! }).on('line', (line) => {
      if (line.startsWith('{')) this.#said.push(JSON.parse(line) as Record<string, any>);
      else this.#errors += `${line}\n`;
    });
    this.#process.stderr!.on('data', (text) => {
      this.#errors += String(text);
    });
  }

  /** The signal that ended the program, or null, and its events. */
  async end(): Promise<{
    readonly signal: NodeJS.Signals | null;
    readonly said: readonly Record<string, any>[];
  }> {
    await this.#ended;
    return { signal: this.#process.signalCode, said: this.#said };
  }

  /** The first event with this member. */
  async event(name: string): Promise<any> {
    for (;;) {
      const found = this.#said.find((event) => Object.hasOwn(event, name));
      if (found !== undefined) return found[name];
      if (this.#process.exitCode !== null || this.#process.signalCode !== null)
        throw new Error(`the program ended without ${name}: ${this.#errors}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** The number of events with this member until now. */
  count(name: string): number {
    return this.#said.filter((event) => Object.hasOwn(event, name)).length;
  }

  async kill(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.#ended;
  }

  /** Asks the program to end, and waits for that. */
  async terminate(): Promise<void> {
    this.#process.kill('SIGTERM');
    const { signal } = await this.end();
    const { exitCode } = this.#process;
    if (exitCode !== 0)
      throw new Error(`the program ended with ${exitCode ?? signal}: ${this.#errors}`);
  }
}
