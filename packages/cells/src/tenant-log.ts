import type { EntryRow, Hash, LedgerStore, LogStore } from 'assize/internal/ledger';
import type { Store } from 'assize/internal/stores';
import { tenantOf } from './tenant-of.ts';

const PAGE = 1_000;

/**
 * The entries of one tenant as a log of their own, in the order of the cell's log. An export of it
 * has these entries alone. It reads the log once, and remembers one position an entry.
 */
export class TenantLog
  implements
    Pick<LedgerStore, 'blob' | 'erasedBy'>,
    Pick<LogStore, 'logSize' | 'logged' | 'logIndex'>
{
  readonly #store: Store;
  /** The positions of the entries in the log of the cell. */
  readonly #positions: readonly number[];
  readonly #indexes: ReadonlyMap<Hash, number>;

  private constructor(
    store: Store,
    positions: readonly number[],
    indexes: ReadonlyMap<Hash, number>,
  ) {
    this.#store = store;
    this.#positions = positions;
    this.#indexes = indexes;
  }

  static async of(store: Store, tenant: string): Promise<TenantLog> {
    const positions: number[] = [];
    const indexes = new Map<Hash, number>();
    for (let from = 0; ; from += PAGE) {
      const rows = await store.logged(from, PAGE);
      for (const [i, { id, trajectory_id }] of rows.entries()) {
        if (tenantOf(trajectory_id) !== tenant) continue;
        indexes.set(id, positions.length);
        positions.push(from + i);
      }
      if (rows.length < PAGE) return new TenantLog(store, positions, indexes);
    }
  }

  async logSize(): Promise<number> {
    return this.#positions.length;
  }

  async logged(from: number, limit: number): Promise<EntryRow[]> {
    const wanted = this.#positions.slice(from, from + limit);
    const rows: EntryRow[] = [];
    // Neighbours in the log are read together.
    for (let i = 0; i < wanted.length; ) {
      let n = 1;
      while (i + n < wanted.length && wanted[i + n] === wanted[i]! + n) n++;
      rows.push(...(await this.#store.logged(wanted[i]!, n)));
      i += n;
    }
    return rows;
  }

  async logIndex(id: Hash): Promise<number | undefined> {
    return this.#indexes.get(id);
  }

  blob(hash: Hash): Promise<string | undefined> {
    return this.#store.blob(hash);
  }

  erasedBy(hash: Hash): Promise<Hash | undefined> {
    return this.#store.erasedBy(hash);
  }
}
