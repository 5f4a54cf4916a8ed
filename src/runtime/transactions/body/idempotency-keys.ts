import { EffectError, effectKey, type KnownTransaction, readTransaction } from '#effects';
import type { EffectStore, Hash } from '#ledger';
import type { Prepared } from '../log/call-record.ts';

export interface CallKeysOptions {
  /** The first entry of the trajectory. */
  readonly root: Hash;
  /** Of the transaction: the caller's own, or one that was made up. */
  readonly name: string;
  /** Whether calls may have been made under that name before: it is the caller's own. */
  readonly isAgain: boolean;
}

/** The keys of a transaction's calls, which its attempts have in common, and their generations. */
export class CallKeys {
  readonly #store: EffectStore;
  readonly #options: CallKeysOptions;
  /** Attempts that came before, by their epochs. */
  #attempts: Map<number, Promise<KnownTransaction | undefined>> | undefined;
  /** Generations of calls that were made in this one: a part that is begun anew makes the same calls again. */
  #taken: Map<number | string, number> | undefined;

  constructor(store: EffectStore, options: CallKeysOptions) {
    this.#store = store;
    this.#options = options;
  }

  /** `call`: its place among those of the whole transaction. */
  of(call: number | string, generation: number): Hash {
    const { root, name: transaction } = this.#options;
    return effectKey({ root, transaction, call, generation });
  }

  /** The first of which nothing was called in this one. */
  nextGeneration(call: number | string): number {
    return (this.#taken?.get(call) ?? -1) + 1;
  }

  /** The free one, which is taken from then on. @throws EffectError `key_collision` */
  async takeGeneration(call: number | string): Promise<number> {
    const generation = await this.freeGeneration(call);
    this.#taken ??= new Map();
    this.#taken.set(call, generation);
    return generation;
  }

  /** The first after all that did nothing, or were undone. @throws EffectError `key_collision` */
  async freeGeneration(call: number | string): Promise<number> {
    const { isAgain, name } = this.#options;
    for (let generation = this.nextGeneration(call); ; generation++) {
      if (!isAgain) return generation;
      const key = this.of(call, generation);
      const used = await this.#store.effectKey(key);
      if (used === undefined) return generation;
      const phase = (await this.#before(used.epoch))?.state.effects[used.n]?.phase;
      if (phase === 'undone' || phase === 'dropped') continue;
      throw new EffectError(
        'key_collision',
        `Call ${call} of ${name} was made by transaction ${used.epoch}, and is ${phase}; it is not made again.`,
        { evidence: { key, epoch: used.epoch, phase } },
      );
    }
  }

  /** An attempt before this one, which is read once: what it has undone stays so. */
  #before(epoch: number): Promise<KnownTransaction | undefined> {
    this.#attempts ??= new Map();
    let known = this.#attempts.get(epoch);
    if (known === undefined) {
      known = this.#store.effectsOf(epoch).then((logged) => logged && readTransaction(logged));
      this.#attempts.set(epoch, known);
    }
    return known;
  }

  /** That no attempt before has used these. @throws EffectError `key_collision` */
  async checkUnused(planned: readonly Prepared[]): Promise<void> {
    const used = await Promise.all(planned.map(({ effect }) => this.#store.effectKey(effect.key)));
    const before = used.find((each) => each !== undefined);
    if (before === undefined) return;
    throw new EffectError(
      'key_collision',
      `A call of ${this.#options.name} has a key that transaction ${before.epoch} has used.`,
      { evidence: { epoch: before.epoch } },
    );
  }
}
