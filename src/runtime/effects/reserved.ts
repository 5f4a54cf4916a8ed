import { costItems, type Reservation } from '#authority';
import { ChurnMap, type Json } from '#canon';
import { type LoggedEffect, mayCostUndoing, readTransaction, type Tool } from '#effects';
import type { EffectStore } from '#ledger';
import { openTransactions } from './open-transactions.ts';

/** A transaction whose effects may cost something to undo. */
export interface Reserving {
  readonly epoch: number;
  readonly trajectoryId: string;
  /** What undoing them may yet cost, or has cost and is not booked; `committing`: if what stands is to stay. */
  reserved(committing: boolean): readonly Reservation[];
}

/**
 * What undoing effects may cost that are at work in this process: nothing else may spend that (decisions §5.7). A transaction is here
 * from its first such intent, or since it was taken over, until the ledger says what became of it.
 */
export class Reserved {
  readonly #transactions: ChurnMap<number, Reserving> = new ChurnMap();

  /** In place of an earlier one of that epoch. */
  add(transaction: Reserving): void {
    this.#transactions.set(transaction.epoch, transaction);
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
    this.#transactions.delete(epoch);
  }

  /** `committing`: the epoch of a transaction that is asked about as it would be when it is committed. */
  of(trajectory: string, committing?: number): readonly Reservation[] {
    if (this.#transactions.size === 0) return NOTHING;
    const there = [...this.#transactions.values()].filter(({ trajectoryId }) => trajectoryId === trajectory);
    return there.flatMap((transaction) => transaction.reserved(transaction.epoch === committing));
  }
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

/** What undoing a call costs, as the log has it. @throws AuthorityError `bad_amount` */
export function undoCostOf({ spec }: Tool, input: Json): Pick<LoggedEffect, 'undo_cost'> {
  if (spec.undoCost === undefined) return {};
  const items = costItems(spec.undoCost(input as never));
  return items.length === 0 ? {} : { undo_cost: Object.fromEntries(items) };
}

const NOTHING: readonly Reservation[] = Object.freeze([]);
