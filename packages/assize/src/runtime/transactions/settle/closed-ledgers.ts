import { setImmediate } from 'node:timers';
import {
  type BatchClock,
  type Chain,
  type EntrySigner,
  entryRow,
  type Instant,
  type LedgerStore,
  signed,
} from '#ledger';
import type { Clock } from '#oracle';
import { RuntimeError } from '../../errors.ts';
import { resolveUnknownCommit, storeRefusal } from '../../writer/append-errors.ts';
import { resolvedBy } from '../../writer/apply.ts';
import type { Notifications } from '../../writer/listeners/notifications.ts';
import { COMMIT_ATTEMPTS_MAX } from '../../writer/prepared.ts';
import { requireSigner } from '../../writer/require-signer.ts';
import { clockOf, later } from '../../writer/writer.ts';
import type { EntryDraft, LedgerHead, LedgerWriter } from './ledger-writer.ts';

/** The ports to read and write a closed trajectory. */
export interface ClosedLedgerPorts {
  readonly store: LedgerStore;
  readonly clock: Clock;
  readonly maxClockAheadMs: number | undefined;
  readonly signer: EntrySigner | undefined;
  readonly notifications: Notifications;
  /** Reads the whole trajectory each time. */
  readonly read: (trajectoryId: string) => Promise<Chain>;
}

/**
 * The ledger writers of trajectories that are not open here, or belong to another domain. A
 * trajectory can have a thousand unresolved effects. So its entries are written in order after one
 * read, and it is read again only if another writer has appended.
 */
export class ClosedLedgers {
  readonly #ports: ClosedLedgerPorts;
  /** The writers in use. Others are not cached. */
  readonly #busy = new Map<string, ClosedLedgerWriter>();

  constructor(ports: ClosedLedgerPorts) {
    this.#ports = ports;
  }

  writerOf(trajectoryId: string): LedgerWriter {
    return { write: (draft) => this.#busyOne(trajectoryId).write(draft) };
  }

  #busyOne(trajectoryId: string): LedgerWriter {
    let book = this.#busy.get(trajectoryId);
    if (book === undefined) {
      book = new ClosedLedgerWriter(trajectoryId, this.#ports, () =>
        this.#busy.delete(trajectoryId),
      );
      this.#busy.set(trajectoryId, book);
    }
    return book;
  }
}

class ClosedLedgerWriter implements LedgerWriter {
  readonly #trajectoryId: string;
  readonly #ports: ClosedLedgerPorts;
  readonly #quiet: () => void;
  /** The chain after the last read or write here. */
  #chain: Chain | undefined;
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;

  /** `quiet`: called when no write is waiting any more. */
  constructor(trajectoryId: string, ports: ClosedLedgerPorts, quiet: () => void) {
    this.#trajectoryId = trajectoryId;
    this.#ports = ports;
    this.#quiet = quiet;
  }

  write(draft: (page: LedgerHead) => EntryDraft | undefined): Promise<boolean> {
    this.#waiting += 1;
    const written = this.#last.then(() => this.#write(draft));
    const over = (): void => {
      this.#waiting -= 1;
      // A caller that has awaited one write can start the next one in this turn of the event loop.
      if (this.#waiting === 0) setImmediate(() => this.#waiting === 0 && this.#quiet());
    };
    this.#last = written.then(over, over);
    return written;
  }

  async #write(draft: (page: LedgerHead) => EntryDraft | undefined): Promise<boolean> {
    // No clock delays the outcome of an effect: the store's time replaces a refused reading.
    let storeTime: Instant | undefined;
    for (let tries = 0; tries < COMMIT_ATTEMPTS_MAX; tries++) {
      const chain = await this.#read();
      const { head: parent, seq, at: headAt } = chain;
      const reading = storeTime ?? this.#ports.clock.now();
      const place = { trajectory_id: this.#trajectoryId, seq, parent, at: later(reading, headAt) };
      const drafted = draft({ chain, place });
      if (drafted === undefined) return false;
      // The cached chain is ahead of the store until the append is durable, and stays so if it
      // never is.
      this.#chain = undefined;
      const result = await this.#append(chain, drafted, clockOf(this.#ports, reading, headAt));
      if (result === 'written') {
        this.#chain = chain;
        return true;
      }
      if (result !== 'conflict') storeTime = result.now;
    }
    throw new RuntimeError(
      'conflict',
      `Other writers of ${this.#trajectoryId} committed first ${COMMIT_ATTEMPTS_MAX} times. Try again.`,
      {
        retryable: true,
      },
    );
  }

  /** The chain as the store has it now. */
  async #read(): Promise<Chain> {
    const { store, read } = this.#ports;
    const kept = this.#chain;
    if (kept !== undefined && (await store.head(this.#trajectoryId))?.id === kept.head) return kept;
    this.#chain = await read(this.#trajectoryId);
    return this.#chain;
  }

  /** `conflict`: another writer committed first. */
  async #append(
    chain: Chain,
    { payload, blobs, effects }: EntryDraft,
    clock: BatchClock | undefined,
  ): Promise<'written' | 'conflict' | { readonly now: Instant }> {
    const { store, signer, notifications } = this.#ports;
    requireSigner(chain, signer);
    const made = signed(payload, signer);
    const row = entryRow(made);
    chain.accept({ ...row, payload: made });
    const result = await store.commit({
      entries: [row],
      blobs,
      ...(effects && { effects }),
      ...(clock && { clock }),
    });
    if (result.status === 'ahead') return result;
    if (result.status === 'fenced' || result.status === 'taken') throw storeRefusal(result);
    if (result.status === 'conflict') return 'conflict';
    if (result.status === 'unknown') {
      const says = `The store did not confirm whether entry ${row.id} of ${this.#trajectoryId} was committed. Look up the id.`;
      await resolveUnknownCommit(store, row.id, { says, cause: result.cause });
    }
    notifications.notify(row, resolvedBy(payload));
    return 'written';
  }
}
