import { type BlobRow, type Chain, type EffectWrite, type Payload, undoingCostsOf } from '#ledger';
import { loadWrit } from '../../authority/writs.ts';
import type { EntryPosition } from '../../records/entry-payloads.ts';
import { COMMIT_ATTEMPTS_MAX } from '../../writer/prepared.ts';
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
  readonly effects: EffectWrite;
}

/**
 * The ledger writer of one trajectory for entries about effects. The runtime writes them for any
 * domain.
 */
export interface LedgerWriter {
  /**
   * Writes the drafted entry on the current head; on a conflict, drafts it again. Returns false if
   * there was nothing to write.
   *
   * @throws RuntimeError `invalid_ledger`, `conflict`, `commit_unknown`, `clock_behind`;
   * EffectError `lease_lost`; StoreError from the store
   */
  write(draft: (page: LedgerHead) => EntryDraft | undefined): Promise<boolean>;
}

/** The ledger writer of a trajectory that is open here: uses its single writer. */
export class OpenLedgerWriter implements LedgerWriter {
  readonly #writer: Writer;

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  async write(draft: (page: LedgerHead) => EntryDraft | undefined): Promise<boolean> {
    const writer = this.#writer;
    for (let tries = 0; tries < COMMIT_ATTEMPTS_MAX; ) {
      if (writer.busy !== undefined) await writer.busy;
      else if (writer.stale) await writer.ready();
      else {
        const drafted = draft({ chain: writer.parts.chain, place: writer.nextPosition(writer.now()) });
        if (drafted === undefined) {
          // Without a draft there is no append that would detect new entries of other writers.
          if (!(await writer.isBehind())) return false;
          tries++;
          continue;
        }
        const { payload, blobs, effects } = drafted;
        const costs = undoingCostsOf(payload);
        const { writs } = writer.parts;
        if (costs !== undefined && writs.get(costs.writId) === undefined) {
          // For a transaction under a writ that no entry has loaded here; its intents had stored
          // the writ.
          writs.admit(await loadWrit(costs.writId, writs, (hash) => writer.context.store.blob(hash)));
          continue;
        }
        const { batch } = writer.apply(() => payload);
        if (await writer.commit({ ...batch, blobs, effects, answer: true })) return true;
        tries++;
      }
    }
    throw await writer.conflictError();
  }
}
