import { parseWrit, type Writ, writId } from '#authority';
import { arg, checkArgument, isAssizeError, type Json } from '#base';
import { readCanonical } from '#canon';
import type { Hash, LedgerStore } from '#ledger';

/** A writ of a chain. The principal is absent if the store does not have the writ. */
export interface HeldWrit {
  readonly writ: Hash;
  readonly principal?: string;
}

/**
 * The writs that entries name by id, with their holders. A first entry has its writs in place, and
 * a writ that a caller presented later is a blob under its own id.
 */
export class WritHolders {
  readonly #store: Pick<LedgerStore, 'blob'>;
  readonly #known: Map<Hash, Writ> = new Map();
  readonly #chains: Map<Hash, Promise<readonly HeldWrit[]>> = new Map();

  constructor(store: Pick<LedgerStore, 'blob'>) {
    this.#store = store;
  }

  /**
   * Keeps the writs of an entry. Returns the ids of those that are writs.
   *
   * @throws ArgumentError `bad_argument`
   */
  learn(writs: readonly Json[]): Hash[] {
    checkArgument(arg.list(arg.any), writs, 'writs');
    return writs.flatMap((each) => {
      const writ = writIn(() => parseWrit(each));
      if (writ === undefined) return [];
      const id = writId(writ) as Hash;
      this.#known.set(id, writ);
      return [id];
    });
  }

  /** The writ and those above it, the root last. @throws ArgumentError `bad_argument` */
  chainOf(id: Hash): Promise<readonly HeldWrit[]> {
    checkArgument(arg.text, id, 'id');
    const known = this.#chains.get(id);
    if (known !== undefined) return known;
    const read = this.#read(id);
    this.#chains.set(id, read);
    return read;
  }

  async #read(id: Hash): Promise<readonly HeldWrit[]> {
    const chain: HeldWrit[] = [];
    const seen = new Set<Hash>();
    for (let next: Hash | null = id; next !== null && !seen.has(next); ) {
      seen.add(next);
      const writ: Writ | undefined = this.#known.get(next) ?? (await this.#stored(next));
      chain.push({ writ: next, ...(writ !== undefined && { principal: writ.subject }) });
      next = (writ?.parent ?? null) as Hash | null;
    }
    return chain;
  }

  async #stored(id: Hash): Promise<Writ | undefined> {
    const text = await this.#store.blob(id);
    if (text === undefined) return undefined;
    const writ = writIn(() => parseWrit(readCanonical(text)));
    // A blob with the content of another writ is not a writ of that id.
    if (writ === undefined || writId(writ) !== id) return undefined;
    this.#known.set(id, writ);
    return writ;
  }
}

/** Undefined for a value that is not a writ. */
function writIn(parse: () => Writ): Writ | undefined {
  try {
    return parse();
  } catch (error) {
    if (isAssizeError(error)) return undefined;
    throw error;
  }
}
