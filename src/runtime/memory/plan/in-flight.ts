import { ChurnMap } from '#base';
import type { Instant } from '#canon';
import type { FactWrite, PartitionName } from '#ledger';

/**
 * Changes that were accepted here and that the store has not answered yet. They have their time already: who reads as of it, or as of later,
 * before they are there would read something else of the same instant afterwards. Erasures are none of them: they change what was read anyway, and
 * may take long.
 */
export class UnderWay {
  /** By what is sent at once: who waits for it. */
  readonly #sent: ChurnMap<readonly FactWrite[], (() => void)[]> = new ChurnMap();

  accept(writes: readonly FactWrite[]): void {
    if (writes.length > 0) this.#sent.set(writes, []);
  }

  /** The store has answered, whatever it did. */
  settled(writes: readonly FactWrite[]): void {
    const waiting = this.#sent.get(writes) ?? [];
    this.#sent.delete(writes);
    for (const go of waiting) go();
  }

  /**
   * Settles when the store has answered all that it was sent by now of what is asked for, at this instant or before; undefined where that is
   * nothing. What is accepted meanwhile is not waited for: it has a later time, but for that of a turn which began before.
   */
  arrived(asked: Pick<PartitionName, 'space'> & Partial<PartitionName>, system: Instant): Promise<unknown> | undefined {
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
