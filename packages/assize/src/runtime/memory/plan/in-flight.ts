import { TransientMap } from '#base';
import type { Instant } from '#canon';
import type { FactWrite, PartitionName } from '#ledger';

/**
 * Changes that were accepted here but not yet answered by the store. They already have a system
 * time. A read as of that time, before they are stored, would differ from a later read as of the
 * same time. Erasures are excluded: they change past reads anyway, and may take long.
 */
export class InFlightWrites {
  /** Callbacks of waiting readers, by batch. */
  readonly #sent: TransientMap<readonly FactWrite[], (() => void)[]> = new TransientMap();

  add(writes: readonly FactWrite[]): void {
    if (writes.length > 0) this.#sent.set(writes, []);
  }

  /** The store has answered, with any result. */
  complete(writes: readonly FactWrite[]): void {
    const waiting = this.#sent.get(writes) ?? [];
    this.#sent.delete(writes);
    for (const go of waiting) go();
  }

  /**
   * Resolves when the store has answered all current changes of the requested facts up to this
   * instant; undefined if there are none. Changes accepted in the meantime are not awaited, because
   * they are later, except those of a turn that started before.
   */
  waitUntil(
    asked: Pick<PartitionName, 'space'> & Partial<PartitionName>,
    system: Instant,
  ): Promise<unknown> | undefined {
    const { space, subject, predicate } = asked;
    const isAsked = ({ partition, system_time }: FactWrite): boolean =>
      system_time <= system &&
      partition.space === space &&
      (subject === undefined || partition.subject === subject) &&
      (predicate === undefined || partition.predicate === predicate);
    const answers: Promise<void>[] = [];
    for (const [writes, waiting] of this.#sent)
      if (writes.some(isAsked)) answers.push(new Promise((resolve) => void waiting.push(resolve)));
    return answers.length === 0 ? undefined : Promise.all(answers);
  }
}
