import { arg, checkArgument } from '#base';
import type { EffectPayload } from '#effects';
import {
  type CommitPayload,
  checkRow,
  type Entry,
  type FactStore,
  type Hash,
  isFactStore,
  isSettlement,
  type LedgerStore,
  OPEN_END,
  type PartitionName,
  settlementArgs,
  ValueReader,
} from '#ledger';
import type { AffectedCall } from './affected-call.ts';
import type { Derivation } from './entry-links.ts';
import { GatewayCalls } from './gateway-call.ts';
import { type IncidentStart, startRule } from './incident-start.ts';
import { searchLineage, walkLineage } from './lineage.ts';
import type { AffectedEntry } from './lineage-walk.ts';
import type { IndexedStore } from './link-index.ts';

export const DERIVATIONS: readonly Derivation[] = Object.freeze([
  'belief',
  'recall',
  'state',
  'decision',
  'outcome',
  'delegation',
  'branch',
] as const);

export interface BlastRadiusOptions {
  /** The derivations to follow. Default: all. */
  readonly through?: readonly Derivation[];
  /**
   * `index`: search the index of links, which is extended first, so the store must accept writes.
   * `all`: read every entry, which trusts no cache. Default: `all`.
   */
  readonly by?: 'index' | 'all';
  /** Called now and then, with the number of entries read. */
  readonly onProgress?: (entries: number) => void;
}

const OPTIONS = arg.options<BlastRadiusOptions>({
  through: arg.optional(arg.list(arg.oneOf(DERIVATIONS))),
  by: arg.optional(arg.oneOf(['index', 'all'])),
  onProgress: arg.optional(arg.any),
});

/** A fact that is believed now and was written by an affected entry. */
export interface AffectedFact {
  readonly entry: Hash;
  readonly space: string;
  readonly branch?: string;
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
  readonly factId: string;
}

/** All that derives from the start of an incident. */
export interface BlastRadius {
  readonly start: IncidentStart;
  /** In the order of the log; each derives from entries before it. */
  readonly entries: readonly AffectedEntry[];
  readonly facts: readonly AffectedFact[];
  readonly calls: readonly AffectedCall[];
  /** Affected proposals that are still pending. */
  readonly pending: readonly Hash[];
  /** Number of entries in the store. */
  readonly total: number;
  /** Erased values in the entries that were read: derivations through them are unknown. */
  readonly erased: number;
}

/**
 * Every entry that derives from the start of an incident, over any number of steps and
 * trajectories, with the facts that are believed and the calls that were made because of it. Two
 * entries that change one path of a state count as a derivation, also if the later one did not read
 * the path. A state that an action only read leaves no derivation. Needs no domain.
 *
 * Each entry that is read is checked on its own, without its chain: `verify` checks the chains.
 *
 * @throws RuntimeError `bad_option`, `not_found`; LedgerFault for an altered entry or a missing
 * blob; ArgumentError `bad_argument`
 */
export async function blastRadius(
  store: IndexedStore,
  start: IncidentStart,
  options: BlastRadiusOptions = {},
): Promise<BlastRadius> {
  checkArgument(OPTIONS, options, 'options');
  const { through = DERIVATIONS, by = 'all', onProgress } = options;
  const { isStart, ...found } = await startRule(store, start);
  const walking = { isStart, through: new Set(through), ...(onProgress !== undefined && { onProgress }) };
  const { since, until } = start;
  const times = { ...(since !== undefined && { since }), ...(until !== undefined && { until }) };
  const { affected, entries, erased } =
    by === 'index' ? await searchLineage(store, { ...found, ...times }, walking) : await walkLineage(store, walking);
  const consequences = new Consequences(store);
  for (const entry of affected) await consequences.add(entry);
  return { start, entries: affected, ...(await consequences.found()), total: entries, erased };
}

/** The facts, calls and pending proposals of affected entries. */
class Consequences {
  readonly #store: LedgerStore;
  readonly #values: ValueReader;
  readonly #gateway: GatewayCalls;
  readonly #pending: Set<Hash> = new Set();
  readonly #calls: Map<string, AffectedCall> = new Map();
  /** The entries that wrote rows, by partition and row. */
  readonly #rows: Map<string, { readonly name: PartitionName; readonly by: Map<string, Hash> }> = new Map();

  constructor(store: LedgerStore) {
    this.#store = store;
    this.#values = new ValueReader(store);
    this.#gateway = new GatewayCalls(this.#values);
  }

  async add({ id, kind, from }: AffectedEntry): Promise<void> {
    for (const { entry, how } of from) if (how === 'decision') this.#pending.delete(entry);
    if (kind === 'pending_approval') this.#pending.add(id);
    if (kind !== 'commit') return;
    const entry = checkRow((await this.#store.resolve(id))!);
    const payload = entry.payload as CommitPayload;
    if (isSettlement(payload)) return this.#settle(payload);
    await this.#gateway.add(entry as Entry<CommitPayload>);
    for (const { id: effect, effect: stored } of payload.delta.effects) {
      const held = await this.#values.read(entry, stored);
      const { tool, class: of } = ('value' in held ? held.value : {}) as unknown as Partial<EffectPayload>;
      this.#calls.set(`${id} ${effect}`, {
        ...{ entry: id, trajectoryId: entry.trajectory_id, id: effect, via: 'effect', outcome: 'open' },
        ...(tool !== undefined && { tool }),
        ...(of !== undefined && { reversibility: of.reversibility }),
      });
    }
    for (const { partition, system_time, insert } of payload.delta.beliefs) {
      const held = await this.#values.read(entry, partition as never);
      if (!('value' in held)) continue;
      const name = held.value as unknown as PartitionName;
      const rows = this.#rows.get(partition.$blob) ?? { name, by: new Map() };
      for (const { fact_id } of insert) rows.by.set(`${system_time} ${fact_id}`, id);
      this.#rows.set(partition.$blob, rows);
    }
  }

  #settle(payload: CommitPayload): void {
    for (const { commit, effects } of settlementArgs(payload)?.settled ?? [])
      for (const { id, outcome } of effects) {
        const call = this.#calls.get(`${commit} ${id}`);
        if (call !== undefined) this.#calls.set(`${commit} ${id}`, { ...call, outcome });
      }
  }

  async found(): Promise<Pick<BlastRadius, 'facts' | 'calls' | 'pending'>> {
    const facts: AffectedFact[] = [];
    if (isFactStore(this.#store))
      for (const { name, by } of this.#rows.values()) facts.push(...(await believed(this.#store, name, by)));
    const calls = [...this.#calls.values(), ...this.#gateway.found()];
    return { facts, calls, pending: [...this.#pending] };
  }
}

async function believed(store: FactStore, name: PartitionName, by: ReadonlyMap<string, Hash>): Promise<AffectedFact[]> {
  const found: AffectedFact[] = [];
  for (let after: Awaited<ReturnType<FactStore['facts']>>[number] | undefined; ; ) {
    const rows = await store.facts({ ...name, kind: 'current', system: 'now', ...(after !== undefined && { after }) });
    for (const { fact_id, system_time_start, system_time_end, object } of rows) {
      const entry = by.get(`${system_time_start} ${fact_id}`);
      if (entry !== undefined && system_time_end === OPEN_END)
        found.push({ entry, ...name, object: object ?? '', factId: fact_id });
    }
    after = rows.at(-1);
    if (rows.length < 1_000) return found;
  }
}
