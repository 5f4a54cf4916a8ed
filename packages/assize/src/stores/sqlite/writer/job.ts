import type { Batch, CommitResult } from '#ledger';
import { effectSize } from '../../effects.ts';
import { StoreError } from '../../errors.ts';
import { factSize } from '../../facts.ts';
import { type BatchWriter, conflictAt, DuplicateEntry } from './commit.ts';

/** A job that waits for the next transaction. */
export interface Job {
  readonly rows: number;
  readonly bytes: number;
  /** The estimated number of pages that the job adds to the WAL. */
  readonly pages: number;
  /**
   * Writes inside the transaction and stores the answer. Returns false if the write must be rolled
   * back.
   */
  write(): boolean;
  /** Answers the caller after the commit. */
  answer(): void;
  /** Rejects the caller. Nothing was written. */
  fail(error: StoreError): void;
  /** Answers that the outcome is unknown. */
  doubt(error: StoreError): void;
}

const PAGE_BYTES = 4_096;

// The text of the row, and about one page that no other row of the group shares. A checkpoint then
// measures the actual number.
function estimatePages(rows: number, bytes: number): number {
  return rows + bytes / PAGE_BYTES;
}

export class BatchJob implements Job {
  readonly rows: number;
  readonly bytes: number;
  readonly #batch: Batch;
  readonly #writer: BatchWriter;
  readonly #resolve: (result: CommitResult) => void;
  readonly #reject: (error: StoreError) => void;
  /** An error for misuse: nothing was written. */
  #result: CommitResult | StoreError | undefined;

  constructor(
    batch: Batch,
    writer: BatchWriter,
    resolve: (result: CommitResult) => void,
    reject: (error: StoreError) => void,
  ) {
    this.#batch = batch;
    this.#writer = writer;
    this.#resolve = resolve;
    this.#reject = reject;
    const effects = effectSize(batch);
    const facts = factSize(batch.facts);
    let bytes = effects.bytes + facts.bytes;
    for (const row of batch.entries) bytes += row.payload.length;
    for (const row of batch.blobs) bytes += row.text.length;
    this.bytes = bytes;
    const erased = (batch.erased?.length ?? 0) + (batch.erasedAnswers?.length ?? 0);
    this.rows = batch.entries.length + batch.blobs.length + erased + effects.rows + facts.rows;
  }

  get pages(): number {
    return this.#isCommitted ? estimatePages(this.rows, this.bytes) : 0;
  }

  write(): boolean {
    try {
      this.#result = this.#writer.write(this.#batch);
      return true;
    } catch (error) {
      if (error instanceof StoreError) {
        this.#result = error;
        return true;
      }
      if (!(error instanceof DuplicateEntry)) throw error;
      this.#result = conflictAt(error.row);
      return false;
    }
  }

  answer(): void {
    if (this.#result instanceof StoreError) this.#reject(this.#result);
    else this.#resolve(this.#result!);
  }

  fail(error: StoreError): void {
    this.#reject(error);
  }

  doubt(error: StoreError): void {
    this.#resolve({ status: 'unknown', cause: error });
  }

  get #isCommitted(): boolean {
    return !(this.#result instanceof StoreError) && this.#result?.status === 'committed';
  }
}

/**
 * A step that is safe to repeat. It has no `unknown` result: the caller retries it after a doubtful
 * answer.
 */
export class OperationJob<T> implements Job {
  readonly rows: number;
  readonly bytes: number;
  readonly #step: () => T;
  readonly #resolve: (result: T) => void;
  readonly #reject: (error: StoreError) => void;
  #result: T | undefined;

  constructor(
    step: () => T,
    size: { readonly rows: number; readonly bytes: number },
    resolve: (result: T) => void,
    reject: (error: StoreError) => void,
  ) {
    this.rows = size.rows;
    this.bytes = size.bytes;
    this.#step = step;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  get pages(): number {
    return estimatePages(this.rows, this.bytes);
  }

  write(): boolean {
    this.#result = this.#step();
    return true;
  }

  answer(): void {
    this.#resolve(this.#result as T);
  }

  fail(error: StoreError): void {
    this.#reject(error);
  }

  doubt(error: StoreError): void {
    this.#reject(error);
  }
}
