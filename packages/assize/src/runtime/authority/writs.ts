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
import {
  type Amounts,
  type BlobRow,
  type DelegationPayload,
  type Hash,
  isEffectEntry,
  isRevocation,
  type Payload,
  type UndoingCosts,
  undoingCostsOf,
} from '#ledger';
import { RuntimeError } from '../errors.ts';

/** A writ with its ancestors, the parent first; empty for a root. */
export interface WritChain {
  readonly writ: Writ;
  readonly chain: readonly Writ[];
}

/** The writs of a trajectory as its entries have them, as JSON. */
export interface WritsState {
  /** Every known writ and its ancestors, by id. */
  readonly writs: readonly Json[];
  /** Ids of the writs that are known themselves. */
  readonly known: readonly Hash[];
  readonly spent: Readonly<Record<Hash, Amounts>>;
  readonly revoked: readonly Hash[];
  readonly delegated?: Hash;
}

/**
 * The known writs of one trajectory, the amounts spent under them, and the budget reserved for
 * delegations. The root or branch entry contains its writs. A child writ presented later is stored
 * as a blob under its own id. A delegated writ is in the entry that starts the delegation.
 */
export class Writs {
  readonly #known: Map<Hash, WritChain> = new Map();
  readonly #stored: Set<Hash> = new Set();
  /** Known writs that an entry names. The others were only presented. */
  readonly #named: Set<Hash> = new Set();
  readonly budgets: BudgetLedger = new BudgetLedger();
  /** Ids of revoked writs; each revocation includes all descendants. */
  readonly revoked: Set<Hash> = new Set();
  /**
   * The writ of the delegation that created the trajectory. Only this writ may have a parent for
   * another trajectory.
   */
  #delegated: Hash | undefined;

  /** The writs of a saved state; all of them are in the ledger. @throws AuthorityError */
  static from(state: WritsState): Writs {
    const writs = new Writs();
    const byId = new Map(
      state.writs.map((given) => parseWrit(given)).map((writ) => [writId(writ), writ]),
    );
    for (const id of state.known) {
      const writ = byId.get(id);
      if (writ === undefined) throw new AuthorityError('not_found', `The writ ${id} is missing.`);
      writs.#add({ writ, chain: ancestors(writ, (above) => byId.get(above)) });
      writs.#named.add(id);
    }
    for (const id of byId.keys()) writs.#stored.add(id);
    writs.budgets.restore(state.spent);
    for (const id of state.revoked) writs.revoked.add(id);
    writs.#delegated = state.delegated;
    return writs;
  }

  /**
   * The state of the writs that entries name: the ledger has all of them. The order does not depend
   * on the order of reading.
   */
  state(): WritsState {
    const links = new Map<Hash, Writ>();
    const named = [...this.#known.keys()].filter((id) => this.#named.has(id));
    for (const id of named)
      for (const link of linksOf(this.#known.get(id) as WritChain)) links.set(writId(link), link);
    return {
      writs: [...links.keys()].sort().map((id) => links.get(id) as unknown as Json),
      known: named.sort(),
      spent: this.budgets.state(),
      revoked: [...this.revoked].sort(),
      ...(this.#delegated === undefined ? {} : { delegated: this.#delegated }),
    };
  }

  /** An independent copy. */
  copy(): Writs {
    const copy = new Writs();
    for (const chain of this.#known.values()) copy.#add(chain);
    for (const id of this.#stored) copy.#stored.add(id);
    for (const id of this.#named) copy.#named.add(id);
    copy.budgets.restore(this.budgets.state());
    for (const id of this.revoked) copy.revoked.add(id);
    copy.#delegated = this.#delegated;
    return copy;
  }

  /** Inherits the revocations at the entry where a branch starts. */
  inherit(revoked: Iterable<Hash>): void {
    for (const id of revoked) this.revoked.add(id);
  }

  get delegated(): Hash | undefined {
    return this.#delegated;
  }

  /**
   * Adds the writs of a root or branch entry; ancestors may be among them in any order. In a root
   * created by a delegation, the first writ is the delegated one.
   */
  bind(writs: readonly Json[], isDelegated: boolean = false): void {
    const parsed = writs.map((writ) => parseWrit(writ));
    if (isDelegated && parsed[0] !== undefined) this.#delegated = writId(parsed[0]);
    const byId = new Map(parsed.map((writ) => [writId(writ), writ]));
    for (const writ of parsed) {
      this.#add({ writ, chain: ancestors(writ, (id) => byId.get(id)) });
      this.#stored.add(writId(writ));
      this.#named.add(writId(writ));
    }
  }

  /**
   * Moves past an accepted entry: its writs, costs, reservations and revocation. The writ that it
   * names is known.
   *
   * @throws AuthorityError for amounts beyond a budget
   */
  apply(payload: Payload): void {
    if (payload.kind === 'root') this.bind(payload.writs, payload.delegated_from !== undefined);
    else if (payload.kind === 'branch') this.bind(payload.writs);
    else if (isEffectEntry(payload)) {
      const costs = undoingCostsOf(payload);
      if (costs === undefined) return;
      this.bookCompensation(costs);
      this.#named.add(costs.writId);
    } else if (isRevocation(payload)) {
      const { writ } = payload.action.args;
      this.revoked.add(writ);
      this.#named.add(writ).add(payload.writ_id);
    } else if (payload.kind === 'commit') {
      this.book(payload.writ_id, payload.budget_cost);
      this.#named.add(payload.writ_id);
    } else if (payload.kind === 'pending_approval') this.#named.add(payload.proposal.writ_id);
    else if (payload.kind === 'delegation') this.#applyDelegation(payload);
  }

  #applyDelegation({
    concludes,
    child_trajectory_id,
    trajectory_id,
    writ,
    budget_cost = {},
  }: DelegationPayload): void {
    if (concludes === undefined) {
      const delegated = parseWrit(writ);
      this.reserve(delegated);
      this.#named.add(delegated.parent as Hash);
    }
    // The child's own answer moves no budget of the child.
    else if (child_trajectory_id !== trajectory_id) this.settle(parseWrit(writ), budget_cost);
  }

  get(id: Hash): WritChain | undefined {
    return this.#known.get(id);
  }

  /**
   * Resolves a writ that a proposal presents. @throws RuntimeError `unknown_writ`, `bad_intent`;
   * AuthorityError `bad_writ`
   */
  present(given: Hash | Writ | WritChain): WritChain {
    if (typeof given === 'string') {
      const known = this.#known.get(given);
      if (known === undefined) {
        throw new RuntimeError(
          'unknown_writ',
          `The trajectory has no writ ${given}. Pass the writ itself.`,
        );
      }
      return known;
    }
    const { writ, chain } = 'writ' in given ? given : { writ: given, chain: undefined };
    if (chain !== undefined && !Array.isArray(chain)) {
      throw new RuntimeError(
        'bad_intent',
        'The ancestors of a writ must be a list. Put the parent first.',
      );
    }
    const parsed = parseWrit(writ);
    const known = this.#known.get(writId(parsed));
    if (known !== undefined) return known;
    return {
      writ: parsed,
      chain:
        chain?.map((link) => parseWrit(link)) ??
        ancestors(parsed, (id) => this.#known.get(id)?.writ),
    };
  }

  known(): WritChain[] {
    return [...this.#known.values()];
  }

  /** A known writ, or an ancestor of one. */
  find(id: Hash): WritChain | undefined {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    for (const { chain } of this.#known.values()) {
      const at = chain.findIndex((link) => writId(link) === id);
      if (at >= 0) return { writ: chain[at] as Writ, chain: chain.slice(at + 1) };
    }
    return undefined;
  }

  /** The revoked writ among a known writ and its ancestors, if any. */
  revokedAbove(id: Hash): Hash | undefined {
    if (this.revoked.size === 0) return undefined;
    return lineageOf(this.get(id)).find((link) => this.revoked.has(link));
  }

  /** Whether a known writ is the other writ or its descendant. */
  isBelow(id: Hash, above: Hash): boolean {
    return lineageOf(this.get(id)).includes(above);
  }

  /** Remembers a writ with a verified chain. */
  admit(chain: WritChain): void {
    this.#add(chain);
  }

  /** Remembers a writ with a verified chain that an entry names. */
  admitNamed(chain: WritChain): void {
    this.#add(chain);
    this.#named.add(writId(chain.writ));
  }

  /**
   * The blobs that store a remembered writ and its ancestors in the ledger, until they are marked
   * `stored`.
   */
  unstored({ writ, chain }: WritChain): BlobRow[] {
    if (this.#stored.has(writId(writ)) || !this.#known.has(writId(writ))) return [];
    const missing = [writ, ...chain].filter((link) => !this.#stored.has(writId(link)));
    return missing.map((link) => ({ hash: writId(link), text: canonicalize(link) }));
  }

  /** Marks these blobs as written with an entry. */
  stored(blobs: readonly BlobRow[]): void {
    for (const { hash } of blobs) this.#stored.add(hash);
  }

  /** Books the cost of a commit that was read from the ledger. */
  book(id: Hash, cost: Amounts): void {
    if (Object.keys(cost).length > 0) this.budgets.spend(id, cost);
  }

  /**
   * Books the cost of compensations, by an entry that was read or made, up to the remaining
   * budgets. The writ is known.
   */
  bookCompensation({ writId: id, costs }: UndoingCosts): void {
    for (const cost of costs) this.budgets.spendUpTo(id, cost);
  }

  /**
   * Reserves the budget of a delegated writ from its parent and all ancestors. @throws the errors
   * of `spend`
   */
  reserve({ parent, budget = {} }: Writ): void {
    this.budgets.spend(parent as Hash, budget);
  }

  /**
   * Refunds the unspent part of a reservation.
   * @throws AuthorityError `bad_argument` when more was spent than was reserved
   */
  settle(writ: Writ, spent: Amounts): void {
    this.budgets.refund(writ.parent as Hash, unspent(writ, spent));
  }

  /**
   * The part of the delegated writ's budget that was spent here or reserved for children. Units
   * with no such amount are left out.
   */
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

/**
 * Loads a writ and its ancestors: each is known from the root entry, or stored as a blob under its
 * id.
 */
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
    throw new RuntimeError(
      'invalid_ledger',
      `The ledger names the writ ${id}, but does not contain it.`,
      {
        evidence: { id, fault: 'writ_missing' },
      },
    );
  }
  if (hashText(text) !== id) {
    throw new RuntimeError('invalid_ledger', `The stored writ ${id} was changed.`, {
      evidence: { id, fault: 'writ_tampered' },
    });
  }
  return parseWrit(readCanonical(text));
}

/**
 * @throws RuntimeError `bad_writ` for a chain that does not lead to an anchor, or that leads to
 * another trajectory by a writ other than the `delegated` one
 */
export function verified(
  verifier: WritVerifier,
  { writ, chain }: WritChain,
  delegated?: Hash,
): void {
  const held = verifier.verify(writ, chain, delegated);
  if (!held.ok) throw badWrit(held);
}

export function badWrit(refusal: WritRefusal): RuntimeError {
  return new RuntimeError('bad_writ', refusal.detail, { evidence: { code: refusal.code } });
}

/** The unspent part of a delegated writ's budget. @throws AuthorityError `bad_argument` */
export function unspent({ budget = {} }: Writ, spent: Amounts): Amounts {
  for (const unit of Object.keys(spent)) {
    if (amountOf(spent, unit) <= amountOf(budget, unit)) continue;
    throw new AuthorityError('bad_argument', `The spent ${unit} exceeds the reservation.`, {
      evidence: { unit, spent: amountOf(spent, unit), reserved: amountOf(budget, unit) },
    });
  }
  return Object.fromEntries(
    Object.keys(budget).map((unit) => [unit, amountOf(budget, unit) - amountOf(spent, unit)]),
  );
}

/** Units may have any name, also names that every object inherits. */
function amountOf(amounts: Amounts, unit: string): number {
  return Object.hasOwn(amounts, unit) ? (amounts[unit] as number) : 0;
}

/** The writ's own id first, its root's last. */
export function lineageOf(held: WritChain | undefined): Hash[] {
  return held === undefined ? [] : linksOf(held).map(writId);
}

function linksOf({ writ, chain }: WritChain): Writ[] {
  return [writ, ...chain];
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

/**
 * The holder of a writ, and the holders of its ancestors. None of them may approve a proposal under
 * it.
 */
export function holdersOf(chain: WritChain | undefined): string[] {
  return chain === undefined ? [] : [chain.writ, ...chain.chain].map(({ subject }) => subject);
}
