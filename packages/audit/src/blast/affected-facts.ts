import { factPages, rowOf, type Write, writeIn, writeTokensOf } from 'assize/host';
import {
  type CommitPayload,
  type Entry,
  type FactStore,
  type FactVersion,
  type Hash,
  OPEN_END,
  type PartitionName,
  type ValueReader,
} from 'assize/internal/ledger';
import { type FactRow, leftovers, lostWrites, type Period, validOf } from 'assize/internal/memory';

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

/** Affected statements about one subject and predicate. */
export interface AffectedStatements extends PartitionName {
  readonly statements: readonly Write[];
}

/** The facts that affected entries stated and ended. */
export interface FactConsequences {
  /** Believed facts that rest on an affected statement, also those that branches inherit. */
  readonly facts: readonly AffectedFact[];
  /** Facts of other entries that affected entries ended, and that are not believed again. */
  readonly ended: readonly AffectedFact[];
  /** The affected statements that facts rest on, or that lost and could hold again. */
  readonly statements: readonly AffectedStatements[];
}

/** The facts that affected entries changed, as the table of facts has them. */
export class AffectedFacts {
  readonly #values: ValueReader;
  readonly #isAffected: (write: Write) => boolean;
  /** The changed partitions, by name, with the affected entries by the time of their change. */
  readonly #changed: Map<string, { readonly name: PartitionName; readonly at: Map<string, Hash> }> =
    new Map();

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

  async found(store: FactStore): Promise<FactConsequences> {
    const branches = this.#changed.size === 0 ? [] : await store.branches();
    for (const { name } of [...this.#changed.values()])
      for (const { space, branch } of branches)
        if (space === name.space) this.#changesOf({ ...name, branch });
    const found = [];
    for (const { name, at } of this.#changed.values()) {
      const rows: FactVersion[] = [];
      for await (const page of factPages(store, { ...name, kind: 'all' })) rows.push(...page);
      found.push(this.#foundIn(rows.map(rowOf), name, at));
    }
    return {
      facts: found.flatMap(({ facts }) => facts),
      ended: found.flatMap(({ ended }) => ended),
      statements: found.flatMap(({ statements, name }) =>
        statements.length === 0 ? [] : [{ ...name, statements }],
      ),
    };
  }

  #foundIn(rows: readonly FactRow[], name: PartitionName, at: ReadonlyMap<string, Hash>) {
    const isAffected = (token: string): boolean => {
      const write = writeIn(token);
      return write !== undefined && this.#isAffected(write);
    };
    const writesOf = (row: FactRow) => writeTokensOf(row.provenance_id);
    const affectedOf = (row: FactRow): string[] => writesOf(row).filter(isAffected);
    const stated = new Set(rows.flatMap(affectedOf));
    const current = rows.filter(({ row_kind }) => row_kind === 'current');
    const believed = current.filter(({ system_time_end }) => system_time_end === OPEN_END);
    const again = new Map<string, Period[]>();
    for (const row of believed)
      for (const token of writesOf(row))
        again.set(token, [...(again.get(token) ?? []), validOf(row)]);
    const isBelieved = (row: FactRow): boolean =>
      leftovers(
        validOf(row),
        writesOf(row).flatMap((token) => again.get(token) ?? []),
      ).length === 0;
    const counting = new Set([...believed.flatMap(affectedOf), ...lostWrites(rows, stated)]);
    const entriesOf = (tokens: readonly string[]) =>
      new Set(tokens.map((token) => writeIn(token)?.entry));
    const stating = entriesOf(rows.flatMap(writesOf));
    const harming = entriesOf([...counting]);
    const facts: AffectedFact[] = [];
    const ended: AffectedFact[] = [];
    for (const row of current) {
      const [by] = affectedOf(row);
      const entry = by === undefined ? at.get(row.system_time_end) : writeIn(by)!.entry;
      if (entry === undefined || (by !== undefined && row.system_time_end !== OPEN_END)) continue;
      const fact = { entry, ...name, object: row.object ?? '', factId: row.fact_id };
      if (by !== undefined) facts.push(fact);
      // An entry ends facts by its statements, while they count, or by a retraction.
      else if ((harming.has(entry) || !stating.has(entry)) && !isBelieved(row)) ended.push(fact);
    }
    return { facts, ended, statements: [...counting].map((token) => writeIn(token)!), name };
  }
}
