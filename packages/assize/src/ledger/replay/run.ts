import { isAssizeError, type Json } from '#base';
import { parseStrict, WORLD_LIMITS } from '#canon';
import { isBlobRef } from '../entry/blob.ts';
import type { Amounts, CommitPayload, Entry, Payload } from '../entry/entry.ts';
import { isErasure } from '../entry/erasure.ts';
import type { Hash } from '../entry/hash.ts';
import type { Patch } from '../entry/patch.ts';
import { valuesIn } from '../entry/references.ts';
import type { VerifiedRun } from '../entry/run.ts';
import { isSettlement } from '../entry/settlement.ts';
import { isHalt, isRevocation, isUpgrade } from '../entry/system-actions.ts';
import { Chain } from '../rules/chain.ts';

/**
 * The longest runs among consecutive entries that were checked one by one: commits and rejections
 * that resolve nothing and refer to no blob. An entry that breaks a rule is in no run, so a reader
 * of individual entries finds and names the fault.
 */
export function runsOf(entries: readonly Entry[]): VerifiedRun[] {
  const runs: VerifiedRun[] = [];
  for (let i = 0; i < entries.length; ) {
    const builder = new RunBuilder(entries[i] as Entry);
    let next = i;
    while (next < entries.length && builder.take(entries[next] as Entry)) next++;
    if (next > i) runs.push(builder.run());
    i = Math.max(next, i + 1);
  }
  return runs;
}

/** The patches of a run, one list per entry. */
export function patchesOfRun({ patches }: VerifiedRun): readonly (readonly Patch[])[] {
  // Node's own parser can misread names with escapes (nodejs/node#63785).
  const lists: Json = patches.includes('\\')
    ? parseStrict(patches, WORLD_LIMITS)
    : (JSON.parse(patches) as Json);
  return lists as unknown as readonly (readonly Patch[])[];
}

/** UTF-16 units of patches after which a run ends. One entry has at most about half a million. */
const PATCHES_MAX = 4_000_000;

class RunBuilder {
  readonly #first: Entry;
  readonly #chain: Chain;
  #count = 0;
  #patches = '';
  readonly #spent: Map<Hash, { seq: number; units: Map<string, number> }> = new Map();
  readonly #key: string | undefined;
  #parentCommit: Hash | undefined;

  constructor(first: Entry) {
    this.#first = first;
    this.#chain = new Chain(first.trajectory_id);
    this.#chain.head = first.parent;
    this.#chain.seq = first.seq;
    this.#key = first.payload.signature?.key;
  }

  /** Returns false for an entry that does not belong to the run. */
  take(entry: Entry): boolean {
    const { payload, seq } = entry;
    const isOther = !isPlain(payload) || payload.signature?.key !== this.#key;
    if (isOther || this.#patches.length > PATCHES_MAX) return false;
    // The first commit stands for the commits before the run.
    const first = payload.kind === 'commit' && this.#parentCommit === undefined;
    if (first) this.#chain.lastCommit = payload.parent_commit;
    try {
      this.#chain.accept(entry);
    } catch (error) {
      if (isAssizeError(error)) return false;
      throw error;
    }
    if (first) this.#parentCommit = payload.parent_commit;
    this.#patches += this.#count++ === 0 ? '[' : ',';
    this.#patches += payload.kind === 'commit' ? JSON.stringify(payload.delta.state) : '[]';
    if (payload.kind === 'commit') this.#spend(payload.writ_id, seq, payload.budget_cost);
    return true;
  }

  run(): VerifiedRun {
    const { head, at, lastCommit } = this.#chain;
    return {
      trajectoryId: this.#first.trajectory_id,
      seq: this.#first.seq,
      count: this.#count,
      parent: this.#first.parent as Hash,
      from: this.#first.payload.at,
      parentCommit: this.#parentCommit,
      head: head as Hash,
      to: at,
      lastCommit: this.#parentCommit === undefined ? undefined : lastCommit,
      key: this.#key,
      spent: [...this.#spent].map(([writId, { seq, units }]) => ({
        writId,
        seq,
        cost: Object.fromEntries(units),
      })),
      patches: `${this.#patches}]`,
    };
  }

  #spend(writId: Hash, seq: number, cost: Amounts): void {
    let account = this.#spent.get(writId);
    if (account === undefined) {
      account = { seq, units: new Map() };
      this.#spent.set(writId, account);
    }
    for (const unit in cost)
      account.units.set(unit, (account.units.get(unit) ?? 0) + (cost[unit] as number));
  }
}

function isPlain(payload: Payload): boolean {
  if (payload.kind !== 'commit' && payload.kind !== 'rejection') return false;
  if (payload.resolves !== undefined || refersBesideFold(payload)) return false;
  return payload.kind === 'rejection' || !refersInFold(payload);
}

/** Whether all or part of a commit's changes are in blobs. */
export function refersInFold({ delta }: CommitPayload): boolean {
  return isBlobRef(delta.state) || valuesIn(delta.state).some(isBlobRef);
}

/**
 * Whether an entry of the two frequent kinds needs more reads than its fold. True if arguments or
 * observations are blobs, and for erasures, revocations, halts, changes of facts and effects.
 */
export function refersBesideFold(
  payload: Extract<Payload, { kind: 'commit' | 'rejection' }>,
): boolean {
  const { args, observations } =
    payload.kind === 'commit'
      ? { args: payload.action.args, observations: payload.observations }
      : payload.intent;
  const isStop = isRevocation(payload) || isHalt(payload) || isUpgrade(payload);
  const isBuiltIn = isErasure(payload) || isStop || isSettlement(payload);
  const hasMore =
    payload.kind === 'commit' &&
    (payload.delta.effects.length > 0 || payload.delta.beliefs.length > 0);
  return (
    isBuiltIn || hasMore || isBlobRef(args) || observations.some(({ value }) => isBlobRef(value))
  );
}
