import { setImmediate as nextTurn } from 'node:timers/promises';
import { EffectError } from '#effects';
import { AskedPromise } from '../limits/observed-promise.ts';
import type { TimeLimit } from '../limits/time-limit.ts';

/** Something that a body has begun: the name of a tool, or of what else it does here. */
interface Begun {
  readonly what: string;
  made: Promise<unknown> | undefined;
  /** Why it came to nothing, when it has, as far as that is to be seen by somebody. */
  failed: { readonly error: unknown } | undefined;
}

/** What a body has begun that is not over yet, or was refused, and nobody had asked about it by then. */
export class UnderWay {
  readonly #begun = new Set<Begun>();
  readonly #limit: Pick<TimeLimit, 'heard'>;
  #hasReturned = false;

  /** `limit`: of the body, which is told of each sign of life. */
  constructor(limit: Pick<TimeLimit, 'heard'>) {
    this.#limit = limit;
  }

  /** What was let begin, until it is over. To know more of it takes a tenth of what the whole transaction of a call does. */
  certain<T>(what: string, make: () => Promise<T>): Promise<T> {
    const begun: Begun = { what, made: undefined, failed: undefined };
    this.#begun.add(begun);
    const made = this.#untilOver(begun, make);
    begun.made = made;
    return made;
  }

  async #untilOver<T>(begun: Begun, make: () => Promise<T>): Promise<T> {
    this.#limit.heard();
    try {
      return await make();
    } finally {
      this.#limit.heard();
      this.#begun.delete(begun);
    }
  }

  /** What may be refused, until somebody has seen that. A refusal comes in another turn of the event loop. */
  asked<T>(what: string, make: () => Promise<T>): Promise<T> {
    const begun: Begun = { what, made: undefined, failed: undefined };
    this.#begun.add(begun);
    const made = new AskedPromise<T>((resolve, reject) => {
      this.#untilSeen(begun, make).then(resolve, reject);
    });
    begun.made = made;
    // The body is refused for it, or has thrown. What comes after its return is told to nobody else.
    if (!this.#hasReturned) made.toldElsewhere();
    return made;
  }

  async #untilSeen<T>(begun: Begun, make: () => Promise<T>): Promise<T> {
    this.#limit.heard();
    try {
      const value = await make();
      this.#begun.delete(begun);
      return value;
    } catch (error) {
      begun.failed = { error };
      if (isSeen(begun)) this.#begun.delete(begun);
      // Or a body that tries it again until it is done would never let anything else come, its deadline neither.
      await nextTurn();
      throw error;
    } finally {
      this.#limit.heard();
    }
  }

  /** The body has returned, or thrown: what nobody awaits is refused by `checkSeen`, or because it threw. */
  returned(): void {
    this.#hasReturned = true;
    for (const { made } of this.#begun) if (!(made instanceof AskedPromise)) made?.catch(() => undefined);
  }

  /** @throws EffectError `not_awaited` where something is still under way, or was refused and nobody has asked about it */
  checkSeen(): void {
    if (this.#begun.size === 0) return;
    const lost = [...this.#begun].filter((begun) => !isSeen(begun));
    if (lost.length > 0) throw notAwaited(lost);
  }
}

/** Whether it has failed, and somebody has asked what becomes of it. */
function isSeen({ made, failed }: Begun): boolean {
  return failed !== undefined && made instanceof AskedPromise && made.isAsked;
}

function notAwaited(lost: readonly Begun[]): EffectError {
  const calls = lost.map(({ what }) => what);
  const told = calls.length === 1 ? `${calls[0]} was` : `${calls.join(', ')} were`;
  return new EffectError(
    'not_awaited',
    `${told} not awaited when the body returned, so nothing of the transaction stands; await all that is called in it.`,
    { evidence: { calls }, cause: lost.find(({ failed }) => failed !== undefined)?.failed?.error },
  );
}
