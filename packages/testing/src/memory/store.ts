import { setImmediate } from 'node:timers';
import { markOwnPackage } from 'assize/internal/base';
import type { SharedEffectStore } from 'assize/internal/ledger';
import type { Clock } from 'assize/internal/oracle';
import { checkInput } from 'assize/internal/stores/check-input.ts';
import { CheckedStore } from 'assize/internal/stores/checked-store.ts';
import { StoreError } from 'assize/internal/stores/errors.ts';
import { MEMBERSHIP } from 'assize/internal/stores/input.ts';
import type { Writes } from 'assize/internal/stores/native-port.ts';
import { rebuild } from 'assize/internal/stores/rebuild.ts';
import { Leases } from './lease.ts';
import { Members } from './members.ts';
import { Rows } from './rows.ts';

/**
 * A store without a disk. Like a store with a disk, it answers asynchronously in the order of the
 * calls. A read does not see waiting writes. `close` keeps every answered write, but no caller can
 * open the same store again.
 */
export class MemoryStore extends CheckedStore {
  static {
    markOwnPackage(MemoryStore.prototype);
  }

  readonly readonly = false;
  readonly #tenures: Leases;
  /**
   * Same as `SharedEffectStore.joinEffects`. Exists only if the store was created with `shared`.
   */
  readonly joinEffects?: SharedEffectStore['joinEffects'];
  readonly #members: Members | undefined;
  #waiting: (() => void)[] = [];
  #closed: Promise<void> | undefined;

  /**
   * `shared`: several runtimes of this process may share the effect log. Otherwise one runtime
   * holds it, and the others wait. `clock`: the store's clock. Default: the clock of the machine.
   */
  constructor({
    shared = false,
    clock,
  }: { readonly shared?: boolean; readonly clock?: Clock | undefined } = {}) {
    const rows = new Rows(clock);
    const tenures = new Leases();
    const inTurn = <T>(write: () => T): Promise<T> => this.#inTurn(write);
    const writes = writesOf(rows, tenures, inTurn, () => this.#checkOpen());
    super({
      read: (step) => {
        this.#checkOpen();
        return step(rows);
      },
      writes: () => {
        this.#checkOpen();
        return writes;
      },
    });
    this.#tenures = tenures;
    if (!shared) return;
    const members = new Members(rows.effects, tenures, inTurn);
    this.#members = members;
    this.joinEffects = async (options) => {
      checkInput(MEMBERSHIP, options, 'options');
      this.#checkOpen();
      return members.join(options.leaseMs, options.signal);
    };
  }

  close(): Promise<void> {
    if (this.#closed === undefined) this.#tenures.refuse(closedError());
    this.#closed ??= this.#inTurn(() => this.#members?.end(closedError()));
    return this.#closed;
  }

  #inTurn<T>(write: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(() => this.#flush());
      this.#waiting.push(() => {
        try {
          resolve(write());
        } catch (error) {
          // The row is no longer readable: its caller receives the error, and no other caller waits
          // forever.
          reject(error);
        }
      });
    });
  }

  #flush(): void {
    for (const write of this.#waiting.splice(0)) write();
  }

  #checkOpen(): void {
    if (this.#closed !== undefined) throw closedError();
  }
}

function writesOf(
  rows: Rows,
  tenures: Leases,
  inTurn: <T>(write: () => T) => Promise<T>,
  checkOpen: () => void,
): Writes {
  const ofRebuilding = async <T>(write: () => T): Promise<T> => {
    checkOpen();
    return inTurn(write);
  };
  return {
    commit: (batch) => inTurn(() => rows.commit(batch)),
    oraclePut: (row, within) => inTurn(() => rows.oraclePut(row, within)),
    integrate: (step) => inTurn(() => rows.integrate(step)),
    putSnapshot: (row, erasures) => inTurn(() => rows.putSnapshot(row, erasures)),
    dropSnapshots: () => inTurn(() => rows.dropSnapshots()),
    leaseEffects: (signal) => tenures.acquire(() => inTurn(() => rows.effects.raise()), signal),
    adopt: (adoption) => inTurn(() => rows.adopt(adoption)),
    claimKey: async (offered) => rows.claimKey(offered)!,
    putVectors: (embedder, vectors) => inTurn(() => rows.believed.putVectors(embedder, vectors)),
    rebuildFacts: (pages) =>
      rebuild(pages, {
        begin: () => ofRebuilding(() => rows.believed.beginRebuilding()),
        deleteSome: async () => false,
        takeIn: (writes, run) => ofRebuilding(() => rows.believed.takeIn(writes, run)),
        end: (run) => ofRebuilding(() => rows.believed.endRebuilding(run)),
      }),
    keepFacts: () => inTurn(() => rows.believed.keep()),
    sidePut: (changes) => inTurn(() => rows.sidePut(changes)),
  };
}

function closedError(): StoreError {
  return new StoreError(
    'store_closed',
    'The in-memory store is closed, and its content is gone. Create a new one.',
  );
}
