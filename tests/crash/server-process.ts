import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** A server in its own process. It can be killed and started again on its port. */
export class ServerProcess {
  readonly #program: string;
  readonly #argumentsAt: (port: number) => readonly string[];
  #child: ChildProcess | undefined;
  #port: number;

  /**
   * @param argumentsAt the arguments of the program for a port
   * @param port default: 0, for a free one at the first start
   */
  constructor(program: string, argumentsAt: (port: number) => readonly string[], port = 0) {
    this.#program = program;
    this.#argumentsAt = argumentsAt;
    this.#port = port;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async start(): Promise<void> {
    const child = fork(this.#program, this.#argumentsAt(this.#port), {
      execArgv: ['--expose-gc'],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#child = child;
    const [said] = await Promise.race([
      once(child, 'message') as Promise<[{ url: string }]>,
      once(child, 'exit').then(([code, signal]) => {
        throw new Error(`the server ended at its start, with ${code ?? signal}`);
      }),
    ]);
    this.#port = Number(new URL(said.url).port);
  }

  /** Ends the process immediately, as a crash does. */
  async kill(): Promise<void> {
    if (this.#child === undefined) return;
    const exited = once(this.#child, 'exit');
    if (
      this.#child.exitCode === null &&
      this.#child.signalCode === null &&
      this.#child.kill('SIGKILL')
    )
      await exited;
    this.#child = undefined;
  }

  /** Asks the process to end, and resolves with its exit code and the milliseconds that it took. */
  async stop(): Promise<{ readonly code: number | null; readonly ms: number }> {
    const start = performance.now();
    const exited = once(this.#child!, 'exit');
    this.#child!.kill('SIGTERM');
    const [code] = (await exited) as [number | null];
    return { code, ms: performance.now() - start };
  }

  send(message: string | number): void {
    this.#child!.send(message);
  }

  /** Bytes of the process after a garbage collection. */
  async memory(): Promise<{ readonly rss: number; readonly heapUsed: number }> {
    const answered = once(this.#child!, 'message') as Promise<[{ rss: number; heapUsed: number }]>;
    this.#child!.send('memory');
    return (await answered)[0];
  }
}
