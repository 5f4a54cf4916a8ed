import { type Chain, type Hash, isExpired, type PendingPayload } from '#ledger';
import type { Judgement } from '../../records/judgement.ts';
import type { Ruling } from '../../records/ruling.ts';
import type { PreparedCommit } from '../../writer/prepared.ts';
import type { Unrecorded } from '../../writer/until-committed.ts';
import type { Writer } from '../../writer/writer.ts';
import { type ResolvedNow, rejectPending, type Undelayed } from './resolution-entries.ts';

/** The most expired proposals in one batch. A caller waits for one batch, some tens of ms. */
export const EXPIRED_IN_GROUP = 256;

/** Records the pending proposals of a trajectory that have expired. */
export class Expiries {
  readonly #writer: Writer;
  /** The group that is being recorded. */
  #recording: Promise<void> | undefined;

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  /** Whether a pending proposal has expired by now. A halted trajectory records no expiry. */
  hasExpired(): boolean {
    return this.#expired(1).length > 0;
  }

  /** Whether the pending proposal that freezes the whole state has expired by now. */
  hasExpiredFreeze(): boolean {
    return this.#expiredFreeze(this.#writer.parts.chain) !== undefined;
  }

  /** Records all expired proposals, until memory turns out to be stale. */
  async recordExpired(): Promise<void> {
    while (!this.#writer.stale && this.hasExpired()) await this.recordSomeExpired();
  }

  /**
   * Records a group of expired proposals in one batch: the freeze of the whole state, then the
   * earliest expiries. Concurrent callers wait for the same batch. Later callers record the rest.
   * It freezes nothing meanwhile.
   */
  recordSomeExpired(): Promise<void> {
    this.#recording ??= this.#recordSome().finally(() => {
      this.#recording = undefined;
    });
    return this.#recording;
  }

  async #recordSome(): Promise<void> {
    const [first, ...rest] = this.#expired(EXPIRED_IN_GROUP);
    if (first === undefined) return;
    const writer = this.#writer;
    const batch = expirePending(writer, first);
    try {
      const closing = rest.map((expired) => ({
        ...{ row: expirePending(writer, expired).rows[0], resolves: expired.id },
        waited: expired.pending,
      }));
      await writer.commit({
        ...batch,
        rows: [batch.rows[0], ...closing.map(({ row }) => row)],
        closing,
      });
    } catch (error) {
      // Memory may have entries that the store never gets.
      writer.stale = true;
      throw error;
    }
  }

  #expired(most: number): readonly ResolvedNow[] {
    const { chain } = this.#writer.parts;
    if (chain.open.size === 0 || chain.halted !== undefined) return [];
    const at = this.#writer.now();
    const freeze = this.#expiredFreeze(chain);
    const others = chain.open.dueAt(at, most).filter(([id]) => id !== freeze?.[0]);
    const due = freeze === undefined ? others : [freeze, ...others].slice(0, most);
    return due.map(([id, pending]) => ({ id, pending, at }));
  }

  #expiredFreeze({ open, halted }: Chain): readonly [Hash, PendingPayload] | undefined {
    const { freezing } = open;
    if (freezing === undefined || halted !== undefined) return undefined;
    const pending = open.get(freezing) as PendingPayload;
    return isExpired(pending, this.#writer.now()) ? [freezing, pending] : undefined;
  }
}

/** Moves memory past the expiry of a pending proposal. */
export function expirePending(
  writer: Writer,
  expired: ResolvedNow,
  moves: Undelayed = {},
): PreparedCommit<Ruling> {
  return rejectPending(
    writer,
    expired,
    { reason: 'expired', detail: expiredDetail(expired.pending) },
    moves,
  );
}

/** The expiry that would be recorded. */
export function judgeExpired({ pending }: ResolvedNow): Unrecorded<Judgement> {
  return { unrecorded: { ruling: 'rejected', reason: 'expired', detail: expiredDetail(pending) } };
}

function expiredDetail({ expires }: PendingPayload): string {
  return `the proposal was not resolved before ${expires}`;
}
