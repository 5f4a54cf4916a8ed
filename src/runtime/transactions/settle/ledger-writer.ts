import { type BlobRow, type Chain, type EffectWrite, type Hash, type Payload, undoingCostsOf } from '#ledger';
import { loadWrit } from '../../authority/writs.ts';
import type { Place } from '../../records/entry-payloads.ts';
import { TRIES_MAX } from '../../writer/prepared.ts';
import { NO_NEWS } from '../../writer/subscriptions.ts';
import type { Writer } from '../../writer/writer.ts';

/** The head of a trajectory, to go on from without waiting for anything. */
export interface Page {
  readonly chain: Chain;
  readonly place: Place;
}

/** What is to be written there, all of it or nothing. */
export interface Draft {
  readonly payload: Payload;
  readonly blobs: readonly BlobRow[];
  readonly effects: EffectWrite;
  /** What was pending and is resolved by it. */
  readonly resolves?: Hash;
}

/** The ledger of one trajectory, as far as something is written there about effects: by the runtime, whatever domain it is of. */
export interface Book {
  /**
   * Writes what is drafted on the head that there is; again as long as another writer is faster. False where there was nothing
   * to write.
   *
   * @throws RuntimeError `invalid_ledger`, `conflict`, `commit_unknown`, `clock_behind`; EffectError `tenure_lost`; what the
   * store throws
   */
  write(draft: (page: Page) => Draft | undefined): Promise<boolean>;
}

/** That of a trajectory that is open here: through its one writer. */
export class OpenBook implements Book {
  readonly #writer: Writer;

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  async write(draft: (page: Page) => Draft | undefined): Promise<boolean> {
    const writer = this.#writer;
    for (let tries = 0; tries < TRIES_MAX; ) {
      if (writer.busy !== undefined) await writer.busy;
      else if (writer.stale) await writer.ready();
      else {
        const drafted = draft({ chain: writer.parts.chain, place: writer.place(writer.now()) });
        if (drafted === undefined) {
          // No append will tell whether others have written what there was nothing to say of.
          if (!(await writer.isBehind())) return false;
          tries++;
          continue;
        }
        const { payload, blobs, effects, resolves } = drafted;
        const costs = undoingCostsOf(payload);
        const { writs } = writer.parts;
        if (costs !== undefined && writs.get(costs.writId) === undefined) {
          // Of a transaction under a writ that no entry has brought here, whose intents did.
          writs.admit(await loadWrit(costs.writId, writs, (hash) => writer.context.store.blob(hash)));
          continue;
        }
        const row = writer.append(payload);
        if (costs !== undefined) writs.bookUndoing(costs);
        if (resolves !== undefined) writer.parts.ruled.noteResolved(resolves, undefined, row.seq);
        const more = { effects, ...(resolves === undefined ? {} : { resolves }) };
        if (await writer.written({ rows: [row], blobs, ...more, answer: true, news: NO_NEWS })) return true;
        tries++;
      }
    }
    throw await writer.lost();
  }
}
