/** The time between a wake and the run that it causes. */
const REST_MS = 250;

/**
 * Work that a timer starts again and again, never twice concurrently. Every failure goes to
 * `onFailure`: an error that a timer throws would end the process. The timer keeps no process
 * alive.
 */
export class Recurring {
  readonly #work: () => Promise<void> | void;
  readonly #onFailure: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> | undefined;
  #rest: NodeJS.Timeout | undefined;

  constructor(ms: number, work: () => Promise<void> | void, onFailure: (error: unknown) => void) {
    this.#work = work;
    this.#onFailure = onFailure;
    this.#timer = setInterval(() => void this.run(), ms).unref();
  }

  /** Begins the work, unless it is in progress. Resolves when it has ended or failed. */
  run(): Promise<void> {
    this.#running ??= this.#once().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** Begins the work soon, after the work in progress. Cheap: calls until then cause one run. */
  wake(): void {
    this.#rest ??= setTimeout(async () => {
      await this.#running;
      if (this.#rest === undefined) return;
      this.#rest = undefined;
      await this.run();
    }, REST_MS).unref();
  }

  /** Begins the work no more. Resolves when the work in progress has ended. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    clearTimeout(this.#rest);
    this.#rest = undefined;
    await this.#running;
  }

  async #once(): Promise<void> {
    try {
      await this.#work();
    } catch (error) {
      this.#onFailure(error);
    }
  }
}
