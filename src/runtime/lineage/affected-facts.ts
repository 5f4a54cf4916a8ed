import {
  type CommitPayload,
  type Entry,
  type FactStore,
  type FactVersion,
  type Hash,
  OPEN_END,
  type PartitionName,
  type ValueReader,
} from '#ledger';

/** A fact that an affected entry wrote or ended. */
export interface AffectedFact {
  readonly entry: Hash;
  readonly space: string;
  readonly branch?: string;
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
  readonly factId: string;
}

interface Partition {
  readonly name: PartitionName;
  /** The affected entries, by the row that they wrote. */
  readonly wrote: Map<string, Hash>;
  /** The affected entries, by the time of their change. */
  readonly changedAt: Map<string, Hash>;
}

const PAGE = 1_000;

/** The facts that affected entries changed, as the table of facts has them. */
export class AffectedFacts {
  readonly #values: ValueReader;
  readonly #partitions: Map<string, Partition> = new Map();

  constructor(values: ValueReader) {
    this.#values = values;
  }

  async add(entry: Entry<CommitPayload>): Promise<void> {
    for (const { partition, system_time, insert } of entry.payload.delta.beliefs) {
      const held = await this.#values.read(entry, partition as never);
      if (!('value' in held)) continue;
      const name = held.value as unknown as PartitionName;
      const found = this.#partitions.get(partition.$blob) ?? { name, wrote: new Map(), changedAt: new Map() };
      for (const { fact_id } of insert) found.wrote.set(`${system_time} ${fact_id}`, entry.id as Hash);
      found.changedAt.set(system_time, entry.id as Hash);
      this.#partitions.set(partition.$blob, found);
    }
  }

  /**
   * `facts`: written by an affected entry, and believed. `ended`: written by another entry, and
   * ended by an affected one.
   */
  async found(store: FactStore): Promise<{ readonly facts: AffectedFact[]; readonly ended: AffectedFact[] }> {
    const facts: AffectedFact[] = [];
    const ended: AffectedFact[] = [];
    for (const { name, wrote, changedAt } of this.#partitions.values())
      for await (const row of versionsOf(store, name)) {
        const { fact_id, system_time_start, system_time_end, object } = row;
        const writer = wrote.get(`${system_time_start} ${fact_id}`);
        const fact = { ...name, object: object ?? '', factId: fact_id };
        if (writer !== undefined && system_time_end === OPEN_END) facts.push({ entry: writer, ...fact });
        const entry = writer === undefined ? changedAt.get(system_time_end) : undefined;
        if (entry !== undefined) ended.push({ entry, ...fact });
      }
    return { facts, ended };
  }
}

async function* versionsOf(store: FactStore, name: PartitionName): AsyncGenerator<FactVersion> {
  for (let after: FactVersion | undefined; ; ) {
    const rows = await store.facts({ ...name, kind: 'current', ...(after !== undefined && { after }) });
    yield* rows;
    after = rows.at(-1);
    if (rows.length < PAGE) return;
  }
}
