/**
 * Tools that take their time elsewhere: each call is a thread's that sleeps for it and then
 * answers, as a process, a server or a person would be waited for. Timers of one process end
 * together, with a tick of its clock; these end when each has slept.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

const SLEEPER = `
const { parentPort } = require('node:worker_threads');
const never = new Int32Array(new SharedArrayBuffer(4));
parentPort.on('message', (ms) => {
  Atomics.wait(never, 0, 0, ms);
  parentPort.postMessage(null);
});
`;

export class Sleepers {
  readonly #threads: readonly Worker[];
  readonly #free: Worker[];

  /** As many calls at a time as there are threads. */
  constructor(threads: number) {
    this.#threads = Array.from({ length: threads }, () => new Worker(SLEEPER, { eval: true }));
    this.#free = [...this.#threads];
  }

  async sleep(ms: number): Promise<void> {
    const thread = this.#free.pop();
    if (thread === undefined) throw new Error(`more than ${this.#threads.length} calls at a time`);
    const answered = once(thread, 'message');
    thread.postMessage(ms);
    await answered;
    this.#free.push(thread);
  }

  async end(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.terminate()));
  }
}
