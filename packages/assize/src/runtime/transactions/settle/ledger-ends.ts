import { logDamaged, type TransactionBody } from '#effects';
import { abandonedArgs, type EntryRow, type Hash, readRow } from '#ledger';

/** Reads the entries of a trajectory in order, from that seq. */
export type ReadEntries = (
  trajectoryId: string,
  options: { readonly from: number; readonly limit: number },
) => Promise<EntryRow[]>;

/** The ends of one trajectory's transactions, from the entries from `from` up to `to`. */
interface Read {
  from: number;
  to: number;
  /** By epoch: the commit, or the entry that lists the compensated effects. */
  readonly ends: Map<number, Hash>;
}

const PAGE = 1_000;

/**
 * The ends of tool transactions that the ledger has. An effect log from which rows were removed can
 * show an ended transaction as open; the ledger cannot. Entries are read once, from the oldest
 * transaction that is asked about.
 */
export class LedgerEnds {
  readonly #entries: ReadEntries;
  readonly #read: Map<string, Read> = new Map();
  /** Reads of one trajectory run in order. */
  readonly #reading: Map<string, Promise<void>> = new Map();

  constructor(entries: ReadEntries) {
    this.#entries = entries;
  }

  /**
   * Refuses an unfinished transaction that the ledger has ended, and one that began in another
   * ledger. A log of an earlier version names no entry and is not checked.
   *
   * @throws EffectError `log_damaged`; the errors of the store
   */
  async refuseEnded(
    trajectoryId: string,
    epoch: number,
    { after }: Pick<TransactionBody, 'after'>,
  ): Promise<void> {
    if (after === undefined) return;
    const [begun] = await this.#entries(trajectoryId, { from: after.seq, limit: 1 });
    if (begun?.id !== after.id)
      throw logDamaged(epoch, `began after ${after.id}, which this ledger does not have`);
    const end = await this.#end(trajectoryId, epoch, after.seq + 1);
    if (end !== undefined) throw logDamaged(epoch, `is unfinished, but the entry ${end} ends it`);
  }

  async #end(trajectoryId: string, epoch: number, from: number): Promise<Hash | undefined> {
    const reading = (this.#reading.get(trajectoryId) ?? Promise.resolve()).then(() =>
      this.#readFrom(trajectoryId, from),
    );
    const settled = reading.catch(() => undefined);
    this.#reading.set(trajectoryId, settled);
    await reading;
    if (this.#reading.get(trajectoryId) === settled) this.#reading.delete(trajectoryId);
    return this.#read.get(trajectoryId)?.ends.get(epoch);
  }

  async #readFrom(trajectoryId: string, from: number): Promise<void> {
    const known = this.#read.get(trajectoryId);
    const read =
      known !== undefined && known.from <= from
        ? known
        : { from, to: from, ends: new Map<number, Hash>() };
    this.#read.set(trajectoryId, read);
    for (;;) {
      const rows = await this.#entries(trajectoryId, { from: read.to, limit: PAGE });
      for (const row of rows) {
        const epoch = endedBy(row);
        if (epoch !== undefined) read.ends.set(epoch, row.id);
      }
      read.to += rows.length;
      if (rows.length < PAGE) return;
    }
  }
}

/** The epoch of the transaction that an entry ends. */
function endedBy(row: EntryRow): number | undefined {
  if (row.kind !== 'commit' && row.kind !== 'rejection') return undefined;
  const { payload } = readRow(row);
  if (payload.kind === 'commit') return payload.epoch;
  return payload.kind === 'rejection' ? abandonedArgs(payload)?.epoch : undefined;
}
