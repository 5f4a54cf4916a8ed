import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Reservation } from '#authority';
import { cases } from '../../../../../../tests/support/cases.ts';
import { UndoBudget, type UndoBudgetHolder } from './undo-budget.ts';

/** A transaction with given reservations that counts its requests. */
class Told implements UndoBudgetHolder {
  asked = 0;
  isOver = false;
  readonly epoch: number;
  readonly trajectoryId: string;
  now: readonly Reservation[] = [];
  committing: readonly Reservation[] = [];

  constructor(epoch: number, trajectoryId: string) {
    this.epoch = epoch;
    this.trajectoryId = trajectoryId;
  }

  reserved(committing: boolean): readonly Reservation[] {
    this.asked++;
    return committing ? this.committing : this.now;
  }
}

/** Units by writ, in any order. */
function summed(reserved: readonly Reservation[]): object {
  const sums: Record<string, Record<string, number>> = {};
  for (const { writId, cost } of reserved)
    for (const [unit, amount] of Object.entries(cost)) {
      if (amount === 0) continue;
      sums[writId] ??= {};
      sums[writId][unit] = (sums[writId][unit] ?? 0) + amount;
    }
  return sums;
}

const reservations = fc.array(
  fc.record({
    writId: fc.constantFrom('v', 'w'),
    cost: fc.dictionary(fc.constantFrom('usd', 'calls'), fc.nat(3), { maxKeys: 2 }),
  }),
  { maxLength: 3 },
);
const epoch = fc.nat(6);
const step = fc.oneof(
  fc.record({ add: epoch, now: reservations, committing: reservations }),
  fc.record({ change: epoch, now: reservations, committing: reservations }),
  fc.record({ end: epoch }),
  fc.record({ drop: epoch }),
  fc.record({ ask: fc.constantFrom('t0', 't1'), committing: fc.option(epoch, { nil: undefined }) }),
);

test('the total reservation equals the sum over all transactions', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
      const reserved = new UndoBudget();
      const all = new Map<number, Told>();
      for (const each of steps) {
        if ('add' in each) {
          const transaction = new Told(each.add, `t${each.add % 2}`);
          Object.assign(transaction, { now: each.now, committing: each.committing });
          all.set(each.add, transaction);
          reserved.add(transaction);
        } else if ('change' in each) {
          const { now, committing } = each;
          const transaction = all.get(each.change);
          if (transaction?.isOver === false)
            reserved.changed(Object.assign(transaction, { now, committing }));
          // An unknown transaction, or one that was replaced.
          reserved.changed(new Told(each.change, 't0'));
        } else if ('end' in each) {
          const transaction = all.get(each.end) ?? new Told(each.end, 't0');
          reserved.ended(transaction);
          const { now, trajectoryId } = transaction;
          // The transaction is not queried again, regardless of its possible result.
          const kept = Object.assign(new Told(each.end, trajectoryId), {
            now,
            committing: now,
            isOver: true,
          });
          if (now.length === 0) all.delete(each.end);
          else if (all.has(each.end)) all.set(each.end, kept);
        } else if ('drop' in each) {
          all.delete(each.drop);
          reserved.drop(each.drop);
        } else {
          const there = [...all.values()].filter(({ trajectoryId }) => trajectoryId === each.ask);
          // No commit here includes another trajectory's transaction.
          const committing = there.find((one) => one.epoch === each.committing)?.epoch;
          const found = there.flatMap((one) =>
            one.epoch === committing ? one.committing : one.now,
          );
          expect(summed(reserved.reservedFor(each.ask, committing))).toEqual(summed(found));
        }
      }
    }),
    { numRuns: cases(300) },
  );
});

test('only changed transactions are read for a total, however many reserve', () => {
  const reserved = new UndoBudget();
  const all = Array.from({ length: 1_000 }, (_, n) => {
    const transaction = new Told(n + 1, 't');
    transaction.now = [{ writId: 'w', cost: { usd: 1 } }];
    reserved.add(transaction);
    return transaction;
  });
  const [one] = all as [Told];
  const of = (committing?: number): object => summed(reserved.reservedFor('t', committing));
  const askedFor = (ask: () => void): number => {
    for (const each of all) each.asked = 0;
    ask();
    return all.reduce((sum, { asked }) => sum + asked, 0);
  };
  expect(askedFor(() => expect(of()).toEqual({ w: { usd: 1_000 } }))).toBe(1_000);
  one.now = [];
  reserved.changed(one);
  expect(askedFor(() => expect(of()).toEqual({ w: { usd: 999 } }))).toBe(1);
  expect(askedFor(() => expect(of()).toEqual({ w: { usd: 999 } }))).toBe(0);
  // As if committed, and as it is.
  expect(askedFor(() => expect(of(2)).toEqual({ w: { usd: 998 } }))).toBe(1);
  expect(askedFor(() => expect(of()).toEqual({ w: { usd: 999 } }))).toBe(1);
});
