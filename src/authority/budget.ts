import { form, requireForm } from '#base';
import { type Amounts, costItems } from './amounts.ts';
import { AuthorityError } from './errors.ts';
import { type Writ, writId } from './writ.ts';

/** Whether a cost can be paid; if not, the writ that falls short (itself or an ancestor), the unit and by how much. */
export type BudgetAnswer = { readonly ok: true } | BudgetShortfall;

export interface BudgetShortfall {
  readonly ok: false;
  readonly writ_id: string;
  readonly unit: string;
  /** What is left there; 0 for a unit that was never granted. */
  readonly left: number;
  readonly cost: number;
  /** `cost - left`. */
  readonly short: number;
}

/** What is kept free under a writ, for something that may yet have to be paid. */
export interface Reservation {
  readonly writId: string;
  readonly cost: Amounts;
}

/**
 * What is left of each writ's budget, folded from the costs of commits. A cost counts against the writ and against every
 * ancestor, so the sum over all children never passes any grant above them. A unit that a budget does not name is not
 * granted. Amounts are whole numbers from 0 to 2^53−1 in the writ's own units. In memory, synchronous and rebuildable;
 * each step costs units × depth.
 */
export class BudgetLedger {
  readonly #accounts = new Map<string, Account>();

  /**
   * Opens the writ's account; its parent's must be open. Opening the same one again changes nothing. Returns the writ's id.
   * @throws AuthorityError `unknown_writ` (the parent), `bad_writ`
   */
  grant(writ: Writ): string {
    const id = writId(writ);
    if (this.#accounts.has(id)) return id;
    const parent = writ.parent === null ? undefined : this.#account(writ.parent);
    this.#accounts.set(id, { id, parent, granted: new Map(Object.entries(writ.budget ?? {})), spent: new Map() });
    return id;
  }

  /**
   * Whether the cost can be paid by the writ and every ancestor, beside what is reserved under them; the nearest that falls short
   * is named. What is reserved under a writ without an account here is passed over.
   * @throws AuthorityError `unknown_writ`, `bad_amount`
   */
  covers(id: string, cost: Amounts, reserved: readonly Reservation[] = []): BudgetAnswer {
    return shortfall(this.#account(id), costItems(cost), this.#kept(reserved)) ?? COVERED;
  }

  /** Units that are reserved, by each account that would pay for them. */
  #kept(reserved: readonly Reservation[]): Kept | undefined {
    if (reserved.length === 0) return undefined;
    const kept = new Map<Account, Map<string, number>>();
    for (const { writId: id, cost } of reserved) {
      const account = this.#accounts.get(id);
      for (const payer of account === undefined ? [] : lineage(account)) {
        const units = kept.get(payer) ?? new Map<string, number>();
        for (const [unit, amount] of costItems(cost)) units.set(unit, (units.get(unit) ?? 0) + amount);
        kept.set(payer, units);
      }
    }
    return kept;
  }

  /**
   * Books the cost on the writ and every ancestor, or on none.
   * @throws AuthorityError `budget_exhausted` (ask `covers` first), `unknown_writ`, `bad_amount`
   */
  spend(id: string, cost: Amounts): void {
    const account = this.#account(id);
    const items = costItems(cost);
    const short = shortfall(account, items);
    if (short !== undefined) {
      const { ok: _no, ...evidence } = short;
      throw new AuthorityError('budget_exhausted', `Writ ${short.writ_id} has ${short.left} ${short.unit} left.`, {
        evidence,
      });
    }
    for (const payer of lineage(account)) {
      for (const [unit, amount] of items) payer.spent.set(unit, (payer.spent.get(unit) ?? 0) + amount);
    }
  }

  /**
   * Books a cost that was paid already, whether there was a budget for it or not: on the writ and on every ancestor as far as what
   * is left there goes.
   * @throws AuthorityError `unknown_writ`, `bad_amount`
   */
  spendUpTo(id: string, cost: Amounts): void {
    const items = costItems(cost);
    for (const payer of lineage(this.#account(id))) {
      for (const [unit, amount] of items) {
        const booked = Math.min(amount, rest(payer, unit));
        if (booked > 0) payer.spent.set(unit, (payer.spent.get(unit) ?? 0) + booked);
      }
    }
  }

  /**
   * Takes back a cost that `spend` booked: the exact inverse.
   * @throws AuthorityError `over_refunded`, `unknown_writ`, `bad_amount`
   */
  refund(id: string, cost: Amounts): void {
    const account = this.#account(id);
    const items = costItems(cost);
    // An ancestor has spent at least as much as each of its children, so looking at the writ itself is enough.
    for (const [unit, amount] of items) {
      const spent = account.spent.get(unit) ?? 0;
      if (amount > spent) {
        throw new AuthorityError('over_refunded', `Writ ${id} spent only ${spent} ${unit}.`, {
          evidence: { writ_id: id, unit, spent, cost: amount },
        });
      }
    }
    for (const payer of lineage(account)) {
      for (const [unit, amount] of items) payer.spent.set(unit, payer.spent.get(unit)! - amount);
    }
  }

  /**
   * What the writ can still spend beside what is reserved, by each unit of its budget: the least of its own remainder and its ancestors'.
   * @throws AuthorityError `unknown_writ`, `bad_amount`
   */
  left(id: string, reserved: readonly Reservation[] = []): Amounts {
    const account = this.#account(id);
    const kept = this.#kept(reserved);
    const units = [...account.granted.keys()];
    return Object.fromEntries(
      units.map((unit) => [unit, Math.min(...lineage(account).map((payer) => free(payer, unit, kept)))]),
    );
  }

  /**
   * What is reserved under the writ, its children included, in units of its budget.
   * @throws AuthorityError `unknown_writ`, `bad_amount`
   */
  reserved(id: string, reserved: readonly Reservation[]): Amounts {
    const account = this.#account(id);
    const kept = this.#kept(reserved)?.get(account) ?? [];
    return Object.fromEntries([...kept].filter(([unit, amount]) => amount > 0 && account.granted.has(unit)));
  }

  /**
   * What was spent under the writ, its children included.
   * @throws AuthorityError `unknown_writ`
   */
  spent(id: string): Amounts {
    return Object.fromEntries(this.#account(id).spent);
  }

  /** What was spent under each writ, by its id; what is nothing is left out. */
  state(): Readonly<Record<string, Amounts>> {
    const spent = [...this.#accounts.values()].map(
      ({ id, spent }) => [id, [...spent].filter(([, n]) => n > 0)] as const,
    );
    return Object.fromEntries(
      spent.filter(([, items]) => items.length > 0).map(([id, items]) => [id, Object.fromEntries(items)]),
    );
  }

  /**
   * Books what `state` said, once the writs are granted and before anything is spent; all of it, or after an error nothing.
   * @throws AuthorityError `unknown_writ`, `bad_amount`, `budget_exhausted`; ArgumentError `bad_argument`
   */
  restore(state: Readonly<Record<string, Amounts>>): void {
    requireForm(form.object, state, 'state');
    const read = Object.entries(state).map(([id, spent]) => ({ account: this.#account(id), items: costItems(spent) }));
    for (const { account, items } of read) {
      const over = items.find(([unit, amount]) => amount > (account.granted.get(unit) ?? 0));
      if (over !== undefined)
        throw new AuthorityError('budget_exhausted', `Writ ${account.id} can’t have spent so many ${over[0]}.`, {
          evidence: { writ_id: account.id, unit: over[0] },
        });
    }
    for (const { account, items } of read) for (const [unit, amount] of items) account.spent.set(unit, amount);
  }

  #account(id: string): Account {
    const account = this.#accounts.get(id);
    if (account !== undefined) return account;
    requireForm(form.text, id, 'id');
    throw new AuthorityError('unknown_writ', `No budget was granted under writ ${id}.`, { evidence: { writ_id: id } });
  }
}

interface Account {
  readonly id: string;
  readonly parent: Account | undefined;
  readonly granted: ReadonlyMap<string, number>;
  readonly spent: Map<string, number>;
}

const COVERED: BudgetAnswer = Object.freeze({ ok: true });

type Items = readonly (readonly [unit: string, amount: number])[];

type Kept = ReadonlyMap<Account, ReadonlyMap<string, number>>;

function shortfall(account: Account, items: Items, kept?: Kept): BudgetShortfall | undefined {
  for (let payer: Account | undefined = account; payer !== undefined; payer = payer.parent) {
    for (const [unit, cost] of items) {
      const left = free(payer, unit, kept);
      if (cost > left) return { ok: false, writ_id: payer.id, unit, left, cost, short: cost - left };
    }
  }
  return undefined;
}

/** Beside what is reserved, of which there may be more than there is: somebody else has spent it then. */
function free(account: Account, unit: string, kept: Kept | undefined): number {
  return Math.max(0, rest(account, unit) - (kept?.get(account)?.get(unit) ?? 0));
}

/** Never negative and never past 2^53: what is spent never passes what was granted. */
function rest(account: Account, unit: string): number {
  return (account.granted.get(unit) ?? 0) - (account.spent.get(unit) ?? 0);
}

function lineage(account: Account): readonly Account[] {
  const all: Account[] = [];
  for (let payer: Account | undefined = account; payer !== undefined; payer = payer.parent) all.push(payer);
  return all;
}
