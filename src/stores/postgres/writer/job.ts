import type { Batch, CommitResult } from '#ledger';
import type { OracleRow } from '#oracle';
import { effectSize } from '../../effects.ts';
import type { StoreError } from '../../errors.ts';
import { factSize } from '../../facts.ts';
import type { Session } from '../connection/session.ts';

/** How often what is harmless to repeat is sent, when the connection is lost under it. */
const TRIES_MAX = 3;

/** A caller who waits for the writer. */
abstract class Waiting<T> {
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

  /** Nothing was written. */
  fail(error: StoreError): void {
    this.#reject(error);
  }

  /** No one can tell whether it was written. True when it is harmless to repeat, and shall be. */
  doubt(error: StoreError): boolean {
    this.#tries += 1;
    if (this.#tries < TRIES_MAX) return true;
    this.fail(error);
    return false;
  }
}

export class BatchJob extends Waiting<CommitResult> {
  readonly batch: Batch;
  readonly rows: number;
  readonly bytes: number;
  /** Why it is sent again. */
  #doubt: StoreError | undefined;

  constructor(batch: Batch, resolve: (result: CommitResult) => void, reject: (error: StoreError) => void) {
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

  // What was sent before may have been written, before another tenure was given or as the change that outdates it now.
  override answer(result: CommitResult): void {
    const isTold = (result.status !== 'fenced' && result.status !== 'outdated') || this.#doubt === undefined;
    super.answer(isTold ? result : { status: 'unknown', cause: this.#doubt });
  }

  // Sent again, entries that were written would be a conflict. Blobs alone have no id by which their caller could find out.
  override doubt(error: StoreError): boolean {
    this.#doubt = error;
    if (this.batch.entries.length === 0) return super.doubt(error);
    this.answer({ status: 'unknown', cause: error });
    return false;
  }
}

export class OracleJob extends Waiting<OracleRow> {
  readonly row: OracleRow;
  /** What it is listed by. */
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

/** Something with statements of its own, which are harmless to repeat. */
export class StepJob<T = unknown> extends Waiting<T> {
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

/** What goes into a group together. */
export type RowsJob = BatchJob | OracleJob;

export type Job = RowsJob | StepJob<any>;
