import {
  type BlobRow,
  type Chain,
  type EffectWrite,
  type EntrySigner,
  entryRow,
  type Hash,
  type LedgerStore,
  type Payload,
  undoingCostsOf,
} from '#ledger';
import type { Clock } from '#oracle';
import { RuntimeError } from '../errors.ts';
import type { Notices } from '../notices.ts';
import type { Place } from '../records.ts';
import { NO_NEWS } from '../subscriptions.ts';
import { TRIES_MAX, timeOn, type Writer } from '../writer.ts';
import { loadWrit } from '../writs.ts';
import { refused } from './refused.ts';

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
          writs.admit(await loadWrit(costs.writId, writs, (hash) => writer.around.store.blob(hash)));
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

/** What a closed trajectory is read from, and written with. */
export interface ClosedBookPorts {
  readonly store: LedgerStore;
  readonly clock: Clock;
  readonly signer: EntrySigner | undefined;
  readonly notices: Notices;
  /** Reads all of it, anew each time. */
  readonly read: (trajectoryId: string) => Promise<Chain>;
}

/** That of a trajectory that is not open here, or of a domain that is not: read for each entry, and nothing of it kept. */
export class ClosedBook implements Book {
  readonly #trajectoryId: string;
  readonly #ports: ClosedBookPorts;

  constructor(trajectoryId: string, ports: ClosedBookPorts) {
    this.#trajectoryId = trajectoryId;
    this.#ports = ports;
  }

  async write(draft: (page: Page) => Draft | undefined): Promise<boolean> {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const chain = await this.#ports.read(this.#trajectoryId);
      const { head: parent, seq } = chain;
      const place = { trajectory_id: this.#trajectoryId, seq, parent, at: timeOn(chain, this.#ports.clock) };
      const drafted = draft({ chain, place });
      if (drafted === undefined) return false;
      if (await this.#append(chain, drafted)) return true;
    }
    throw new RuntimeError('conflict', `Other writers of ${this.#trajectoryId} were faster ${TRIES_MAX} times.`, {
      retryable: true,
    });
  }

  /** False when another writer was faster. */
  async #append(chain: Chain, { payload, blobs, effects, resolves }: Draft): Promise<boolean> {
    const { store, signer, notices } = this.#ports;
    const row = entryRow(payload, signer);
    chain.accept({ ...row, payload });
    const result = await store.commit({ entries: [row], blobs, effects });
    if (result.status === 'fenced' || result.status === 'taken') throw refused(result);
    if (result.status === 'conflict') return false;
    if (result.status === 'unknown' && (await store.resolve(row.id)) === undefined)
      throw new RuntimeError('commit_unknown', `The store could not tell whether entry ${row.id} was committed.`, {
        cause: result.cause,
        retryable: true,
      });
    notices.tell(row, resolves);
    return true;
  }
}
