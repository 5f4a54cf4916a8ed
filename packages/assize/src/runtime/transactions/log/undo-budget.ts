import { type Amounts, AuthorityError, costItems, type Reservation } from '#authority';
import { isAssizeError, isUnwantedPromise, type Json, TransientMap, thrownText } from '#base';
import { copyJson } from '#canon';
import {
  type KnownTransaction,
  type LoggedEffect,
  mayCostUndoing,
  readTransaction,
  type Tool,
} from '#effects';
import type { EffectStore } from '#ledger';
import { openTransactions } from '../coordination/read-all.ts';

/** A transaction with effects that may have a compensation cost. */
export interface UndoBudgetHolder {
  readonly epoch: number;
  readonly trajectoryId: string;
  /**
   * The possible compensation cost, and actual cost that is not yet booked. `committing`: assumes
   * that the transaction commits.
   */
  reserved(committing: boolean): readonly Reservation[];
}

/** A transaction with its counted amounts. */
interface Counted {
  readonly transaction: UndoBudgetHolder;
  counted: readonly Reservation[];
}

/** Units, by writ. */
type Sums = Map<string, Map<string, number>>;

/**
 * The possible compensation cost of effects of active transactions in this process. No other call
 * may spend it (docs/decisions/016-effect-outcomes.md). A transaction is included from its first
 * such intent or its adoption until it is settled. Each proposal and each call asks for the total,
 * and ten thousand transactions may be unresolved. So the sums are cached, and only changed
 * transactions are counted again.
 */
export class UndoBudget {
  readonly #transactions: TransientMap<number, Counted> = new TransientMap();
  /** Transactions with outdated counts. */
  readonly #changed: Set<Counted> = new Set();
  /** The counted sums, by trajectory. */
  readonly #sums: Map<string, Sums> = new Map();

  /** Replaces an earlier transaction with the same epoch. */
  add(transaction: UndoBudgetHolder): void {
    const { epoch } = transaction;
    const before = this.#transactions.get(epoch);
    if (before !== undefined) this.#changed.delete(before);
    const counted = { transaction, counted: before?.counted ?? NOTHING };
    this.#transactions.set(epoch, counted);
    this.#changed.add(counted);
  }

  /**
   * Call this whenever the reservations of a transaction may have changed. Has no effect for
   * unknown transactions.
   */
  changed(transaction: UndoBudgetHolder): void {
    const there = this.#transactions.get(transaction.epoch);
    if (there?.transaction === transaction) this.#changed.add(there);
  }

  /**
   * Called when the transaction no longer changes. Amounts that are not yet booked stay reserved.
   */
  ended(transaction: UndoBudgetHolder): void {
    const { epoch, trajectoryId } = transaction;
    if (!this.#transactions.has(epoch)) return;
    const kept = transaction.reserved(false);
    if (kept.length === 0) this.drop(epoch);
    else this.add({ epoch, trajectoryId, reserved: () => kept });
  }

  drop(epoch: number): void {
    const there = this.#transactions.get(epoch);
    if (there === undefined) return;
    this.#transactions.delete(epoch);
    this.#changed.delete(there);
    this.#count(there, NOTHING);
  }

  /**
   * The total per writ. `committing`: the epoch of a transaction that is counted as if it commits.
   */
  reservedFor(trajectory: string, committing?: number): readonly Reservation[] {
    if (this.#transactions.size === 0) return NOTHING;
    for (const each of this.#changed) this.#count(each, each.transaction.reserved(false));
    this.#changed.clear();
    const own = committing === undefined ? undefined : this.#transactions.get(committing);
    if (own !== undefined) {
      this.#count(own, own.transaction.reserved(true));
      this.#changed.add(own);
    }
    const sums = this.#sums.get(trajectory);
    if (sums === undefined) return NOTHING;
    return Array.from(sums, ([writId, units]) => ({ writId, cost: amountsOf(units) }));
  }

  #count(each: Counted, now: readonly Reservation[]): void {
    const { trajectoryId } = each.transaction;
    const sums: Sums = this.#sums.get(trajectoryId) ?? new Map();
    for (const { writId, cost } of now) addTo(sums, writId, cost, 1);
    for (const { writId, cost } of each.counted) addTo(sums, writId, cost, -1);
    each.counted = now;
    if (sums.size === 0) this.#sums.delete(trajectoryId);
    else this.#sums.set(trajectoryId, sums);
  }
}

/** An amount above the maximum is more than any budget has. */
function amountsOf(units: ReadonlyMap<string, number>): Reservation['cost'] {
  return Object.fromEntries(
    Array.from(units, ([unit, sum]) => [unit, Math.min(sum, Number.MAX_SAFE_INTEGER)]),
  );
}

function addTo(sums: Sums, writId: string, cost: Reservation['cost'], sign: 1 | -1): void {
  const units = sums.get(writId) ?? new Map<string, number>();
  for (const [unit, amount] of costItems(cost)) {
    const sum = (units.get(unit) ?? 0) + sign * amount;
    if (sum === 0) units.delete(unit);
    else units.set(unit, sum);
  }
  if (units.size === 0) sums.delete(writId);
  else sums.set(writId, units);
}

/**
 * The same total from the effect log, for open transactions of all processes. Records that are not
 * yet written are missing.
 */
export async function reservedInLog(
  store: EffectStore,
  trajectory: string,
): Promise<readonly Reservation[]> {
  const reserved: Reservation[] = [];
  for await (const logged of openTransactions(store, trajectory)) {
    reserved.push(...reservationsOf(readTransaction(logged)));
  }
  return reserved;
}

/** The possible compensation costs of a logged transaction. */
export function reservationsOf({ body, state, effects }: KnownTransaction): readonly Reservation[] {
  return effects.flatMap(({ undo_cost: cost }, n) =>
    cost !== undefined && mayCostUndoing(state, n) ? [{ writId: body.writ_id, cost }] : [],
  );
}

/** The amounts of a call without cost. */
export const NO_COST: Amounts = Object.freeze({});

/**
 * A tool's statement of a call's costs, requested once. The log records this value, and a repeated
 * call is charged by it.
 */
export interface Costs extends Pick<LoggedEffect, 'undo_cost'> {
  readonly cost: Amounts;
}

/** @throws AuthorityError `bad_argument` */
export function costsOf(tool: Tool, input: Json): Costs {
  return { cost: costOf(tool, input), ...undoCostOf(tool, input) };
}

/** The cost of a call. @throws AuthorityError `bad_argument` */
export function costOf({ name, spec }: Tool, input: Json): Amounts {
  return spec.cost === undefined
    ? NO_COST
    : declaredCost(name, 'cost', () => spec.cost?.(copyJson(input) as never));
}

/** The compensation cost of a call, as the log records it. @throws AuthorityError `bad_argument` */
export function undoCostOf({ name, spec }: Tool, input: Json): Pick<LoggedEffect, 'undo_cost'> {
  if (spec.undoCost === undefined) return {};
  const items = costItems(
    declaredCost(name, 'undoCost', () => spec.undoCost?.(copyJson(input) as never)),
  );
  return items.length === 0 ? {} : { undo_cost: Object.fromEntries(items) };
}

/**
 * Reads the costs that a tool returns. A tool without costs returns nothing. A promise is rejected:
 * it has no units and would count as no cost.
 * @throws AuthorityError `bad_argument`, naming the tool
 */
export function declaredCost(
  tool: string,
  member: 'cost' | 'undoCost',
  costOf: () => Amounts | undefined,
): Amounts {
  const refused = (why: string, cause?: unknown): AuthorityError =>
    new AuthorityError('bad_argument', `The ${member} of ${tool} is not valid: ${why}`, {
      evidence: { tool },
      cause,
    });
  let cost: Amounts;
  try {
    cost = costOf() ?? {};
  } catch (error) {
    throw refused(`it threw: ${thrownText(error)}`, error);
  }
  if (isUnwantedPromise(cost)) throw refused('it is a promise. Return it synchronously.');
  try {
    costItems(cost);
    return cost;
  } catch (error) {
    throw isAssizeError(error, 'bad_argument') ? refused(error.message) : error;
  }
}

const NOTHING: readonly Reservation[] = Object.freeze([]);
