import type { DatabaseSync } from 'node:sqlite';
import type { Batch, CommitResult, PartitionName } from '#ledger';
import { StoreError } from '../../errors.ts';
import { EffectWriter } from '../effects/effects.ts';
import { FactWriter } from '../facts/fact-writer.ts';
import type { FoundPartition } from '../facts/facts.ts';
import { Indexing, PART } from '../facts/indexing.ts';
import { queuedBy, TextWriter } from '../facts/text-writer.ts';
import type { Indexes, Writers } from './commit.ts';
import { GroupCommit, type GroupCommitOptions } from './group-commit.ts';
import {
  operationSize,
  prepareOperations,
  type WriteOperationName,
  type WriteOperations,
} from './operations.ts';

/**
 * Writes to one file in the order of the calls, over the caller's connection. The caller closes the
 * connection. Every promise rejects with a StoreError only.
 */
export class FileWriter {
  readonly #db: DatabaseSync;
  readonly #group: GroupCommit;
  readonly #steps: WriteOperations;
  readonly #facts: FactWriter;
  readonly #texts: TextWriter;
  readonly #indexing: Indexing;

  constructor(db: DatabaseSync, { ids, blobs }: Indexes, options: GroupCommitOptions) {
    this.#db = db;
    this.#texts = new TextWriter(db);
    this.#facts = new FactWriter(db, blobs, this.#texts, options.path);
    const writers: Writers = { effects: new EffectWriter(db), facts: this.#facts, ids, blobs };
    this.#steps = prepareOperations(db, writers, this.#texts);
    this.#group = new GroupCommit(db, writers, options);
    this.#indexing = new Indexing(
      (most) => this.#flush(most),
      () => this.#group.isIdle,
    );
  }

  /** The reason why the store accepts no writes; undefined as long as no write has failed. */
  get failure(): StoreError | undefined {
    return this.#group.failure;
  }

  /** Whether the last write found the disk full. */
  get isDiskFull(): boolean {
    return this.#group.isDiskFull;
  }

  /** Same as `GroupCommit.commit`. */
  commit(batch: Batch): Promise<CommitResult> {
    const committed = this.#group.commit(batch);
    if (batch.facts !== undefined && batch.facts.length > 0)
      this.#indexing.later(queuedBy(batch.facts));
    return committed;
  }

  /**
   * Resolves to the result of the step, or rejects with its refusal. Writes before the refusal
   * stay.
   */
  async step<Name extends WriteOperationName>(
    name: Name,
    ...given: Parameters<WriteOperations[Name]>
  ): Promise<ReturnType<WriteOperations[Name]>> {
    const run = this.#steps[name] as (
      ...given: Parameters<WriteOperations[Name]>
    ) => ReturnType<WriteOperations[Name]>;
    const answer = await this.#group.run(
      () => {
        try {
          return { value: run(...given) };
        } catch (error) {
          if (error instanceof StoreError) return { error };
          throw error;
        }
      },
      operationSize(name, given),
    );
    if ('error' in answer) throw answer.error;
    return answer.value;
  }

  /** Indexes the oldest queued texts of committed facts. Resolves to false if nothing is left. */
  index(): Promise<boolean> {
    this.#indexing.caughtUp();
    return this.#flush(PART);
  }

  /** Same as `GroupCommit.scrub`. */
  scrub(): Promise<void> {
    return this.#group.scrub();
  }

  /** Caches a partition that was just read outside of a transaction. */
  learn(name: PartitionName, found: FoundPartition): void {
    this.#facts.remember(name, found);
  }

  /** Resolves when no job waits any more. Never rejects. */
  idle(): Promise<void> {
    this.#indexing.end();
    return this.#group.idle();
  }

  /**
   * Closes the writer when no job waits. It copies the rest of the WAL if no other process has the
   * file open.
   */
  async end(): Promise<void> {
    await this.#group.end();
    // Busy if other processes have the file open. The last process to close copies the rest.
    this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  }

  #flush(most: number): Promise<boolean> {
    return this.#group.run(() => this.#texts.flush(most), { rows: most, bytes: 0 });
  }
}
