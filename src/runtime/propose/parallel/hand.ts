import type { Foreseen, PatchOperation } from '#kernel';
import type { Ask, FromThread } from './replica.ts';
import type { Thread } from './thread.ts';

/** What a proposal is foreseen to do; undefined where that is not known. */
export type Answered = (foreseen: Foreseen | undefined) => void;

/** A thread and what it was asked. One that dies, or does not answer in time, answers everything with nothing. */
export class Hand {
  /** The domain that it has, when it has imported it. @throws Error with the reason why it has none */
  readonly ready: Promise<Extract<FromThread, { from: 'ready' }>>;
  readonly #thread: Thread;
  readonly #patienceMs: number;
  readonly #onGone: (why: string) => void;
  readonly #asked: Map<number, Answered> = new Map();
  #isGone = false;
  #timer: NodeJS.Timeout | undefined;

  /** `onGone`: told when it is of no use any more, and nobody has ended it. */
  constructor(thread: Thread, patienceMs: number, onGone: (why: string) => void) {
    this.#thread = thread;
    this.#patienceMs = patienceMs;
    this.#onGone = onGone;
    const { promise, resolve, reject } = Promise.withResolvers<Extract<FromThread, { from: 'ready' }>>();
    this.ready = promise;
    thread.hold(true);
    thread.listen({
      said: (message) => {
        if (message.from === 'ready') {
          resolve(message);
          thread.hold(false);
        } else if (message.from === 'failed') reject(new Error(message.why));
        else this.#answer(message.answers);
      },
      ended: (why) => {
        reject(new Error(why));
        this.#give(why);
      },
    });
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** How many askings it has not answered. */
  get load(): number {
    return this.#asked.size;
  }

  begin(replica: number, state: unknown): void {
    this.#thread.post({ to: 'begin', replica, state });
  }

  ask(replica: number, moves: readonly PatchOperation[], asks: readonly (readonly [Ask, Answered])[]): void {
    if (this.#asked.size === 0 && asks.length > 0) {
      this.#thread.hold(true);
      this.#watch();
    }
    for (const [{ id }, answered] of asks) this.#asked.set(id, answered);
    this.#thread.post({ to: 'foresee', replica, moves, asks: asks.map(([ask]) => ask) });
  }

  forget(replica: number): void {
    if (!this.#isGone) this.#thread.post({ to: 'end', replica });
  }

  async end(): Promise<void> {
    this.#dismiss();
    await this.#thread.end();
  }

  #answer(answers: Extract<FromThread, { from: 'foreseen' }>['answers']): void {
    const told = answers.map(({ id, foreseen }) => [this.#asked.get(id), foreseen] as const);
    for (const { id } of answers) this.#asked.delete(id);
    clearTimeout(this.#timer);
    if (this.#asked.size > 0) this.#watch();
    else if (!this.#isGone) this.#thread.hold(false);
    for (const [answered, foreseen] of told) answered?.(foreseen);
  }

  #watch(): void {
    this.#timer = setTimeout(() => {
      this.#give(`it did not answer within ${this.#patienceMs} ms`);
      // Its end is of no interest, and it may never come.
      this.#thread.end().catch(() => undefined);
    }, this.#patienceMs);
  }

  #give(why: string): void {
    if (this.#isGone) return;
    this.#dismiss();
    this.#onGone(why);
  }

  #dismiss(): void {
    this.#isGone = true;
    clearTimeout(this.#timer);
    const asked = [...this.#asked.values()];
    this.#asked.clear();
    for (const answered of asked) answered(undefined);
  }
}
