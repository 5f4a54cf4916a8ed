import { EventEmitter } from 'node:events';
import type { MessagePort, WorkerOptions } from 'node:worker_threads';

/**
 * The thread that writes, played by the one that calls, behind a real port: to start a real one takes longer than most tests, and what it
 * gives to SQLite can't be intercepted. In place of `Worker`.
 */
export class PlayedThread extends EventEmitter {
  readonly #port: MessagePort;

  constructor(_file: string | URL, { workerData }: WorkerOptions) {
    super();
    // Of the globals, and what serves only now: this file is loaded in place of `node:worker_threads`.
    const { port1, port2 } = new MessageChannel() as unknown as import('node:worker_threads').MessageChannel;
    this.#port = port1;
    port1.on('message', (message) => this.emit('message', message));
    port1.once('close', () => this.emit('exit', 0));
    void import('../../src/stores/sqlite/writer/writing-server.ts').then(({ serveWriting }) =>
      serveWriting(port2, workerData),
    );
  }

  postMessage(message: unknown): void {
    this.#port.postMessage(message);
  }

  async terminate(): Promise<number> {
    this.#port.close();
    return 1;
  }

  ref(): void {}

  unref(): void {}
}
