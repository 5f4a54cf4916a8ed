import { hkdfSync, timingSafeEqual } from 'node:crypto';
import { isAssizeError, type Json } from '#base';
import { canonicalize, type KeyPair, keyedHash, parseCanonical } from '#canon';
import type { SideStore } from '#ledger';

const KIND = 'cells/applied';
const TAG = 'assize/cells-applied/v1';

/**
 * The number of orders that the servers of a cell have applied, for its other processes. The row
 * has a MAC under the root key, over the name of the cell: a writer of the database can delete it
 * or put an earlier one back, and then the cell accepts no entry. Any other row counts as absent.
 */
export class AppliedOrders {
  readonly #side: SideStore;
  readonly #cell: string;
  readonly #secret: Uint8Array;

  constructor(side: SideStore, cell: string, { privateKey }: Pick<KeyPair, 'privateKey'>) {
    this.#side = side;
    this.#cell = cell;
    this.#secret = new Uint8Array(hkdfSync('sha256', Buffer.from(privateKey, 'hex'), '', TAG, 32));
  }

  async read(): Promise<number> {
    const row = await this.#side.sideGet(KIND, this.#cell);
    return row === undefined ? 0 : this.#ordersIn(row.body);
  }

  /** Writes the number, unless the row has a greater one. */
  async record(orders: number): Promise<void> {
    for (;;) {
      const row = await this.#side.sideGet(KIND, this.#cell);
      if (row !== undefined && this.#ordersIn(row.body) >= orders) return;
      const expected = row?.version ?? null;
      const body = canonicalize({ mac: this.#macOf(orders), orders });
      if (await this.#side.sidePut([{ kind: KIND, key: this.#cell, expected, body }])) return;
    }
  }

  #ordersIn(body: string): number {
    const { mac, orders } = (parsed(body) ?? {}) as { readonly mac?: Json; readonly orders?: Json };
    if (typeof mac !== 'string' || typeof orders !== 'number') return 0;
    const wanted = Buffer.from(this.#macOf(orders));
    const given = Buffer.from(mac);
    return wanted.length === given.length && timingSafeEqual(wanted, given) ? orders : 0;
  }

  #macOf(orders: number): string {
    return keyedHash(this.#secret, canonicalize([KIND, this.#cell, orders]));
  }
}

function parsed(text: string): Json | undefined {
  try {
    return parseCanonical(text);
  } catch (error) {
    if (isAssizeError(error)) return undefined;
    throw error;
  }
}
