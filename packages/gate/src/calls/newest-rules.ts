import type { Instant, KeyPair } from 'assize/internal/canon';
import type { SideStore } from 'assize/internal/ledger';
import type { Random } from 'assize/internal/oracle';
import { SealedRows, sideSecretOf } from 'assize/internal/stores';

/** The rules of the server that started last. */
export interface RulesClaim {
  /** Hash of the rules and of the registered tools. */
  readonly digest: string;
  /** The id of the start. */
  readonly start: string;
  readonly at: Instant;
}

const KEY = 'newest';

/**
 * The rules that count for all servers of a store: those of the server that started last. The row
 * has a MAC, so a writer of the database alone can remove it and cannot change it.
 */
export class NewestRules {
  readonly #rows: SealedRows<RulesClaim>;
  readonly #side: SideStore;
  readonly #random: Random;

  constructor(side: SideStore, root: Pick<KeyPair, 'privateKey'>, random: Random) {
    this.#rows = new SealedRows(side, RULES_KIND, sideSecretOf(root));
    this.#side = side;
    this.#random = random;
  }

  /** Undefined: no server has claimed. */
  async read(): Promise<RulesClaim | undefined> {
    return (await this.#rows.get(KEY))?.value;
  }

  /** From now on these rules count. */
  async claim(digest: string, at: Instant): Promise<RulesClaim> {
    const claim = { digest, start: Buffer.from(this.#random.bytes(8)).toString('hex'), at };
    for (;;) {
      // A row of any content is replaced.
      const row = await this.#side.sideGet(RULES_KIND, KEY);
      if (await this.#rows.put(KEY, row?.version ?? null, claim)) return claim;
    }
  }
}

const RULES_KIND = 'gateway/rules';
