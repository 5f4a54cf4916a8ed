import { setImmediate as nextTurn } from 'node:timers/promises';
import { EffectError } from '#effects';
import type { TimeLimit } from '../limits/time-limit.ts';

/** An operation that a body started: the name of a tool or of another operation. */
interface StartedCall {
  readonly what: string;
  made: Promise<unknown> | undefined;
  /** The error of a failed operation, if the body can see it. */
  failed: { readonly error: unknown } | undefined;
}

/** The operations of a body that are in flight, or were refused and not awaited. */
export class UnawaitedCalls {
  readonly #begun = new Set<StartedCall>();
  readonly #limit: Pick<TimeLimit, 'heartbeat'>;
  #hasReturned = false;

  /** `limit`: the limit of the body. It is notified of each activity. */
  constructor(limit: Pick<TimeLimit, 'heartbeat'>) {
    this.#limit = limit;
  }

  /**
   * Tracks an admitted operation until it ends. More tracking costs a tenth of a transaction with
   * one call.
   */
  track<T>(what: string, make: () => Promise<T>): Promise<T> {
    const begun: StartedCall = { what, made: undefined, failed: undefined };
    this.#begun.add(begun);
    const made = this.#untilOver(begun, make);
    begun.made = made;
    return made;
  }

  async #untilOver<T>(begun: StartedCall, make: () => Promise<T>): Promise<T> {
    this.#limit.heartbeat();
    try {
      return await make();
    } finally {
      this.#limit.heartbeat();
      this.#begun.delete(begun);
    }
  }

  /**
   * Tracks an operation that may be refused, until the body has seen the refusal. A refusal arrives
   * in a later turn of the event loop.
   */
  trackRejectable<T>(what: string, make: () => Promise<T>): Promise<T> {
    const begun: StartedCall = { what, made: undefined, failed: undefined };
    this.#begun.add(begun);
    const made = new ObservedPromise<T>((resolve, reject) => {
      this.#untilSeen(begun, make).then(resolve, reject);
    });
    begun.made = made;
    // The body is refused because of it, or has thrown. An error after the body's return is not
    // reported elsewhere.
    if (!this.#hasReturned) made.markHandled();
    return made;
  }

  async #untilSeen<T>(begun: StartedCall, make: () => Promise<T>): Promise<T> {
    this.#limit.heartbeat();
    try {
      const value = await make();
      this.#begun.delete(begun);
      return value;
    } catch (error) {
      begun.failed = { error };
      if (isHandled(begun)) this.#begun.delete(begun);
      // Otherwise a body that retries until it succeeds would block the event loop, including its
      // deadline.
      await nextTurn();
      throw error;
    } finally {
      this.#limit.heartbeat();
    }
  }

  /**
   * Called when the body has returned or thrown. An operation that is not awaited is then refused
   * by `requireAwaited`, or covered by the body's error.
   */
  bodyReturned(): void {
    this.#hasReturned = true;
    for (const { made } of this.#begun)
      if (!(made instanceof ObservedPromise)) made?.catch(() => undefined);
  }

  /**
   * @throws EffectError `not_awaited` if an operation is in flight, or was refused and not awaited
   */
  requireAwaited(): void {
    if (this.#begun.size === 0) return;
    const lost = [...this.#begun].filter((begun) => !isHandled(begun));
    if (lost.length > 0) throw notAwaited(lost);
  }
}

/** Whether the operation has failed and its promise was awaited. */
function isHandled({ made, failed }: StartedCall): boolean {
  return failed !== undefined && made instanceof ObservedPromise && made.isObserved;
}

function notAwaited(lost: readonly StartedCall[]): EffectError {
  const calls = lost.map(({ what }) => what);
  const told = calls.length === 1 ? `${calls[0]} was` : `${calls.join(', ')} were`;
  return new EffectError(
    'not_awaited',
    `${told} not awaited when the body returned, so the transaction was aborted. Await every call in the body.`,
    { evidence: { calls }, cause: lost.find(({ failed }) => failed !== undefined)?.failed?.error },
  );
}

/**
 * A promise that records whether its result was requested, by `await` or otherwise. Derived
 * promises are ordinary ones.
 */
export class ObservedPromise<T> extends Promise<T> {
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  #isAsked = false;

  get isObserved(): boolean {
    return this.#isAsked;
  }

  // biome-ignore lint/suspicious/noThenProperty: the class must observe each call of `then`
  override then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: any) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#isAsked = true;
    return super.then(onFulfilled, onRejected);
  }

  /**
   * The rejection is reported in another way if the promise is not awaited: it must not end the
   * process.
   */
  markHandled(): void {
    void super.then(undefined, () => undefined);
  }
}
