import {
  AuthorityError,
  BudgetLedger,
  parseWrit,
  type Writ,
  type WritRefusal,
  type WritVerifier,
  writId,
} from '#authority';
import type { Json } from '#base';
import { canonicalize, hashText, readCanonical } from '#canon';
import type { Amounts, BlobRow, Hash, UndoingCosts } from '#ledger';
import { RuntimeError } from '../errors.ts';

/** A writ with its ancestors, the parent first; empty for a root. */
export interface WritChain {
  readonly writ: Writ;
  readonly chain: readonly Writ[];
}

/** The writs of a trajectory as its entries have them, as JSON. */
export interface WritsState {
  /** Every writ that is known and all above it, by id. */
  readonly writs: readonly Json[];
  /** Ids of those that are known themselves. */
  readonly known: readonly Hash[];
  readonly spent: Readonly<Record<Hash, Amounts>>;
  readonly revoked: readonly Hash[];
  readonly delegated?: Hash;
}

/**
 * The writs that are known in one trajectory, what was spent under them, and what is set aside for delegations. Writs that
 * came with the root or branch entry stand in it; a child that is presented later is stored as a blob under its own id; one
 * that is delegated stands in the entry that says so.
 */
export class Writs {
  readonly #known: Map<Hash, WritChain> = new Map();
  readonly #stored: Set<Hash> = new Set();
  readonly budgets: BudgetLedger = new BudgetLedger();
  /** Ids of revoked writs; with each, all below it. */
  readonly revoked: Set<Hash> = new Set();
  /** The one by whose delegation the trajectory was begun, and the only one that may lead over from another. */
  #delegated: Hash | undefined;

  /** The writs that a state was taken of; all of them are in the ledger. @throws AuthorityError */
  static from(state: WritsState): Writs {
    const writs = new Writs();
    const byId = new Map(state.writs.map((given) => parseWrit(given)).map((writ) => [writId(writ), writ]));
    for (const id of state.known) {
      const writ = byId.get(id);
      if (writ === undefined) throw new AuthorityError('unknown_writ', `The writ ${id} is not there.`);
      writs.#add({ writ, chain: ancestors(writ, (above) => byId.get(above)) });
    }
    for (const id of byId.keys()) writs.#stored.add(id);
    writs.budgets.restore(state.spent);
    for (const id of state.revoked) writs.revoked.add(id);
    writs.#delegated = state.delegated;
    return writs;
  }

  /** Of writs that were read from the ledger, which has all of them. In an order that does not tell how it was read. */
  state(): WritsState {
    const links = new Map<Hash, Writ>();
    for (const { writ, chain } of this.#known.values())
      for (const link of [writ, ...chain]) links.set(writId(link), link);
    return {
      writs: [...links.keys()].sort().map((id) => links.get(id) as unknown as Json),
      known: [...this.#known.keys()].sort(),
      spent: this.budgets.state(),
      revoked: [...this.revoked].sort(),
      ...(this.#delegated === undefined ? {} : { delegated: this.#delegated }),
    };
  }

  /** The same, to go on by itself. */
  copy(): Writs {
    const copy = new Writs();
    for (const chain of this.#known.values()) copy.#add(chain);
    for (const id of this.#stored) copy.#stored.add(id);
    copy.budgets.restore(this.budgets.state());
    for (const id of this.revoked) copy.revoked.add(id);
    copy.#delegated = this.#delegated;
    return copy;
  }

  /** Takes over what was revoked where a branch begins. */
  inherit(revoked: Iterable<Hash>): void {
    for (const id of revoked) this.revoked.add(id);
  }

  get delegated(): Hash | undefined {
    return this.#delegated;
  }

  /**
   * Takes the writs of a root or branch entry: ancestors may stand among them in any order. Of a root that a delegation
   * began, the first is the one that was delegated.
   */
  bind(writs: readonly Json[], isDelegated: boolean = false): void {
    const parsed = writs.map((writ) => parseWrit(writ));
    if (isDelegated && parsed[0] !== undefined) this.#delegated = writId(parsed[0]);
    const byId = new Map(parsed.map((writ) => [writId(writ), writ]));
    for (const writ of parsed) {
      this.#add({ writ, chain: ancestors(writ, (id) => byId.get(id)) });
      this.#stored.add(writId(writ));
    }
  }

  get(id: Hash): WritChain | undefined {
    return this.#known.get(id);
  }

  /** Takes a writ that is presented with a proposal. @throws RuntimeError `unknown_writ`, `bad_intent`; AuthorityError `bad_writ` */
  present(given: Hash | Writ | WritChain): WritChain {
    if (typeof given === 'string') {
      const known = this.#known.get(given);
      if (known === undefined) {
        throw new RuntimeError(
          'unknown_writ',
          `No writ ${given} is known in this trajectory; present the writ itself.`,
        );
      }
      return known;
    }
    const { writ, chain } = 'writ' in given ? given : { writ: given, chain: undefined };
    if (chain !== undefined && !Array.isArray(chain)) {
      throw new RuntimeError('bad_intent', 'The ancestors of a writ are a list, the parent first.');
    }
    const parsed = parseWrit(writ);
    const known = this.#known.get(writId(parsed));
    if (known !== undefined) return known;
    return {
      writ: parsed,
      chain: chain?.map((link) => parseWrit(link)) ?? ancestors(parsed, (id) => this.#known.get(id)?.writ),
    };
  }

  known(): WritChain[] {
    return [...this.#known.values()];
  }

  /** A known writ, or one above a known one. */
  find(id: Hash): WritChain | undefined {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    for (const { chain } of this.#known.values()) {
      const at = chain.findIndex((link) => writId(link) === id);
      if (at >= 0) return { writ: chain[at] as Writ, chain: chain.slice(at + 1) };
    }
    return undefined;
  }

  /** The writ that was revoked, of a known one and those above it, if one was. */
  revokedAbove(id: Hash): Hash | undefined {
    if (this.revoked.size === 0) return undefined;
    return lineageOf(this.get(id)).find((link) => this.revoked.has(link));
  }

  /** Whether a known writ is another one, or stands below it. */
  isBelow(id: Hash, above: Hash): boolean {
    return lineageOf(this.get(id)).includes(above);
  }

  /** Remembers a writ whose chain was verified. */
  admit(chain: WritChain): void {
    this.#add(chain);
  }

  /** The blobs that keep a remembered writ and its ancestors in the ledger, until they are said to be `stored`. */
  unstored({ writ, chain }: WritChain): BlobRow[] {
    if (this.#stored.has(writId(writ)) || !this.#known.has(writId(writ))) return [];
    const missing = [writ, ...chain].filter((link) => !this.#stored.has(writId(link)));
    return missing.map((link) => ({ hash: writId(link), text: canonicalize(link) }));
  }

  /** An entry that goes with these blobs was made. */
  stored(blobs: readonly BlobRow[]): void {
    for (const { hash } of blobs) this.#stored.add(hash);
  }

  /** Books the cost of a commit that was read from the ledger. */
  book(id: Hash, cost: Amounts): void {
    if (Object.keys(cost).length > 0) this.budgets.spend(id, cost);
  }

  /** Books what undoing effects has cost, by an entry that was read or made: as far as the budgets go. The writ is known. */
  bookUndoing({ writId: id, costs }: UndoingCosts): void {
    for (const cost of costs) this.budgets.spendUpTo(id, cost);
  }

  /** Sets aside what a writ grants that is delegated, of its parent's budget and of all above. @throws as `spend` */
  reserve({ parent, budget = {} }: Writ): void {
    this.budgets.spend(parent as Hash, budget);
  }

  /** Gives back what of it was not spent. @throws AuthorityError `over_refunded` when more was spent than was set aside */
  settle(writ: Writ, spent: Amounts): void {
    this.budgets.refund(writ.parent as Hash, unspent(writ, spent));
  }

  /** What of the delegated writ's budget was spent here, and set aside below; units of which nothing was are left out. */
  spentOfDelegated(): Amounts {
    if (this.#delegated === undefined) return {};
    const spent = Object.entries(this.budgets.spent(this.#delegated));
    return Object.fromEntries(spent.filter(([, amount]) => amount > 0));
  }

  #add(chain: WritChain): void {
    const id = writId(chain.writ);
    if (this.#known.has(id)) return;
    for (const writ of [...chain.chain].reverse()) this.budgets.grant(writ);
    this.budgets.grant(chain.writ);
    this.#known.set(id, chain);
  }
}

/** Loads a writ and its ancestors: each is known from the root entry, or stored as a blob under its id. */
export async function loadWrit(
  id: Hash,
  known: Writs,
  blob: (hash: Hash) => Promise<string | undefined>,
): Promise<WritChain> {
  const links: Writ[] = [];
  for (let next: Hash | null = id; next !== null; next = links.at(-1)?.parent ?? null) {
    links.push(known.get(next)?.writ ?? writOf(next, await blob(next)));
  }
  const [writ, ...chain] = links as [Writ, ...Writ[]];
  return { writ, chain };
}

function writOf(id: Hash, text: string | undefined): Writ {
  if (text === undefined) {
    throw new RuntimeError('invalid_ledger', `The ledger names the writ ${id}, which is not in it.`, {
      evidence: { id, fault: 'writ_missing' },
    });
  }
  if (hashText(text) !== id) {
    throw new RuntimeError('invalid_ledger', `The writ ${id} was changed in the store.`, {
      evidence: { id, fault: 'writ_tampered' },
    });
  }
  return parseWrit(readCanonical(text));
}

/**
 * @throws RuntimeError `bad_writ` for a chain that does not lead to an anchor, or leads over from another trajectory by a
 * writ that is not the `delegated` one
 */
export function verified(verifier: WritVerifier, { writ, chain }: WritChain, delegated?: Hash): void {
  const held = verifier.verify(writ, chain, delegated);
  if (!held.ok) throw badWrit(held);
}

export function badWrit(refusal: WritRefusal): RuntimeError {
  return new RuntimeError('bad_writ', refusal.detail, { evidence: { code: refusal.code } });
}

/** What of a delegated writ's budget was not spent. @throws AuthorityError `over_refunded` */
export function unspent({ budget = {} }: Writ, spent: Amounts): Amounts {
  for (const unit of Object.keys(spent)) {
    if (amountOf(spent, unit) <= amountOf(budget, unit)) continue;
    throw new AuthorityError('over_refunded', `More ${unit} was spent than was set aside.`, {
      evidence: { unit, spent: amountOf(spent, unit), reserved: amountOf(budget, unit) },
    });
  }
  return Object.fromEntries(Object.keys(budget).map((unit) => [unit, amountOf(budget, unit) - amountOf(spent, unit)]));
}

/** Units may have any name, also those that every object answers to. */
function amountOf(amounts: Amounts, unit: string): number {
  return Object.hasOwn(amounts, unit) ? (amounts[unit] as number) : 0;
}

/** The writ's own id first, its root's last. */
export function lineageOf(held: WritChain | undefined): Hash[] {
  return held === undefined ? [] : [held.writ, ...held.chain].map(writId);
}

function ancestors(writ: Writ, find: (id: Hash) => Writ | undefined): Writ[] {
  const chain: Writ[] = [];
  for (let next = writ.parent; next !== null; ) {
    const above = find(next);
    if (above === undefined) break;
    chain.push(above);
    next = above.parent;
  }
  return chain;
}
