import type { Batch, CommitResult } from 'assize/internal/ledger';
import type { OracleRow } from 'assize/internal/oracle';
import { effectSize } from 'assize/internal/stores/effects.ts';
import type { StoreError } from 'assize/internal/stores/errors.ts';
import { factSize } from 'assize/internal/stores/facts.ts';
import type { Session } from '../connection/session.ts';

/** The maximum number of times that a repeatable job is sent, if its connection is lost. */
const TRIES_MAX = 3;

/** A caller that waits for the writer. */
abstract class WaitingCaller<T> {
  readonly #resolve: (result: T) => void;
  readonly #reject: (error: StoreError) => void;
  #tries = 0;

  constructor(resolve: (result: T) => void, reject: (error: StoreError) => void) {
    this.#resolve = resolve;
    this.#reject = reject;
  }

  answer(result: T): void {
    this.#resolve(result);
  }

  /** Rejects the caller. Nothing was written. */
  fail(error: StoreError): void {
    this.#reject(error);
  }

  /**
   * Handles an unknown outcome. Returns true if the job is safe to repeat and must be sent again.
   */
  doubt(error: StoreError): boolean {
    this.#tries += 1;
    if (this.#tries < TRIES_MAX) return true;
    this.fail(error);
    return false;
  }
}

export class BatchJob extends WaitingCaller<CommitResult> {
  readonly batch: Batch;
  readonly rows: number;
  readonly bytes: number;
  /** The error that sends the job again. */
  #doubt: StoreError | undefined;

  constructor(
    batch: Batch,
    resolve: (result: CommitResult) => void,
    reject: (error: StoreError) => void,
  ) {
    super(resolve, reject);
    this.batch = batch;
    const effects = effectSize(batch);
    const facts = factSize(batch.facts);
    const erased = (batch.erased?.length ?? 0) + (batch.erasedAnswers?.length ?? 0);
    this.rows = batch.entries.length + batch.blobs.length + erased + effects.rows + facts.rows;
    let bytes = effects.bytes + facts.bytes;
    for (const row of batch.entries) bytes += row.payload.length;
    for (const row of batch.blobs) bytes += row.text.length;
    this.bytes = bytes;
  }

  // The first attempt may have been written before another lease was given, or as the change that
  // now makes the batch outdated.
  override answer(result: CommitResult): void {
    const isTold =
      (result.status !== 'fenced' && result.status !== 'outdated') || this.#doubt === undefined;
    super.answer(isTold ? result : { status: 'unknown', cause: this.#doubt });
  }

  // A repeated batch with written entries would be a conflict. Blobs alone have no id with which
  // their caller could check the outcome.
  override doubt(error: StoreError): boolean {
    this.#doubt = error;
    if (this.batch.entries.length === 0) return super.doubt(error);
    this.answer({ status: 'unknown', cause: error });
    return false;
  }
}

export class OracleJob extends WaitingCaller<OracleRow> {
  readonly row: OracleRow;
  /** The name under which the answer is listed. */
  readonly within: string | undefined;
  readonly rows = 1;
  readonly bytes: number;

  constructor(
    { row, within }: { readonly row: OracleRow; readonly within: string | undefined },
    resolve: (row: OracleRow) => void,
    reject: (error: StoreError) => void,
  ) {
    super(resolve, reject);
    this.row = row;
    this.within = within;
    this.bytes = row.answer.length;
  }
}

/** A job with its own statements that are safe to repeat. */
export class OperationJob<T = unknown> extends WaitingCaller<T> {
  readonly run: (session: Session) => Promise<T>;

  constructor(
    run: (session: Session) => Promise<T>,
    resolve: (result: T) => void,
    reject: (error: StoreError) => void,
  ) {
    super(resolve, reject);
    this.run = run;
  }
}

/** The jobs that can share a group. */
export type RowsJob = BatchJob | OracleJob;

export type Job = RowsJob | OperationJob<any>;
