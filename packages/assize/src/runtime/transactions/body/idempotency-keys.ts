import { EffectError, effectKey, type KnownTransaction, readTransaction } from '#effects';
import type { EffectStore, Hash } from '#ledger';
import type { PreparedCall } from '../log/call-record.ts';
import type { OpenedTransaction } from './opened-transaction.ts';

/** The keys of a transaction's calls, shared by its attempts, and their generations. */
export class IdempotencyKeys {
  readonly #store: EffectStore;
  readonly #options: Pick<OpenedTransaction, 'root' | 'name' | 'isRepeated'>;
  /** The earlier attempts, by epoch. */
  #attempts: Map<number, Promise<KnownTransaction | undefined>> | undefined;
  /** Generations of calls in this attempt. A part that restarts repeats its calls. */
  #taken: Map<number | string, number> | undefined;

  constructor(opened: OpenedTransaction) {
    this.#store = opened.engine.ports.store;
    this.#options = opened;
  }

  /** `call`: the location of the call in the whole transaction. */
  keyOf(call: number | string, generation: number): Hash {
    const { root, name: transaction } = this.#options;
    return effectKey({ root, transaction, call, generation });
  }

  /** The first generation without a call in this attempt. */
  nextGeneration(call: number | string): number {
    return (this.#taken?.get(call) ?? -1) + 1;
  }

  /** Takes the first free generation. @throws EffectError `key_collision` */
  async reserveGeneration(call: number | string): Promise<number> {
    const generation = await this.freeGeneration(call);
    this.#taken ??= new Map();
    this.#taken.set(call, generation);
    return generation;
  }

  /**
   * The first generation after all that did nothing or were compensated. @throws EffectError
   * `key_collision`
   */
  async freeGeneration(call: number | string): Promise<number> {
    const { isRepeated, name } = this.#options;
    for (let generation = this.nextGeneration(call); ; generation++) {
      if (!isRepeated) return generation;
      const key = this.keyOf(call, generation);
      const used = await this.#store.effectKey(key);
      if (used === undefined) return generation;
      const phase = (await this.#before(used.epoch))?.state.effects[used.n]?.phase;
      if (phase === 'undone' || phase === 'dropped') continue;
      throw new EffectError(
        'key_collision',
        `Call ${call} of ${name} belongs to transaction ${used.epoch} and is ${phase}, so it is not repeated.`,
        { evidence: { key, epoch: used.epoch, phase } },
      );
    }
  }

  /** Reads an earlier attempt once: its compensated effects stay compensated. */
  #before(epoch: number): Promise<KnownTransaction | undefined> {
    this.#attempts ??= new Map();
    let known = this.#attempts.get(epoch);
    if (known === undefined) {
      known = this.#store.effectsOf(epoch).then((logged) => logged && readTransaction(logged));
      this.#attempts.set(epoch, known);
    }
    return known;
  }

  /** Checks that no earlier attempt has used the keys. @throws EffectError `key_collision` */
  async checkUnused(planned: readonly PreparedCall[]): Promise<void> {
    const used = await Promise.all(planned.map(({ effect }) => this.#store.effectKey(effect.key)));
    const before = used.find((each) => each !== undefined);
    if (before === undefined) return;
    throw new EffectError(
      'key_collision',
      `A call of ${this.#options.name} has a key that transaction ${before.epoch} has used. Use a new transaction name.`,
      { evidence: { epoch: before.epoch } },
    );
  }
}
