import {
  BEGUN,
  bodyText,
  type LogRecord,
  protocolOf,
  recorded,
  recordsText,
  type TransactionBody,
  type TransactionState,
} from '#effects';
import type { BlobRow, EffectKeyRow, EffectRecordRow, EffectStore, EffectWrite } from '#ledger';
import { refused } from '../../writer/store-refusals.ts';
import type { Coordination } from '../coordination/coordination.ts';

/** The transaction that records are of. */
export interface Logged {
  readonly epoch: number;
  readonly trajectoryId: string;
  readonly body: TransactionBody;
  /** Whether its keys can come again, so that the log has to tell where they were used. */
  readonly isNamed: boolean;
}

/** To be written in one transaction of the store, by whoever it is given to. */
export interface LogWrite {
  readonly write: EffectWrite;
  readonly blobs: readonly BlobRow[];
}

const NO_KEYS: readonly EffectKeyRow[] = [];

/** What one transaction has said of itself, and its state by that: some of it is in the effect log, the rest follows with what is written next. */
export class RunLog {
  readonly #store: Pick<EffectStore, 'logEffects'>;
  readonly #coordination: Pick<Coordination, 'fence'>;
  readonly #logged: Logged;
  readonly #noted: () => void;
  #state: TransactionState = BEGUN;
  /** Rows that are in the log, or on their way there. */
  #length = 0;
  /** Said, and to go into the log with what is written next. */
  #unsent: LogRecord[] = [];
  #unsentBlobs: BlobRow[] = [];
  /** Set while what was said is to be sent at the end of this turn. */
  #soon: NodeJS.Immediate | undefined;
  /** What was sent last. */
  #sending: Promise<void> | undefined;
  /** Why something could not be written: all that comes after it would leave a gap. */
  #failure: { readonly error: unknown } | undefined;

  /** `noted`: called each time when the state has moved. */
  constructor(
    store: Pick<EffectStore, 'logEffects'>,
    coordination: Pick<Coordination, 'fence'>,
    logged: Logged,
    noted: () => void,
    { state = BEGUN, length = 0 }: { readonly state?: TransactionState; readonly length?: number } = {},
  ) {
    this.#store = store;
    this.#coordination = coordination;
    this.#logged = logged;
    this.#noted = noted;
    this.#state = state;
    this.#length = length;
  }

  get state(): TransactionState {
    return this.#state;
  }

  /** Whether the log has anything of it. */
  get isLogged(): boolean {
    return this.#length > 0;
  }

  /** Rows that the log has of it, or will have. */
  get length(): number {
    return this.#length;
  }

  /** @throws what kept something from being written, also where nobody waited for that */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Moves the state in memory, which the log will follow. */
  note(record: LogRecord): void {
    if (record.is === 'expanded') return;
    this.#state = recorded(this.#state, protocolOf(record));
    this.#noted();
  }

  /** Says something that goes into the log with what is written next, and what it refers to. */
  later(record: LogRecord): void {
    this.note(record);
    this.#unsent.push(record);
  }

  /** What is referred to by what is said next. */
  keep(blobs: readonly BlobRow[]): void {
    this.#unsentBlobs.push(...blobs);
  }

  /** Says something that is durable when this returns. */
  async write(
    records: readonly LogRecord[],
    blobs: readonly BlobRow[] = [],
    keys: readonly EffectKeyRow[] = NO_KEYS,
  ): Promise<void> {
    for (const record of records) this.later(record);
    this.keep(blobs);
    await this.send(this.#append, keys);
  }

  /** Sends what was said, by `by`, and waits for that. @throws what `by` throws; as `check` */
  async send(
    by: (write: EffectWrite, blobs: readonly BlobRow[]) => Promise<void>,
    keys: readonly EffectKeyRow[] = NO_KEYS,
  ): Promise<void> {
    this.check();
    const { write, blobs } = this.offered([], keys);
    this.sent();
    try {
      await by(write, blobs);
    } catch (error) {
      this.#failure ??= { error };
      throw error;
    }
  }

  /** Sends what was said without waiting: what is sent later is written later. */
  flush(): void {
    if (this.isLogged && this.#unsent.length > 0) this.waitLater(this.send(this.#append));
  }

  /**
   * As `flush`, when this turn is over: what is written in it takes that along. So does what an entry is offered, whatever comes of that: it is
   * written with it, or with what is said next.
   */
  flushSoon(): void {
    this.#soon ??= setImmediate(() => {
      this.#soon = undefined;
      this.flush();
    });
  }

  /** All that was said until now is in the log when this returns. */
  async written(): Promise<void> {
    if (this.#unsent.length > 0) await this.send(this.#append);
    else await this.#sending;
  }

  /**
   * When all that was said is in the log, or can't be written, which whoever writes next is told. Undefined where nothing is on its way
   * there that nobody has waited for.
   */
  get settled(): Promise<void> | undefined {
    return this.#sending?.catch(() => undefined);
  }

  /** What was said, with these: to be written with an entry, and said to be `sent` when that is durable. */
  offered(
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

  /** What was said last, if something is still to be written: by whoever this is given to. */
  handOver(): { readonly row: EffectRecordRow | undefined; readonly blobs: readonly BlobRow[] } {
    const last = { row: this.#unsent.length === 0 ? undefined : this.#row(this.#unsent), blobs: this.#unsentBlobs };
    this.sent();
    return last;
  }

  /** What was said is on its way into the log. */
  sent(): void {
    this.#unsent = [];
    this.#unsentBlobs = [];
    this.#length++;
  }

  /** Where it fails, whoever writes next is told. */
  waitLater(sending: Promise<void>): void {
    this.#sending = sending;
    sending.catch((error: unknown) => {
      this.#failure ??= { error };
    });
  }

  #row(records: readonly LogRecord[]): EffectRecordRow {
    return { epoch: this.#logged.epoch, place: this.#length, record: recordsText(records) };
  }

  readonly #append = async (write: EffectWrite, blobs: readonly BlobRow[]): Promise<void> => {
    const result = await this.#store.logEffects(write, blobs);
    if (result.status !== 'written') throw refused(result);
  };
}
