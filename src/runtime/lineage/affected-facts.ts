import {
  type CommitPayload,
  type Entry,
  type FactStore,
  type Hash,
  OPEN_END,
  type PartitionName,
  type ValueReader,
} from '#ledger';
import { tokensOf, writeIn } from '../memory/plan/stated-writes.ts';
import { factPages } from '../memory/visible/fact-pages.ts';
import type { Write } from './entry-links.ts';

/** A fact that rests on a statement of an affected entry, or that such an entry ended. */
export interface AffectedFact {
  readonly entry: Hash;
  readonly space: string;
  readonly branch?: string;
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
  readonly factId: string;
}

/** The facts that affected entries changed, as the table of facts has them. */
export class AffectedFacts {
  readonly #values: ValueReader;
  readonly #isAffected: (write: Write) => boolean;
  /** The changed partitions, by name, with the affected entries by the time of their change. */
  readonly #changed: Map<string, { readonly name: PartitionName; readonly at: Map<string, Hash> }> = new Map();

  constructor(values: ValueReader, isAffected: (write: Write) => boolean) {
    this.#values = values;
    this.#isAffected = isAffected;
  }

  async add(entry: Entry<CommitPayload>): Promise<void> {
    for (const { partition, system_time } of entry.payload.delta.beliefs) {
      const held = await this.#values.read(entry, partition as never);
      if (!('value' in held)) continue;
      const name = held.value as unknown as PartitionName;
      this.#changesOf(name).set(system_time, entry.id as Hash);
    }
  }

  #changesOf({ space, subject, predicate, branch }: PartitionName): Map<string, Hash> {
    const name = { space, subject, predicate, ...(branch !== undefined && { branch }) };
    const key = JSON.stringify(Object.values(name));
    const found = this.#changed.get(key) ?? { name, at: new Map() };
    this.#changed.set(key, found);
    return found.at;
  }

  /**
   * `facts`: believed, and resting on an affected statement, also in branches that inherit them.
   * `ended`: resting on none, and ended by an affected entry.
   */
  async found(store: FactStore): Promise<{ readonly facts: AffectedFact[]; readonly ended: AffectedFact[] }> {
    const branches = this.#changed.size === 0 ? [] : await store.branches();
    for (const { name } of [...this.#changed.values()])
      for (const { space, branch } of branches) if (space === name.space) this.#changesOf({ ...name, branch });
    const facts: AffectedFact[] = [];
    const ended: AffectedFact[] = [];
    for (const { name, at } of this.#changed.values())
      for await (const page of factPages(store, { ...name, kind: 'current' }))
        for (const { fact_id, system_time_end, object, provenance_id } of page) {
          const writes = tokensOf(provenance_id).flatMap((token) => writeIn(token) ?? []);
          const by = writes.find(this.#isAffected);
          const entry = by === undefined ? at.get(system_time_end) : by.entry;
          if (entry === undefined || (by !== undefined && system_time_end !== OPEN_END)) continue;
          (by === undefined ? ended : facts).push({ entry, ...name, object: object ?? '', factId: fact_id });
        }
    return { facts, ended };
  }
}
