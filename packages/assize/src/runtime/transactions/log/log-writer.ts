import { clearImmediate, setImmediate } from 'node:timers';
import {
  BEGUN,
  bodyText,
  type LogRecord,
  protocolOf,
  RowAuthentication,
  recorded,
  recordsText,
  type TransactionBody,
  type TransactionState,
} from '#effects';
import type { BlobRow, EffectKeyRow, EffectRecordRow, EffectStore, EffectWrite } from '#ledger';
import { storeRefusal } from '../../writer/append-errors.ts';
import type { Coordination } from '../coordination/coordination.ts';

/** The transaction that the records belong to. */
export interface TransactionIdentity {
  readonly epoch: number;
  readonly trajectoryId: string;
  readonly body: TransactionBody;
  /** Whether its keys can be used again, so that the log must record their use. */
  readonly isNamed: boolean;
}

/** Records that the receiver writes in one store transaction. */
export interface LogWrite {
  readonly write: EffectWrite;
  readonly blobs: readonly BlobRow[];
}

/** The store of the log, and the fence of its lease. */
interface LogPorts {
  readonly store: Pick<EffectStore, 'logEffects'>;
  readonly coordination: Pick<Coordination, 'fence'>;
}

/** The rows that are in the log already, and the key of its MACs. */
interface LogBeginning {
  readonly state?: TransactionState;
  readonly length?: number;
  /** Undefined if earlier rows are not under the key: no later MAC may cover them. */
  readonly recoveryKey: Uint8Array | undefined;
  /** The MACs of earlier rows. */
  readonly authentication?: RowAuthentication | undefined;
}

const NO_KEYS: readonly EffectKeyRow[] = [];

/**
 * The records of one transaction and the state that they give. Some are in the effect log; the rest
 * is written with the next write.
 */
export class TransactionLog {
  readonly #store: Pick<EffectStore, 'logEffects'>;
  readonly #coordination: Pick<Coordination, 'fence'>;
  readonly #logged: TransactionIdentity;
  readonly #noted: () => void;
  /** Undefined: the rows have no MACs. */
  readonly #recoveryKey: Uint8Array | undefined;
  #authentication: RowAuthentication | undefined;
  #state: TransactionState = BEGUN;
  /** Rows that are in the log, or in flight. */
  #length = 0;
  /** Records that the next write includes. */
  #unsent: LogRecord[] = [];
  #unsentBlobs: BlobRow[] = [];
  /** Set while a flush is scheduled for the end of this turn. */
  #soon: NodeJS.Immediate | undefined;
  /** The last write. */
  #sending: Promise<void> | undefined;
  /** The error of a failed write: later records would leave a gap. */
  #failure: { readonly error: unknown } | undefined;

  /** `noted`: called after each change of the state. */
  constructor(
    { store, coordination }: LogPorts,
    logged: TransactionIdentity,
    noted: () => void,
    { state = BEGUN, length = 0, recoveryKey, authentication }: LogBeginning,
  ) {
    this.#store = store;
    this.#coordination = coordination;
    this.#logged = logged;
    this.#noted = noted;
    this.#recoveryKey = recoveryKey;
    this.#authentication = authentication;
    this.#state = state;
    this.#length = length;
  }

  get state(): TransactionState {
    return this.#state;
  }

  /** Whether the log has an entry of the transaction. */
  get isLogged(): boolean {
    return this.#length > 0;
  }

  /** Number of rows that the log has or will have. */
  get length(): number {
    return this.#length;
  }

  /** @throws the error of a failed write, even if no caller waited for it */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Advances the state in memory. The log follows. */
  note(record: LogRecord): void {
    if (record.is === 'expanded') return;
    this.#state = recorded(this.#state, protocolOf(record));
    this.#noted();
  }

  /** Adds a record and its blobs to the next write. */
  append(record: LogRecord): void {
    this.note(record);
    this.#unsent.push(record);
  }

  /** Adds blobs that the next records refer to. */
  addBlobs(blobs: readonly BlobRow[]): void {
    this.#unsentBlobs.push(...blobs);
  }

  /** Writes a record that is durable when this returns. */
  async write(
    records: readonly LogRecord[],
    blobs: readonly BlobRow[] = [],
    keys: readonly EffectKeyRow[] = NO_KEYS,
  ): Promise<void> {
    for (const record of records) this.append(record);
    this.addBlobs(blobs);
    await this.send(this.#append, keys);
  }

  /** Sends all pending records through `by` and waits. @throws the errors of `by` and of `check` */
  async send(
    by: (write: EffectWrite, blobs: readonly BlobRow[]) => Promise<void>,
    keys: readonly EffectKeyRow[] = NO_KEYS,
  ): Promise<void> {
    this.check();
    const { write, blobs } = this.withUnsent([], keys);
    this.markSent();
    try {
      await by(write, blobs);
    } catch (error) {
      this.#failure ??= { error };
      throw error;
    }
  }

  /** Sends pending records without waiting. Writes keep their order. */
  flush(): void {
    if (this.isLogged && this.#unsent.length > 0) this.waitLater(this.send(this.#append));
  }

  /**
   * Flushes at the end of this turn, so that other writes in the turn include the records. An
   * append also includes them, with any result: they are written with the entry or with the next
   * records.
   */
  flushSoon(): void {
    this.#soon ??= setImmediate(() => {
      this.#soon = undefined;
      this.flush();
    });
  }

  /** All records so far are in the log when this returns. */
  async written(): Promise<void> {
    if (this.#unsent.length > 0) await this.send(this.#append);
    else await this.#sending;
  }

  /**
   * Resolves when all records are written, or cannot be written; the next writer then gets the
   * error. Undefined if no unawaited write is in flight.
   */
  get flushed(): Promise<void> | undefined {
    return this.#sending?.catch(() => undefined);
  }

  /**
   * The pending records and these, to be written with an entry. They count as `sent` when the entry
   * is durable.
   */
  withUnsent(
    records: readonly LogRecord[],
    keys: readonly EffectKeyRow[] = NO_KEYS,
    blobs: readonly BlobRow[] = [],
  ): LogWrite {
    clearImmediate(this.#soon);
    this.#soon = undefined;
    const { epoch, trajectoryId: trajectory_id, body, isNamed } = this.#logged;
    const write = {
      fence: this.#coordination.fence,
      begun: this.isLogged ? [] : [{ epoch, trajectory_id, body: bodyText(body) }],
      records: [this.#row([...this.#unsent, ...records])],
      keys: isNamed ? keys : NO_KEYS,
    };
    return { write, blobs: [...this.#unsentBlobs, ...blobs] };
  }

  /** Whether the log has everything but the last record. */
  get hasAllButLast(): boolean {
    return this.#unsent.length <= 1;
  }

  /** The last records, if they are still unwritten, for the receiver to write. */
  takeUnsent(): { readonly row: EffectRecordRow | undefined; readonly blobs: readonly BlobRow[] } {
    const last = {
      row: this.#unsent.length === 0 ? undefined : this.#row(this.#unsent),
      blobs: this.#unsentBlobs,
    };
    this.markSent();
    return last;
  }

  /** Called when the records are being written to the log. */
  markSent(): void {
    this.#unsent = [];
    this.#unsentBlobs = [];
    this.#length++;
    this.#authentication?.written();
  }

  /** On a failure, the next writer gets the error. */
  waitLater(sending: Promise<void>): void {
    this.#sending = sending;
    sending.catch((error: unknown) => {
      this.#failure ??= { error };
    });
  }

  #row(records: readonly LogRecord[]): EffectRecordRow {
    const { epoch, trajectoryId: trajectory_id, body } = this.#logged;
    if (this.#recoveryKey !== undefined)
      this.#authentication ??= RowAuthentication.begin(this.#recoveryKey, {
        epoch,
        trajectory_id,
        body: bodyText(body),
      });
    const record = this.#authentication?.row(records) ?? recordsText(records);
    return { epoch, place: this.#length, record };
  }

  readonly #append = async (write: EffectWrite, blobs: readonly BlobRow[]): Promise<void> => {
    const result = await this.#store.logEffects(write, blobs);
    if (result.status !== 'written') throw storeRefusal(result);
  };
}
