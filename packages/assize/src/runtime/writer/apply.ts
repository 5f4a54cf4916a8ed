import type { Change } from '#kernel';
import type { BatchClock, BlobRow, Entry, EntryRow, FactWrite, Hash, Payload } from '#ledger';
import type { SliceUpdates } from './listeners/subscriptions.ts';
import type { TrajectoryState } from './ports.ts';

/**
 * The in-memory changes that accompany an entry, other than the changes that follow from its
 * payload.
 */
export interface Moves {
  /** The adjudicated change of the state. Memory has it already. */
  readonly change?: AdjudicatedChange | undefined;
  /** The planned changes of facts. */
  readonly facts?: { accept(entryId: Hash): readonly FactWrite[] } | undefined;
  /** The writs that the entry's blobs store. */
  readonly writs?: readonly BlobRow[];
  /** No reading of the host's clock delays the entry (`Writer.undelayedNow`). */
  readonly undelayed?: true;
  /** Entries of other trajectories that are written in the same batch. */
  readonly others?: (row: EntryRow) => readonly EntryRow[];
}

/** A change of the state that is kept with its entry, or undone. */
export interface AdjudicatedChange {
  readonly changes: readonly Pick<Change, 'keys'>[];
  keep(): void;
  undo(): void;
}

/** An entry that memory has, and the parts of its batch that follow from it. */
export interface AppliedEntry {
  readonly row: EntryRow;
  readonly payload: Payload;
  readonly batch: {
    readonly rows: readonly [EntryRow, ...EntryRow[]];
    readonly facts: readonly FactWrite[] | undefined;
    readonly sliceUpdates: SliceUpdates;
    /** The host's clock. The store checks it. */
    readonly clock: BatchClock | undefined;
    readonly undelayed?: true;
    /** The pending proposal that the entry resolves. */
    readonly resolves?: Hash;
  };
}

/**
 * Moves everything that memory derives from an entry: the chain with its open approvals, freezes
 * and delegations, the writs with their budgets, and the request index. Every entry that a writer
 * makes goes through this function, and `foldTrajectory` makes the same moves for stored entries.
 *
 * @throws LedgerFault for an entry that breaks a rule of the chain. Nothing has moved then.
 */
export function applyEntry(
  { chain, writs, requests, overrides }: TrajectoryState,
  entry: Entry,
): void {
  chain.accept(entry);
  writs.apply(entry.payload);
  requests.addEntry(entry.payload);
  overrides.note(entry.payload);
}

/** The pending proposal that a payload resolves. */
export function resolvedBy(payload: Payload): Hash | undefined {
  return 'resolves' in payload ? payload.resolves : undefined;
}
