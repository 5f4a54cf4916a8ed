import {
  abandonedArgs,
  type Hash,
  isKeyChange,
  isSettlement,
  isUpgrade,
  type Payload,
  pendingEffectIn,
  revokedBy,
  settlementArgs,
} from 'assize/internal/ledger';

/** An entry as its relations to other entries need it. */
export interface Related {
  readonly id: Hash;
  readonly payload: Payload;
}

/**
 * Relations between the entries of one trajectory, by which an entry brings others into a bundle as
 * context (docs/reference/proof-bundle.md, Context).
 */
export class Relations {
  readonly #first: Hash;
  /** Changes of the key and upgrades, by seq. */
  readonly #before: { readonly id: Hash; readonly seq: number }[] = [];
  readonly #resolvedBy: Map<Hash, Hash> = new Map();
  readonly #ofCommit: Map<Hash, Hash[]> = new Map();
  readonly #ofEpoch: Map<number, Hash[]> = new Map();
  readonly #revoking: Map<Hash, Hash[]> = new Map();

  constructor(first: Hash) {
    this.#first = first;
  }

  get hasRevocations(): boolean {
    return this.#revoking.size > 0;
  }

  /** Takes the next entry of the trajectory, in the order of seq. */
  add({ id, payload }: Related): void {
    if (isKeyChange(payload) || isUpgrade(payload)) this.#before.push({ id, seq: payload.seq });
    const resolves = resolvedBy(payload);
    if (resolves !== undefined) this.#resolvedBy.set(resolves, id);
    for (const commit of commitsOf(payload)) put(this.#ofCommit, commit, id);
    const attempt = abandonedArgs(payload)?.epoch;
    if (attempt !== undefined) put(this.#ofEpoch, attempt, id);
    const revoked = revokedBy(payload);
    if (revoked !== undefined) put(this.#revoking, revoked, id);
  }

  /** The context of an entry in its own trajectory. `writs`: its writ and all ancestors of it. */
  contextOf({ id, payload }: Related, writs: readonly Hash[]): Hash[] {
    const named = [this.#first, resolvedBy(payload), ...commitsOf(payload), startOf(payload)];
    const before = this.#before.filter(({ seq }) => seq < payload.seq).map((turn) => turn.id);
    const decision = payload.kind === 'pending_approval' ? [this.#resolvedBy.get(id)] : [];
    const revoking = writs.flatMap((writ) => this.#revoking.get(writ) ?? []);
    return [
      ...named,
      ...before,
      ...decision,
      ...this.#effectsOf({ id, payload }),
      ...revoking,
    ].filter((one) => one !== undefined);
  }

  #effectsOf({ id, payload }: Related): Hash[] {
    if (payload.kind !== 'commit' || payload.delta.effects.length === 0) return [];
    const attempts = payload.epoch === undefined ? [] : (this.#ofEpoch.get(payload.epoch) ?? []);
    return [...(this.#ofCommit.get(id) ?? []), ...attempts];
  }
}

/** Whether an entry can have a relation that `Relations.add` records. */
export function mayRelate(kind: string, text: string): boolean {
  return kind === 'key_change' || text.includes('"resolves":"') || text.includes('"assize.');
}

/** The entry that another one resolves. */
export function resolvedBy(payload: Payload): Hash | undefined {
  return 'resolves' in payload ? payload.resolves : undefined;
}

/** The commits whose effects an entry is about. */
export function commitsOf(payload: Payload): Hash[] {
  const waiting = pendingEffectIn(payload)?.commit;
  if (waiting !== undefined) return [waiting];
  return isSettlement(payload)
    ? (settlementArgs(payload)?.settled ?? []).map(({ commit }) => commit)
    : [];
}

/** The start that a conclusion concludes. The start of an answer is in another trajectory. */
export function startOf(payload: Payload): Hash | undefined {
  if (payload.kind !== 'delegation' || payload.child_trajectory_id === payload.trajectory_id)
    return undefined;
  return payload.concludes;
}

function put<K>(map: Map<K, Hash[]>, key: K, id: Hash): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [id]);
  else list.push(id);
}
