import type {
  Batch,
  CommitResult,
  EffectKeyRow,
  EffectRecordRow,
  EffectRefusal,
  EffectTransactionRow,
  EffectWrite,
  Hash,
} from '#ledger';
import { StoreError } from './errors.ts';

/** The state of one transaction in a store. */
export interface EffectState {
  readonly trajectory_id: string;
  readonly body: string;
  /** The number of records of the transaction. */
  readonly places: number;
  readonly isOpen: boolean;
}

/** The state of effects in a store, as the check of a write needs it. */
export interface EffectView {
  /** Whether the store accepts writes under the fence. */
  isCurrent(fence: number): boolean;
  transaction(epoch: number): EffectState | undefined;
  /** The text of the transaction's record at an index. */
  record(epoch: number, place: number): string | undefined;
  key(key: Hash): EffectKeyRow | undefined;
}

/** The rows that a write adds. */
export interface EffectChange {
  readonly begun: readonly EffectTransactionRow[];
  readonly records: readonly EffectRecordRow[];
  readonly keys: readonly EffectKeyRow[];
  /** Transactions that were open before the write, or that the write begins. */
  readonly ended: readonly number[];
}

/** The result of checking a write against the store's state. It is the same in every store. */
export type EffectVerdict = { readonly change: EffectChange } | { readonly refusal: EffectRefusal };

const FENCED: EffectVerdict = Object.freeze({ refusal: Object.freeze({ status: 'fenced' }) });
const WRITTEN = Object.freeze({ status: 'written' });

/**
 * Checks a write without changing anything.
 * @throws {StoreError} `store_invalid_input` for misuse, as `EffectWrite` declares
 */
export function judgeEffects(write: EffectWrite, view: EffectView): EffectVerdict {
  if (!view.isCurrent(write.fence)) return FENCED;
  return new Judgement(view).judge(write);
}

/**
 * The answer of `logEffects` for a batch that was committed without entries.
 * @throws the cause, if the result is `unknown`
 */
export function effectAnswer(result: CommitResult): { readonly status: 'written' } | EffectRefusal {
  if (result.status === 'fenced' || result.status === 'taken') return result;
  if (result.status === 'unknown') throw result.cause;
  return WRITTEN;
}

/** The rows and characters of a batch's effects. They limit the size of a group. */
export function effectSize({ effects }: Batch): { readonly rows: number; readonly bytes: number } {
  if (effects === undefined) return NOTHING;
  const { begun = [], records = [], keys = [], ended = [] } = effects;
  let bytes = 0;
  for (const { body } of begun) bytes += body.length;
  for (const { record } of records) bytes += record.length;
  return { rows: begun.length + records.length + keys.length + ended.length, bytes };
}

const NOTHING = Object.freeze({ rows: 0, bytes: 0 });

/** The state of a transaction during the check of one write. */
interface Touched {
  readonly trajectory_id: string;
  readonly body: string;
  /** The number of records that the transaction had before the write. */
  readonly stored: number;
  readonly added: string[];
  isOpen: boolean;
}

/** The check of one write. Each row is checked against the store and against the rows before it. */
class Judgement {
  readonly #view: EffectView;
  readonly #touched = new Map<number, Touched>();
  readonly #begun: EffectTransactionRow[] = [];
  readonly #records: EffectRecordRow[] = [];
  readonly #keys: EffectKeyRow[] = [];
  readonly #ended: number[] = [];

  constructor(view: EffectView) {
    this.#view = view;
  }

  judge({ begun = [], records = [], keys = [], ended = [] }: EffectWrite): EffectVerdict {
    // Taken keys are checked first: the refusal precedes an error for misuse.
    for (const row of keys) {
      const other = this.#view.key(row.key) ?? this.#keys.find(({ key }) => key === row.key);
      if (other === undefined) this.#keys.push(row);
      else if (other.epoch !== row.epoch || other.n !== row.n) return taken(other);
    }
    for (const row of begun) this.#begin(row);
    for (const row of records) this.#record(row);
    for (const { epoch } of keys) this.#find(epoch);
    for (const { epoch } of this.#keys) this.#requireOpen(epoch);
    for (const epoch of ended) this.#end(epoch);
    return {
      change: { begun: this.#begun, records: this.#records, keys: this.#keys, ended: this.#ended },
    };
  }

  #begin(row: EffectTransactionRow): void {
    const { epoch, trajectory_id, body } = row;
    const known = this.#look(epoch);
    if (known === undefined) {
      this.#touched.set(epoch, { trajectory_id, body, stored: 0, added: [], isOpen: true });
      this.#begun.push(row);
    } else if (known.trajectory_id !== trajectory_id || known.body !== body) {
      throw misuse('is another transaction', { epoch });
    }
  }

  #record(row: EffectRecordRow): void {
    const { epoch, place, record } = row;
    const transaction = this.#find(epoch);
    const next = transaction.stored + transaction.added.length;
    if (place > next)
      throw misuse(`has ${next} records, so a record at ${place} would leave a gap`, {
        epoch,
        place,
      });
    if (place === next) {
      this.#requireOpen(epoch);
      transaction.added.push(record);
      this.#records.push(row);
      return;
    }
    const there =
      place < transaction.stored
        ? this.#view.record(epoch, place)
        : transaction.added[place - transaction.stored];
    if (there !== record) throw misuse(`has another record at ${place}`, { epoch, place });
  }

  #end(epoch: number): void {
    const transaction = this.#find(epoch);
    if (!transaction.isOpen) return;
    transaction.isOpen = false;
    this.#ended.push(epoch);
  }

  #requireOpen(epoch: number): void {
    if (!this.#find(epoch).isOpen) throw misuse('has ended and accepts no records', { epoch });
  }

  #find(epoch: number): Touched {
    const transaction = this.#look(epoch);
    if (transaction === undefined) throw misuse('does not exist', { epoch });
    return transaction;
  }

  #look(epoch: number): Touched | undefined {
    const known = this.#touched.get(epoch);
    if (known !== undefined) return known;
    const state = this.#view.transaction(epoch);
    if (state === undefined) return undefined;
    const { trajectory_id, body, places, isOpen } = state;
    const touched = { trajectory_id, body, stored: places, added: [], isOpen };
    this.#touched.set(epoch, touched);
    return touched;
  }
}

function taken({ key, epoch, n }: EffectKeyRow): EffectVerdict {
  return { refusal: { status: 'taken', key, epoch, n } };
}

function misuse(
  what: string,
  evidence: { readonly epoch: number; readonly place?: number },
): StoreError {
  return new StoreError(
    'store_invalid_input',
    `The transaction of epoch ${evidence.epoch} ${what}, and nothing was written. Read its log with effectsOf.`,
    { evidence },
  );
}
