import { type Chain, type EntrySigner, entryRow, type LedgerStore } from '#ledger';
import type { Clock } from '#oracle';
import { RuntimeError } from '../../errors.ts';
import type { Notices } from '../../writer/notifications.ts';
import { TRIES_MAX } from '../../writer/prepared.ts';
import { writtenAfterAll } from '../../writer/resolve-unknown-commit.ts';
import { refused } from '../../writer/store-refusals.ts';
import { timeOn } from '../../writer/writer.ts';
import type { Book, Draft, Page } from './ledger-writer.ts';

/** What a closed trajectory is read from, and written with. */
export interface ClosedBookPorts {
  readonly store: LedgerStore;
  readonly clock: Clock;
  readonly signer: EntrySigner | undefined;
  readonly notices: Notices;
  /** Reads all of it, anew each time. */
  readonly read: (trajectoryId: string) => Promise<Chain>;
}

/**
 * Those of trajectories that are not open here, or of a domain that is not. A thousand effects may have been left in one: what is written
 * there is written one after the other, and it is read once for all of that, and again only where somebody else has written.
 */
export class ClosedBooks {
  readonly #ports: ClosedBookPorts;
  /** Where something is being written. Nothing of the others is kept. */
  readonly #busy = new Map<string, ClosedBook>();

  constructor(ports: ClosedBookPorts) {
    this.#ports = ports;
  }

  of(trajectoryId: string): Book {
    return { write: (draft) => this.#busyOne(trajectoryId).write(draft) };
  }

  #busyOne(trajectoryId: string): Book {
    let book = this.#busy.get(trajectoryId);
    if (book === undefined) {
      book = new ClosedBook(trajectoryId, this.#ports, () => this.#busy.delete(trajectoryId));
      this.#busy.set(trajectoryId, book);
    }
    return book;
  }
}

class ClosedBook implements Book {
  readonly #trajectoryId: string;
  readonly #ports: ClosedBookPorts;
  readonly #quiet: () => void;
  /** As it was when it was last read or written here. */
  #chain: Chain | undefined;
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;

  /** `quiet`: called when nobody writes here any more. */
  constructor(trajectoryId: string, ports: ClosedBookPorts, quiet: () => void) {
    this.#trajectoryId = trajectoryId;
    this.#ports = ports;
    this.#quiet = quiet;
  }

  write(draft: (page: Page) => Draft | undefined): Promise<boolean> {
    this.#waiting += 1;
    const written = this.#last.then(() => this.#write(draft));
    const over = (): void => {
      this.#waiting -= 1;
      // Who has been told of one goes on with the next one, in this turn of the loop.
      if (this.#waiting === 0) setImmediate(() => this.#waiting === 0 && this.#quiet());
    };
    this.#last = written.then(over, over);
    return written;
  }

  async #write(draft: (page: Page) => Draft | undefined): Promise<boolean> {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const chain = await this.#read();
      const { head: parent, seq } = chain;
      const place = { trajectory_id: this.#trajectoryId, seq, parent, at: timeOn(chain, this.#ports.clock) };
      const drafted = draft({ chain, place });
      if (drafted === undefined) return false;
      // It is ahead of the store until that has it, and for good where that never has.
      this.#chain = undefined;
      if (await this.#append(chain, drafted)) {
        this.#chain = chain;
        return true;
      }
    }
    throw new RuntimeError('conflict', `Other writers of ${this.#trajectoryId} were faster ${TRIES_MAX} times.`, {
      retryable: true,
    });
  }

  /** As the store has it now. */
  async #read(): Promise<Chain> {
    const { store, read } = this.#ports;
    const kept = this.#chain;
    if (kept !== undefined && (await store.head(this.#trajectoryId))?.id === kept.head) return kept;
    this.#chain = await read(this.#trajectoryId);
    return this.#chain;
  }

  /** False when another writer was faster. */
  async #append(chain: Chain, { payload, blobs, effects, resolves }: Draft): Promise<boolean> {
    const { store, signer, notices } = this.#ports;
    const row = entryRow(payload, signer);
    chain.accept({ ...row, payload });
    const result = await store.commit({ entries: [row], blobs, effects });
    if (result.status === 'fenced' || result.status === 'taken') throw refused(result);
    if (result.status === 'conflict') return false;
    if (result.status === 'unknown') {
      const says = `The store could not tell whether entry ${row.id} of ${this.#trajectoryId} was committed; look the id up.`;
      await writtenAfterAll(store, row.id, { says, cause: result.cause });
    }
    notices.tell(row, resolves);
    return true;
  }
}
