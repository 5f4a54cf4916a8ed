import {
  applyPatches,
  type BranchPayload,
  Chain,
  type CommitPayload,
  checkRow,
  type DelegationPayload,
  type Entry,
  type FaultCode,
  type Folded,
  isEffectEntry,
  isUpgrade,
  LedgerFault,
  type Patch,
  type PendingPayload,
  type RejectionPayload,
  type Replayer,
  type RootPayload,
  type UndoingCosts,
  type UpgradePayload,
  undoingCostsOf,
} from 'assize/internal/ledger';
import type { LineageSegment } from './lineage.ts';
import type { DeepReplaySource } from './options.ts';
import type { EntryContext } from './rerun-context.ts';

/**
 * The callbacks for the entries of a walk. The state of the scene is as recorded before the entry,
 * and the callback must leave it as recorded after the entry.
 */
export interface EntryVisitor<S extends EntryContext> {
  /** The start of a trajectory, with its initial state. */
  begin(entry: Entry<RootPayload | BranchPayload>, folded: Folded): S | Promise<S>;
  /** A commit that needed no approval. */
  commit(scene: S, entry: Entry<CommitPayload>): Promise<void>;
  /** A counselor's commit. */
  approval(scene: S, entry: Entry<CommitPayload>, pending: PendingPayload): Promise<void>;
  /** With `pending`, the end of a pending proposal. */
  refusal(
    scene: S,
    entry: Entry<RejectionPayload>,
    pending: PendingPayload | undefined,
  ): Promise<void>;
  /** With `before`, a further approval of that pending proposal, but not the last. */
  pending(
    scene: S,
    entry: Entry<PendingPayload>,
    before: PendingPayload | undefined,
  ): Promise<void>;
  delegation(scene: S, entry: Entry<DelegationPayload>): void | Promise<void>;
  /** A new version of the domain, with the state that the entry makes. */
  upgrade(scene: S, entry: Entry<UpgradePayload>, folded: Folded): S | Promise<S>;
  /** A cost of compensations, in an entry that records effects. */
  undoing?(scene: S, costs: UndoingCosts): Promise<void>;
}

/** Entries read at a time; other tasks may run between two pages. */
const PAGE = 500;

/**
 * Walks along a lineage, with one state that is folded on the way. Entries that record effects are
 * skipped, except the cost of compensations.
 */
export class Walk<S extends EntryContext> {
  readonly #store: DeepReplaySource;
  readonly #replayer: Replayer;
  readonly #steps: EntryVisitor<S>;
  readonly #onProgress: ((done: number, total: number) => void) | undefined;
  readonly #total: number;
  #scene: S | undefined;
  #last: Entry | undefined;
  #entries: number = 0;

  constructor(
    store: DeepReplaySource,
    replayer: Replayer,
    lineage: readonly LineageSegment[],
    steps: EntryVisitor<S>,
    onProgress?: (done: number, total: number) => void,
  ) {
    this.#store = store;
    this.#replayer = replayer;
    this.#steps = steps;
    this.#onProgress = onProgress;
    this.#total = lineage.reduce((sum, { entries }) => sum + entries, 0);
  }

  /** Number of visited entries. */
  get entries(): number {
    return this.#entries;
  }

  /** The last visited entry. */
  get last(): Entry {
    return this.#last as Entry;
  }

  /** @throws LedgerFault; the errors of the steps */
  async along({ trajectoryId, entries, until }: LineageSegment): Promise<void> {
    const chain = new Chain(trajectoryId);
    while (chain.seq < entries) {
      this.#onProgress?.(this.#entries, this.#total);
      const limit = Math.min(PAGE, entries - chain.seq);
      const rows = await this.#store.entries(trajectoryId, { from: chain.seq, limit });
      if (rows.length === 0)
        throw faultAt(trajectoryId, chain.seq, 'not_found', 'the entry is missing');
      for (const row of rows) await this.#take(chain, checkRow(row));
    }
    if (until !== undefined && chain.head !== until)
      throw faultAt(
        trajectoryId,
        entries - 1,
        'source_missing',
        `the entry ${until} is not at its position`,
      );
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
    // The entry changes no state, and no domain has ruled on it.
    if (isEffectEntry(payload)) {
      const costs = undoingCostsOf(payload);
      return costs === undefined ? undefined : this.#steps.undoing?.(scene, costs);
    }
    if (isUpgrade(payload)) {
      const upgrade = entry as Entry<UpgradePayload>;
      const patches = await this.#replayer.values.patches(entry, payload.delta.state);
      this.#scene = await this.#steps.upgrade(
        scene,
        upgrade,
        foldedWith(scene.world.folded, entry, patches),
      );
      return;
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

  /**
   * The initial state: a root's own, or the folded state of the source, from this walk or folded
   * again.
   */
  async #folded(entry: Entry<RootPayload | BranchPayload>): Promise<Folded> {
    const { payload } = entry;
    if (payload.kind === 'root') return this.#replayer.begin(entry, payload);
    return (
      this.#scene?.world.folded ??
      this.#replayer.stateAt(payload.source_trajectory_id, payload.source_commit_id)
    );
  }
}

/** The state after the changes of an entry, in the objects of the state before. */
function foldedWith(
  folded: Folded,
  { trajectory_id, seq }: Entry,
  patches: readonly Patch[],
): Folded {
  try {
    applyPatches(folded, patches);
    return folded;
  } catch (error) {
    throw new LedgerFault(
      { trajectory_id, seq, code: 'bad_patch', detail: (error as Error).message },
      error,
    );
  }
}

/** The pending proposal that an entry resolves. Call it before the chain accepts the entry. */
function resolvedBy(chain: Chain, { payload }: Entry): PendingPayload | undefined {
  const resolves = 'resolves' in payload ? payload.resolves : undefined;
  return resolves === undefined ? undefined : chain.open.get(resolves);
}

function faultAt(trajectory_id: string, seq: number, code: FaultCode, detail: string): LedgerFault {
  return new LedgerFault({ trajectory_id, seq, code, detail });
}
