import { type Write, walkLineage } from 'assize/host';
import { arg, checkArgument } from 'assize/internal/base';
import type { EffectPayload } from 'assize/internal/effects';
import {
  type CommitPayload,
  checkRow,
  type Entry,
  type Hash,
  isFactStore,
  isSettlement,
  type LedgerStore,
  type LogStore,
  settlementArgs,
  ValueReader,
} from 'assize/internal/ledger';
import type { AffectedEntry, Derivation } from 'assize/internal/runtime';
import type { AffectedCall } from './affected-call.ts';
import { AffectedFacts, type FactConsequences } from './affected-facts.ts';
import { AffectedGatewayCalls } from './affected-gateway-calls.ts';
import { type IncidentStart, startRule } from './incident-start.ts';

export const DERIVATIONS: readonly Derivation[] = Object.freeze([
  'belief',
  'recall',
  'state',
  'decision',
  'outcome',
  'delegation',
  'permission',
  'branch',
] as const);

export interface BlastRadiusOptions {
  /** The derivations to follow. Default: all. */
  readonly through?: readonly Derivation[];
  /** Called now and then, with the number of entries read. */
  readonly onProgress?: (entries: number) => void;
}

const OPTIONS = arg.options<BlastRadiusOptions>({
  through: arg.optional(arg.list(arg.oneOf(DERIVATIONS))),
  onProgress: arg.optional(arg.any),
});

/** All that derives from the start of an incident. */
export interface BlastRadius extends FactConsequences {
  readonly start: IncidentStart;
  /** In the order of the log; each derives from entries before it. */
  readonly entries: readonly AffectedEntry[];
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
 * The search reads every entry of the store, and writes nothing. Each entry is checked on its own,
 * without its chain: `verify` checks the chains.
 *
 * @throws RuntimeError `bad_argument`, `not_found`; LedgerFault for an altered entry or a missing
 * blob; ArgumentError `bad_argument`
 */
export async function blastRadius(
  store: LedgerStore & LogStore,
  start: IncidentStart,
  options: BlastRadiusOptions = {},
): Promise<BlastRadius> {
  checkArgument(OPTIONS, options, 'options');
  const { through = DERIVATIONS, onProgress } = options;
  const startIn = await startRule(store, start);
  const walking = {
    startIn,
    through: new Set(through),
    ...(onProgress !== undefined && { onProgress }),
  };
  const { affected, followUpsOf, isAffected, entries, erased } = await walkLineage(store, walking);
  const consequences = new Consequences(store, isAffected);
  for (const entry of affected) await consequences.add(entry, followUpsOf(entry.id));
  return { start, entries: affected, ...(await consequences.found()), total: entries, erased };
}

/** The facts, calls and pending proposals of affected entries. */
class Consequences {
  readonly #store: LedgerStore;
  readonly #values: ValueReader;
  readonly #gateway: AffectedGatewayCalls;
  readonly #pending: Hash[] = [];
  readonly #calls: Map<string, AffectedCall> = new Map();
  readonly #facts: AffectedFacts;

  constructor(store: LedgerStore, isAffected: (write: Write) => boolean) {
    this.#store = store;
    this.#values = new ValueReader(store);
    this.#gateway = new AffectedGatewayCalls(this.#values);
    this.#facts = new AffectedFacts(this.#values, isAffected);
  }

  /** `followUps`: the decisions on the entry, or the outcomes of its calls. */
  async add({ id, kind }: AffectedEntry, followUps: ReadonlySet<Hash>): Promise<void> {
    if (kind === 'pending_approval' && followUps.size === 0) this.#pending.push(id);
    if (kind !== 'commit') return;
    const entry = checkRow((await this.#store.resolve(id))!);
    const payload = entry.payload as CommitPayload;
    if (isSettlement(payload)) return;
    await this.#gateway.add(entry as Entry<CommitPayload>);
    for (const { id: effect, effect: stored } of payload.delta.effects) {
      const held = await this.#values.read(entry, stored);
      const { tool, class: of } = ('value' in held
        ? held.value
        : {}) as unknown as Partial<EffectPayload>;
      this.#calls.set(`${id} ${effect}`, {
        ...{
          entry: id,
          trajectoryId: entry.trajectory_id,
          id: effect,
          via: 'effect',
          outcome: 'open',
        },
        ...(tool !== undefined && { tool }),
        ...(of !== undefined && { reversibility: of.reversibility }),
      });
    }
    if (payload.delta.effects.length > 0)
      for (const followUp of followUps) await this.#settle(followUp);
    await this.#facts.add(entry as Entry<CommitPayload>);
  }

  async #settle(followUp: Hash): Promise<void> {
    const { payload } = checkRow((await this.#store.resolve(followUp))!);
    if (payload.kind !== 'commit') return;
    for (const { commit, effects } of settlementArgs(payload)?.settled ?? [])
      for (const { id, outcome } of effects) {
        const call = this.#calls.get(`${commit} ${id}`);
        if (call !== undefined) this.#calls.set(`${commit} ${id}`, { ...call, outcome });
      }
  }

  async found(): Promise<FactConsequences & Pick<BlastRadius, 'calls' | 'pending'>> {
    const changed = isFactStore(this.#store)
      ? await this.#facts.found(this.#store)
      : { facts: [], ended: [], statements: [] };
    const calls = [...this.#calls.values(), ...this.#gateway.found()];
    return { ...changed, calls, pending: this.#pending };
  }
}
