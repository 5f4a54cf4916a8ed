import { type Amounts, AuthorityError, costItems, type Reservation } from '#authority';
import { ChurnMap, isAssizeError, type Json } from '#base';
import { copyJson } from '#canon';
import { type LoggedEffect, mayCostUndoing, readTransaction, type Tool } from '#effects';
import type { EffectStore } from '#ledger';
import { openTransactions } from '../coordination/read-open.ts';
import { isPromise } from '../limits/time-limit.ts';

/** A transaction whose effects may cost something to undo. */
export interface Reserving {
  readonly epoch: number;
  readonly trajectoryId: string;
  /** What undoing them may yet cost, or has cost and is not booked; `committing`: if what stands is to stay. */
  reserved(committing: boolean): readonly Reservation[];
}

/** A transaction, and what is counted of it. */
interface Counted {
  readonly transaction: Reserving;
  counted: readonly Reservation[];
}

/** Units, by writ. */
type Sums = Map<string, Map<string, number>>;

/**
 * What undoing effects may cost that are at work in this process: nothing else may spend that (decisions §5.7). A transaction is here
 * from its first such intent, or since it was taken over, until the ledger says what became of it. Each proposal and each call asks, and
 * ten thousand may wait for a person: so it is summed up, and only what has changed since is looked at.
 */
export class Reserved {
  readonly #transactions: ChurnMap<number, Counted> = new ChurnMap();
  /** What is counted may not be so any more. */
  readonly #changed: Set<Counted> = new Set();
  /** Of what is counted, by trajectory. */
  readonly #sums: Map<string, Sums> = new Map();

  /** In place of an earlier one of that epoch. */
  add(transaction: Reserving): void {
    const { epoch } = transaction;
    const before = this.#transactions.get(epoch);
    if (before !== undefined) this.#changed.delete(before);
    const counted = { transaction, counted: before?.counted ?? NOTHING };
    this.#transactions.set(epoch, counted);
    this.#changed.add(counted);
  }

  /** To be called whenever one may reserve something else than before; nothing happens where it is not here. */
  changed(transaction: Reserving): void {
    const there = this.#transactions.get(transaction.epoch);
    if (there?.transaction === transaction) this.#changed.add(there);
  }

  /** Nothing of it changes any more: what is not booked yet is kept, where there is anything. */
  ended(transaction: Reserving): void {
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

  /** In all, for each writ. `committing`: the epoch of a transaction that is asked about as it would be when it is committed. */
  of(trajectory: string, committing?: number): readonly Reservation[] {
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

/** More than an amount may be is more than any budget has. */
function amountsOf(units: ReadonlyMap<string, number>): Reservation['cost'] {
  return Object.fromEntries(Array.from(units, ([unit, sum]) => [unit, Math.min(sum, Number.MAX_SAFE_INTEGER)]));
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

/** The same by what the effect log has of all that is open there, in whichever process: what was not written yet is not here. */
export async function reservedInLog(store: EffectStore, trajectory: string): Promise<readonly Reservation[]> {
  const reserved: Reservation[] = [];
  for await (const logged of openTransactions(store, trajectory)) {
    const { body, state, effects } = readTransaction(logged);
    for (const [n, { undo_cost: cost }] of effects.entries())
      if (cost !== undefined && mayCostUndoing(state, n)) reserved.push({ writId: body.writ_id, cost });
  }
  return reserved;
}

/** Of what costs nothing. */
export const FREE: Amounts = Object.freeze({});

/** What a tool says of a call, asked once: what is charged for it is what the log has of it, also where it is put there again. */
export interface Costs extends Pick<LoggedEffect, 'undo_cost'> {
  readonly cost: Amounts;
}

/** @throws AuthorityError `bad_amount` */
export function costsOf(tool: Tool, input: Json): Costs {
  return { cost: costOf(tool, input), ...undoCostOf(tool, input) };
}

/** What a call costs. @throws AuthorityError `bad_amount` */
export function costOf({ name, spec }: Tool, input: Json): Amounts {
  return spec.cost === undefined ? FREE : costTold(name, 'cost', spec.cost(copyJson(input) as never));
}

/** What undoing a call costs, as the log has it. @throws AuthorityError `bad_amount` */
export function undoCostOf({ name, spec }: Tool, input: Json): Pick<LoggedEffect, 'undo_cost'> {
  if (spec.undoCost === undefined) return {};
  const items = costItems(costTold(name, 'undoCost', spec.undoCost(copyJson(input) as never)));
  return items.length === 0 ? {} : { undo_cost: Object.fromEntries(items) };
}

/**
 * What a tool has told of its costs; nothing is told by one that costs nothing. A promise has no units, and would be none for good.
 * @throws AuthorityError `bad_amount`, naming the tool
 */
export function costTold(tool: string, member: 'cost' | 'undoCost', told: Amounts | undefined): Amounts {
  const cost = told ?? {};
  const refused = (why: string): AuthorityError =>
    new AuthorityError('bad_amount', `The ${member} of ${tool} can’t be counted: ${why}`, { evidence: { tool } });
  if (isPromise(cost)) {
    cost.then(undefined, () => undefined);
    throw refused('it is a promise; tell it at once.');
  }
  try {
    costItems(cost);
    return cost;
  } catch (error) {
    throw isAssizeError(error, 'bad_amount') ? refused(error.message) : error;
  }
}

const NOTHING: readonly Reservation[] = Object.freeze([]);
