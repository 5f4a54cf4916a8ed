import {
  type BlobRow,
  type Chain,
  type EffectWrite,
  type Hash,
  type Payload,
  undoingCostsOf,
} from '#ledger';
import { loadWrit } from '../../authority/writs.ts';
import type { EntryPosition } from '../../records/entry-payloads.ts';
import { type Ruled, untilCommitted } from '../../writer/until-committed.ts';
import type { Writer } from '../../writer/writer.ts';

/** The head of a trajectory, readable without a wait. */
export interface LedgerHead {
  readonly chain: Chain;
  readonly place: EntryPosition;
}

/** An entry to write, with its records, atomically. */
export interface EntryDraft {
  readonly payload: Payload;
  readonly blobs: readonly BlobRow[];
  readonly effects: EffectWrite | undefined;
}

/**
 * The ledger writer of one trajectory for entries about effects. The runtime writes them for any
 * domain.
 */
export interface LedgerWriter {
  /**
   * Writes the drafted entry on the current head; on a conflict, drafts it again. No clock delays
   * it. Returns false if there was nothing to write.
   *
   * @throws RuntimeError `invalid_ledger`, `conflict`, `commit_unknown`; EffectError `lease_lost`;
   * StoreError from the store
   */
  write(draft: (page: LedgerHead) => EntryDraft | undefined): Promise<boolean>;
}

/** The ledger writer of a trajectory that is open here: uses its single writer. */
export class OpenLedgerWriter implements LedgerWriter {
  readonly #writer: Writer;

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  write(draft: (page: LedgerHead) => EntryDraft | undefined): Promise<boolean> {
    return untilCommitted(this.#writer, () => () => this.#write(draft));
  }

  #write(draft: (page: LedgerHead) => EntryDraft | undefined): Ruled<boolean> {
    const writer = this.#writer;
    const { busy, parts } = writer;
    if (busy !== undefined) return { needs: () => busy };
    const drafted = draft({
      chain: parts.chain,
      place: writer.nextPosition(writer.undelayedNow()),
    });
    if (drafted === undefined) return { unrecorded: false };
    const { payload, blobs, effects } = drafted;
    const costs = undoingCostsOf(payload);
    // No entry has loaded the writ of the transaction here; its intents had stored the writ.
    if (costs !== undefined && parts.writs.get(costs.writId) === undefined)
      return { needs: () => this.#loadWrit(costs.writId) };
    const { batch } = writer.apply(() => payload, { undelayed: true });
    return { ...batch, blobs, effects, answer: true };
  }

  async #loadWrit(id: Hash): Promise<void> {
    const { parts, context } = this.#writer;
    parts.writs.admit(await loadWrit(id, parts.writs, (hash) => context.store.blob(hash)));
  }
}
