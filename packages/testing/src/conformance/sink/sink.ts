import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { childEnvironment } from '../child-environment.ts';
import { ConformanceError } from '../errors.ts';
import type { Behaviour, SinkCommand, SinkState } from './effect.ts';

const POLL_MS = 10;

interface Reply {
  readonly id: number;
  readonly state: SinkState;
}

/** The sink's process, as the suite asks it. */
export class Sink {
  /** The address, as drivers get it. */
  readonly url: string;
  readonly #child: ChildProcess;
  readonly #waiting: Map<number, (state: SinkState) => void> = new Map();
  #next: number = 1;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
    child.on('message', ({ id, state }: Reply) => {
      this.#waiting.get(id)?.(state);
      this.#waiting.delete(id);
    });
  }

  /**
   * Starts the process.
   *
   * @param file - gets a line of JSON for each effect
   * @param compileCache - the folder of compiled code. Default: that of the environment
   * @throws ConformanceError `unreachable`
   */
  static async start(file: string, compileCache?: string): Promise<Sink> {
    const child = fork(new URL('./sink-worker.ts', import.meta.url), {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      execArgv: [],
      env: childEnvironment(compileCache),
    });
    const ended = once(child, 'exit').then(() => {
      throw new ConformanceError(
        'unreachable',
        'The process of the sink ended before it listened. Run the suite again.',
      );
    });
    child.send(file);
    const [{ url }] = (await Promise.race([once(child, 'message'), ended])) as [
      { readonly url: string },
    ];
    ended.catch(() => undefined);
    return new Sink(child, url);
  }

  /** The next request about the call is treated so. Several wait for one request each. */
  async behave(call: string, behaviour: Behaviour): Promise<void> {
    await this.#ask({ op: 'behave', call, behaviour });
  }

  /** Ends the hold of a call. `take: false`: the request has no effect. */
  async release(call: string, { take }: { readonly take: boolean }): Promise<void> {
    await this.#ask({ op: 'release', call, take });
  }

  /** The effects and the requests until now. */
  state(): Promise<SinkState> {
    return this.#ask({ op: 'state' });
  }

  /** Waits until a request about the call has arrived. Returns whether one did in time. */
  async hasArrived(call: string, timeoutMs: number): Promise<boolean> {
    const until = performance.now() + timeoutMs;
    for (;;) {
      if (((await this.state()).arrived[call] ?? 0) > 0) return true;
      if (performance.now() >= until) return false;
      await pause(POLL_MS);
    }
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }

  #ask(command: SinkCommand): Promise<SinkState> {
    const id = this.#next++;
    const { promise, resolve, reject } = Promise.withResolvers<SinkState>();
    this.#waiting.set(id, resolve);
    this.#child.send({ id, command }, (error) => {
      if (error !== null)
        reject(
          new ConformanceError(
            'unreachable',
            'The process of the sink has ended. Run the suite again.',
            {
              cause: error,
            },
          ),
        );
    });
    return promise;
  }
}
