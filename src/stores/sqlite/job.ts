import type { Batch, CommitResult } from '#ledger';
import type { OracleRow } from '#oracle';
import type { StoreError } from '../errors.ts';
import { type BatchWriter, conflictAt, DuplicateEntry } from './commit.ts';

/** What waits for the next transaction. */
export interface Job {
  readonly rows: number;
  readonly bytes: number;
  /** What it adds to the WAL, estimated. */
  readonly pages: number;
  /** Inside the transaction; keeps the answer back. False when it has to be undone with a rollback. */
  write(): boolean;
  /** After the commit: gives the caller the answer. */
  answer(): void;
  /** Nothing was written. */
  fail(error: StoreError): void;
  /** No one can tell whether it was written. */
  doubt(error: StoreError): void;
}

const PAGE_BYTES = 4_096;

// The row's text, and about one page of an index that no other row of the group touches.
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
  #result: CommitResult | undefined;

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
    let bytes = 0;
    for (const row of batch.entries) bytes += row.payload.length;
    for (const row of batch.blobs) bytes += row.text.length;
    this.bytes = bytes;
    this.rows = batch.entries.length + batch.blobs.length;
  }

  get pages(): number {
    return this.#result?.status === 'committed' ? estimatePages(this.rows, this.bytes) : 0;
  }

  write(): boolean {
    try {
      this.#result = this.#writer.write(this.#batch);
      return true;
    } catch (error) {
      if (!(error instanceof DuplicateEntry)) throw error;
      this.#result = conflictAt(error.row);
      return false;
    }
  }

  answer(): void {
    this.#resolve(this.#result!);
  }

  fail(error: StoreError): void {
    this.#reject(error);
  }

  doubt(error: StoreError): void {
    this.#resolve({ status: 'unknown', cause: error });
  }
}

export class OracleJob implements Job {
  readonly rows = 1;
  readonly bytes: number;
  readonly #row: OracleRow;
  readonly #put: (row: OracleRow) => OracleRow;
  readonly #resolve: (row: OracleRow) => void;
  readonly #reject: (error: StoreError) => void;
  #stored: OracleRow | undefined;

  constructor(
    row: OracleRow,
    put: (row: OracleRow) => OracleRow,
    resolve: (row: OracleRow) => void,
    reject: (error: StoreError) => void,
  ) {
    this.#row = row;
    this.#put = put;
    this.#resolve = resolve;
    this.#reject = reject;
    this.bytes = row.answer.length;
  }

  get pages(): number {
    return estimatePages(1, this.bytes);
  }

  write(): boolean {
    this.#stored = this.#put(this.#row);
    return true;
  }

  answer(): void {
    this.#resolve(this.#stored!);
  }

  fail(error: StoreError): void {
    this.#reject(error);
  }

  // To put an answer again is harmless, so there is no third result: the asker has no answer that it may act on.
  doubt(error: StoreError): void {
    this.#reject(error);
  }
}
