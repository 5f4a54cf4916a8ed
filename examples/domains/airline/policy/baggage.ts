/** policy.md, Book flight (checked bag allowance) and Modify flight (change baggage). */
import { type Invariant, pass, type Rules, reject } from 'assize/internal/kernel';
import { freeBags } from '../allowance.ts';
import type { AirlineState } from '../schema.ts';

export function baggage({ each }: Rules<AirlineState>): Invariant<AirlineState>[] {
  return [
    // Both ways: an extra bag is 50 dollars, and a free bag is free. Bags that were paid before can
    // stay paid.
    each('BAGGAGE_ALLOWANCE', '/bags/*/*', {}, (row) => {
      const free = freeBags(row);
      const extra = Math.max(0, row.total - free);
      const most = Math.max(extra, row.before?.nonfree ?? 0);
      if (row.nonfree >= extra && row.nonfree <= most) return pass;
      const who = `${row.passengers} ${row.cabin} passenger(s) of a ${row.membership} member`;
      return reject(
        `${row.total} bags with ${free} free for ${who}: ${extra} to pay for, not ${row.nonfree}`,
      );
    }),

    each('BAGS_NOT_REMOVED', '/bags/*/*', {}, ({ total, before }) =>
      total >= (before?.total ?? 0)
        ? pass
        : reject(`${total} bags, ${before?.total ?? 0} before; bags cannot be removed`),
    ),
  ];
}
