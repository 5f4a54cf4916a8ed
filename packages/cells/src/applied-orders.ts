import type { KeyPair } from 'assize/internal/canon';
import type { SideStore } from 'assize/internal/ledger';
import { SealedRows, sideSecretOf } from 'assize/internal/stores';

const KIND = 'cells/applied';

/**
 * The number of orders that the servers of a cell have applied, for its other processes. The row is
 * sealed under the root key and the name of the cell: a writer of the database can delete it or put
 * an earlier one back, and then the cell accepts no entry. Any other row counts as absent.
 */
export class AppliedOrders {
  readonly #rows: SealedRows<{ readonly orders: number }>;
  readonly #cell: string;

  constructor(side: SideStore, cell: string, root: Pick<KeyPair, 'privateKey'>) {
    this.#rows = new SealedRows(side, KIND, sideSecretOf(root));
    this.#cell = cell;
  }

  async read(): Promise<number> {
    return (await this.#rows.get(this.#cell))?.value.orders ?? 0;
  }

  /** Writes the number, unless the row has a greater one. */
  async record(orders: number): Promise<void> {
    for (;;) {
      const row = await this.#rows.get(this.#cell);
      if (row !== undefined && row.value.orders >= orders) return;
      // A row that is not sealed makes way.
      if (row === undefined) await this.#rows.delete(this.#cell);
      if (await this.#rows.put(this.#cell, row?.version ?? null, { orders })) return;
    }
  }
}
