import { type Amounts, costItems } from './amounts.ts';
import { AuthorityError } from './errors.ts';
import { type Writ, writId } from './writ.ts';

/**
 * Whether a cost can be paid. If not, the writ that falls short (itself or an ancestor), the unit
 * and the missing amount.
 */
export type BudgetAnswer = { readonly ok: true } | BudgetShortfall;

export interface BudgetShortfall {
  readonly ok: false;
  readonly writ_id: string;
  readonly unit: string;
  /** The remainder in that writ. 0 for a unit that was never granted. */
  readonly left: number;
  readonly cost: number;
  /** `cost - left`. */
  readonly short: number;
}

/** An amount reserved under a writ for a possible later cost. */
export interface Reservation {
  readonly writId: string;
  readonly cost: Amounts;
}

/**
 * The remainder of each writ's budget, folded from the costs of commits. A cost counts against the
 * writ and every ancestor, so the sum over all children never exceeds a grant above them. A unit
 * that a budget does not name is not granted. Amounts are whole numbers from 0 to 2^53−1 in the
 * writ's own units. In memory, synchronous and rebuildable. Each step costs units × depth.
 */
export class BudgetLedger {
  readonly #accounts = new Map<string, Account>();

  /**
   * Opens the writ's account. The account of its parent must be open. Opening the same account
   * again has no further effect. Returns the writ's id.
   *
   * @throws AuthorityError `not_found` (the parent), `bad_writ`
   */
  grant(writ: Writ): string {
    const id = writId(writ);
    if (this.#accounts.has(id)) return id;
    const parent = writ.parent === null ? undefined : this.#account(writ.parent);
    this.#accounts.set(id, {
      id,
      parent,
      granted: new Map(Object.entries(writ.budget ?? {})),
      spent: new Map(),
    });
    return id;
  }

  /**
   * Whether the writ and every ancestor can pay the cost in addition to the reservations under
   * them. Names the nearest writ that falls short. A reservation under a writ without an account
   * here is ignored.
   *
   * @throws AuthorityError `not_found`, `bad_argument`
   */
  covers(id: string, cost: Amounts, reserved: readonly Reservation[] = []): BudgetAnswer {
    return shortfall(this.#account(id), costItems(cost), this.#kept(reserved)) ?? COVERED;
  }

  /** Reserved units, by each account that would pay for them. */
  #kept(reserved: readonly Reservation[]): ReservationsByUnit | undefined {
    if (reserved.length === 0) return undefined;
    const kept = new Map<Account, Map<string, number>>();
    for (const { writId: id, cost } of reserved) {
      const account = this.#accounts.get(id);
      for (const payer of account === undefined ? [] : lineage(account)) {
        const units = kept.get(payer) ?? new Map<string, number>();
        for (const [unit, amount] of costItems(cost))
          units.set(unit, (units.get(unit) ?? 0) + amount);
        kept.set(payer, units);
      }
    }
    return kept;
  }

  /**
   * Books the cost on the writ and every ancestor, or on none.
   *
   * @throws AuthorityError `budget_exhausted` (ask `covers` first), `not_found`, `bad_argument`
   */
  spend(id: string, cost: Amounts): void {
    const account = this.#account(id);
    const items = costItems(cost);
    const short = shortfall(account, items);
    if (short !== undefined) {
      const { ok: _no, ...evidence } = short;
      throw new AuthorityError(
        'budget_exhausted',
        `Writ ${short.writ_id} has ${short.left} ${short.unit} left.`,
        {
          evidence,
        },
      );
    }
    for (const payer of lineage(account)) {
      for (const [unit, amount] of items)
        payer.spent.set(unit, (payer.spent.get(unit) ?? 0) + amount);
    }
  }

  /**
   * Books a cost that was already paid, with or without a budget for it: on the writ and every
   * ancestor, up to the remainder of each.
   *
   * @throws AuthorityError `not_found`, `bad_argument`
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
   * Refunds a cost that `spend` booked: the exact inverse.
   *
   * @throws AuthorityError `bad_argument`, `not_found`
   */
  refund(id: string, cost: Amounts): void {
    const account = this.#account(id);
    const items = costItems(cost);
    // An ancestor has spent at least as much as each of its children, so a check of the writ itself
    // is enough.
    for (const [unit, amount] of items) {
      const spent = account.spent.get(unit) ?? 0;
      if (amount > spent) {
        throw new AuthorityError('bad_argument', `Writ ${id} spent only ${spent} ${unit}.`, {
          evidence: { writ_id: id, unit, spent, cost: amount },
        });
      }
    }
    for (const payer of lineage(account)) {
      for (const [unit, amount] of items) payer.spent.set(unit, payer.spent.get(unit)! - amount);
    }
  }

  /**
   * The amount that the writ can still spend in addition to the reservations, by each unit of its
   * budget: the minimum of its own remainder and its ancestors'.
   *
   * @throws AuthorityError `not_found`, `bad_argument`
   */
  left(id: string, reserved: readonly Reservation[] = []): Amounts {
    const account = this.#account(id);
    const kept = this.#kept(reserved);
    const units = [...account.granted.keys()];
    return Object.fromEntries(
      units.map((unit) => [
        unit,
        Math.min(...lineage(account).map((payer) => free(payer, unit, kept))),
      ]),
    );
  }

  /**
   * The amount reserved under the writ, its children included, in units of its budget.
   *
   * @throws AuthorityError `not_found`, `bad_argument`
   */
  reserved(id: string, reserved: readonly Reservation[]): Amounts {
    const account = this.#account(id);
    const kept = this.#kept(reserved)?.get(account) ?? [];
    return Object.fromEntries(
      [...kept].filter(([unit, amount]) => amount > 0 && account.granted.has(unit)),
    );
  }

  /**
   * The amount spent under the writ, its children included.
   *
   * @throws AuthorityError `not_found`
   */
  spent(id: string): Amounts {
    return Object.fromEntries(this.#account(id).spent);
  }

  /** The amount spent under each writ, by its id. Zero amounts are omitted. */
  state(): Readonly<Record<string, Amounts>> {
    const spent = [...this.#accounts.values()].map(
      ({ id, spent }) => [id, [...spent].filter(([, n]) => n > 0)] as const,
    );
    return Object.fromEntries(
      spent
        .filter(([, items]) => items.length > 0)
        .map(([id, items]) => [id, Object.fromEntries(items)]),
    );
  }

  /**
   * Restores a result of `state`, after the writs are granted and before any spending. An error
   * restores nothing.
   *
   * @throws AuthorityError `not_found`, `bad_argument`, `budget_exhausted`
   */
  restore(state: Readonly<Record<string, Amounts>>): void {
    const read = Object.entries(state).map(([id, spent]) => ({
      account: this.#account(id),
      items: costItems(spent),
    }));
    for (const { account, items } of read) {
      const over = items.find(([unit, amount]) => amount > (account.granted.get(unit) ?? 0));
      if (over !== undefined)
        throw new AuthorityError(
          'budget_exhausted',
          `Writ ${account.id} cannot have spent that amount of ${over[0]}.`,
          {
            evidence: { writ_id: account.id, unit: over[0] },
          },
        );
    }
    for (const { account, items } of read)
      for (const [unit, amount] of items) account.spent.set(unit, amount);
  }

  #account(id: string): Account {
    const account = this.#accounts.get(id);
    if (account !== undefined) return account;
    throw new AuthorityError('not_found', `The budget has no writ ${id}. Grant it first.`, {
      evidence: { writ_id: id },
    });
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

type ReservationsByUnit = ReadonlyMap<Account, ReadonlyMap<string, number>>;

function shortfall(
  account: Account,
  items: Items,
  kept?: ReservationsByUnit,
): BudgetShortfall | undefined {
  for (let payer: Account | undefined = account; payer !== undefined; payer = payer.parent) {
    for (const [unit, cost] of items) {
      const left = free(payer, unit, kept);
      if (cost > left)
        return { ok: false, writ_id: payer.id, unit, left, cost, short: cost - left };
    }
  }
  return undefined;
}

/**
 * The remainder without the reservations. Reservations can exceed the remainder if another spender
 * used it.
 */
function free(account: Account, unit: string, kept: ReservationsByUnit | undefined): number {
  return Math.max(0, rest(account, unit) - (kept?.get(account)?.get(unit) ?? 0));
}

/** Never negative and never past 2^53: the spent amount never exceeds the grant. */
function rest(account: Account, unit: string): number {
  return (account.granted.get(unit) ?? 0) - (account.spent.get(unit) ?? 0);
}

function lineage(account: Account): readonly Account[] {
  const all: Account[] = [];
  for (let payer: Account | undefined = account; payer !== undefined; payer = payer.parent)
    all.push(payer);
  return all;
}
