import type { Batch, CommitResult, EntryRow } from 'assize/internal/ledger';
import fc from 'fast-check';
import { blobOf, entryAt } from './store-rows.ts';

// A minimal store to compare others with: each batch is checked alone, in call order.

/** The relation of one generated entry to the head at the time when its batch is made. */
export interface GeneratedEntry {
  readonly trajectory: number;
  readonly place: 'next' | 'again' | 'gap';
  readonly parent: 'head' | 'wrong';
  /** Copies the id of an earlier entry, in any trajectory. */
  readonly copiesId: boolean;
}

/** One call, and whether the test waits for all answers before it continues. */
export interface GeneratedCall {
  readonly entries: readonly GeneratedEntry[];
  readonly blobs: readonly number[];
  readonly thenWaits: boolean;
}

const TRAJECTORIES = ['a', 'b', 'c'];

/** Calls that mostly succeed: a failed batch removes the parent of the batches queued after it. */
export const generatedCalls: fc.Arbitrary<GeneratedCall[]> = fc.array(
  fc.record({
    entries: fc.array(
      fc.record({
        trajectory: fc.nat(TRAJECTORIES.length - 1),
        place: mostly('next', 'again', 'gap'),
        parent: mostly('head', 'wrong'),
        copiesId: mostly(false, true),
      }),
      { maxLength: 4 },
    ),
    blobs: fc.array(fc.nat(3), { maxLength: 2 }),
    thenWaits: fc.boolean(),
  }),
  { maxLength: 30 },
);

function mostly<T>(usual: T, ...others: T[]): fc.Arbitrary<T> {
  return fc.oneof(
    { weight: 12, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  );
}

/** Turns generated calls into batches and gives the expected answer to each. */
export class StoreModel {
  readonly entries: EntryRow[] = [];
  readonly blobs = new Map<string, string>();
  readonly #made: EntryRow[] = [];

  /** The batch for a call, based on the model's current rows. */
  batch(call: GeneratedCall): Batch {
    const rows: EntryRow[] = [];
    for (const { trajectory, place, parent, copiesId } of call.entries) {
      const name = TRAJECTORIES[trajectory]!;
      const head = this.#head(name, rows);
      const seq = Math.max(0, (head?.seq ?? -1) + { next: 1, again: 0, gap: 2 }[place]);
      const row = entryAt(
        name,
        seq,
        parent === 'head' ? (head?.id ?? null) : 'f'.repeat(64),
        this.#made.length,
      );
      const other = copiesId
        ? this.#made[(this.#made.length * 7) % Math.max(1, this.#made.length - 1)]
        : undefined;
      rows.push(other === undefined ? row : { ...row, id: other.id });
      this.#made.push(row);
    }
    return { entries: rows, blobs: call.blobs.map((n) => blobOf(`blob ${n}`)) };
  }

  commit(batch: Batch): CommitResult {
    const taken: EntryRow[] = [];
    for (const row of batch.entries) {
      const head = this.#head(row.trajectory_id, taken);
      const fits = row.seq === (head?.seq ?? -1) + 1 && row.parent === (head?.id ?? null);
      if (!fits || [...this.entries, ...taken].some((other) => other.id === row.id)) {
        return { status: 'conflict', trajectory_id: row.trajectory_id, seq: row.seq };
      }
      taken.push(row);
    }
    this.entries.push(...taken);
    for (const { hash, text } of batch.blobs) if (!this.blobs.has(hash)) this.blobs.set(hash, text);
    return { status: 'committed' };
  }

  of(name: string): EntryRow[] {
    return this.entries.filter((row) => row.trajectory_id === name);
  }

  /** In order of creation. */
  get trajectories(): string[] {
    return [...new Set(this.entries.map((row) => row.trajectory_id))];
  }

  #head(name: string, more: readonly EntryRow[]): EntryRow | undefined {
    return [...this.entries, ...more].findLast((row) => row.trajectory_id === name);
  }
}
