import { parseWrit, writId } from '#authority';
import { isAssizeError, type Json } from '#base';
import { hashText, readCanonical } from '#canon';
import type { Hash, LedgerStore } from '#ledger';

/** The subjects of writs, which are the principals of proposals. */
export class Principals {
  readonly #store: Pick<LedgerStore, 'blob'>;
  readonly #known: Map<Hash, string | undefined> = new Map();

  constructor(store: Pick<LedgerStore, 'blob'>) {
    this.#store = store;
  }

  /** Adds the writs of the first entry of a trajectory. @throws AuthorityError `bad_writ` */
  add(writs: readonly Json[]): void {
    for (const each of writs) {
      const writ = parseWrit(each);
      this.#known.set(writId(writ), writ.subject);
    }
  }

  /** Undefined without a writ, and for a refused writ that the ledger does not have. */
  async of(writ: Hash | undefined): Promise<string | undefined> {
    if (writ === undefined) return undefined;
    if (!this.#known.has(writ)) this.#known.set(writ, await this.#read(writ));
    return this.#known.get(writ);
  }

  async #read(writ: Hash): Promise<string | undefined> {
    const text = await this.#store.blob(writ);
    if (text === undefined || hashText(text) !== writ) return undefined;
    try {
      return parseWrit(readCanonical(text)).subject;
    } catch (error) {
      if (isAssizeError(error)) return undefined;
      throw error;
    }
  }
}
