import {
  type BranchPayload,
  Chain,
  type CommitPayload,
  checkRow,
  type DelegationPayload,
  type Entry,
  type FaultCode,
  type Folded,
  isOfEffects,
  LedgerFault,
  type PendingPayload,
  type RejectionPayload,
  type Replayer,
  type RootPayload,
  type UndoingCosts,
  undoingCostsOf,
} from '#ledger';
import type { Stretch } from './lineage.ts';
import type { DeepReplaySource } from './options.ts';
import type { Scene } from './stage.ts';

/**
 * What is done with each entry on the way. The world of the scene is as it is recorded before the entry, and must be left as
 * it is recorded after it.
 */
export interface Steps<S extends Scene> {
  /** Where a trajectory begins, with the state that it begins with. */
  begin(entry: Entry<RootPayload | BranchPayload>, folded: Folded): S | Promise<S>;
  /** A commit that nobody had to approve. */
  commit(scene: S, entry: Entry<CommitPayload>): Promise<void>;
  /** What a counselor committed. */
  approval(scene: S, entry: Entry<CommitPayload>, pending: PendingPayload): Promise<void>;
  /** With `pending`, the end of what waited. */
  refusal(scene: S, entry: Entry<RejectionPayload>, pending: PendingPayload | undefined): Promise<void>;
  /** With `before`, the approval of that by one person more, who is not the last. */
  pending(scene: S, entry: Entry<PendingPayload>, before: PendingPayload | undefined): Promise<void>;
  delegation(scene: S, entry: Entry<DelegationPayload>): void | Promise<void>;
  /** Undoing effects has cost something, by an entry that tells of them. */
  undoing?(scene: S, costs: UndoingCosts): Promise<void>;
}

/** Entries that are read at a time; between two pages others get their turn. */
const PAGE = 500;

/** Goes along a lineage, with one world that is folded on the way. What tells of effects is passed over, but for what undoing them has cost. */
export class Walk<S extends Scene> {
  readonly #store: DeepReplaySource;
  readonly #replayer: Replayer;
  readonly #steps: Steps<S>;
  readonly #onProgress: ((done: number, total: number) => void) | undefined;
  readonly #total: number;
  #scene: S | undefined;
  #last: Entry | undefined;
  #entries: number = 0;

  constructor(
    store: DeepReplaySource,
    replayer: Replayer,
    lineage: readonly Stretch[],
    steps: Steps<S>,
    onProgress?: (done: number, total: number) => void,
  ) {
    this.#store = store;
    this.#replayer = replayer;
    this.#steps = steps;
    this.#onProgress = onProgress;
    this.#total = lineage.reduce((sum, { entries }) => sum + entries, 0);
  }

  /** Entries that were gone through. */
  get entries(): number {
    return this.#entries;
  }

  /** The last of them. */
  get last(): Entry {
    return this.#last as Entry;
  }

  /** @throws LedgerFault; what the steps throw */
  async along({ trajectoryId, entries, until }: Stretch): Promise<void> {
    const chain = new Chain(trajectoryId);
    while (chain.seq < entries) {
      this.#onProgress?.(this.#entries, this.#total);
      const limit = Math.min(PAGE, entries - chain.seq);
      const rows = await this.#store.entries(trajectoryId, { from: chain.seq, limit });
      if (rows.length === 0) throw faultAt(trajectoryId, chain.seq, 'not_found', 'the entry is not there');
      for (const row of rows) await this.#take(chain, checkRow(row));
    }
    if (until !== undefined && chain.head !== until)
      throw faultAt(trajectoryId, entries - 1, 'source_missing', `the entry ${until} is not in its place`);
  }

  async #take(chain: Chain, entry: Entry): Promise<void> {
    const pending = resolvedBy(chain, entry);
    chain.accept(entry);
    this.#last = entry;
    this.#entries++;
    const { payload } = entry;
    if (payload.kind === 'root' || payload.kind === 'branch') {
      const beginning = entry as Entry<RootPayload | BranchPayload>;
      this.#scene = await this.#steps.begin(beginning, await this.#folded(beginning));
      return;
    }
    const scene = this.#scene as S;
    // It changes no state, and no domain has ruled on it.
    if (isOfEffects(payload)) {
      const costs = undoingCostsOf(payload);
      return costs === undefined ? undefined : this.#steps.undoing?.(scene, costs);
    }
    switch (payload.kind) {
      case 'commit':
        return pending === undefined
          ? this.#steps.commit(scene, entry as Entry<CommitPayload>)
          : this.#steps.approval(scene, entry as Entry<CommitPayload>, pending);
      case 'rejection':
        return this.#steps.refusal(scene, entry as Entry<RejectionPayload>, pending);
      case 'pending_approval':
        return this.#steps.pending(scene, entry as Entry<PendingPayload>, pending);
      case 'delegation':
        return this.#steps.delegation(scene, entry as Entry<DelegationPayload>);
    }
  }

  /** What a root says, or what the source was folded to: by the way that led here, or anew. */
  async #folded(entry: Entry<RootPayload | BranchPayload>): Promise<Folded> {
    const { payload } = entry;
    if (payload.kind === 'root') return this.#replayer.begin(entry, payload);
    return this.#scene?.world.folded ?? this.#replayer.stateAt(payload.source_trajectory_id, payload.source_commit_id);
  }
}

/** What was pending and is resolved by an entry; to be asked before the chain has taken it. */
function resolvedBy(chain: Chain, { payload }: Entry): PendingPayload | undefined {
  const resolves = 'resolves' in payload ? payload.resolves : undefined;
  return resolves === undefined ? undefined : chain.open.get(resolves);
}

function faultAt(trajectory_id: string, seq: number, code: FaultCode, detail: string): LedgerFault {
  return new LedgerFault({ trajectory_id, seq, code, detail });
}
