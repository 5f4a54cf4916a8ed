import { expect, test } from 'vitest';
import { skewOf } from '../../tests/support/write-skew.ts';
import { airline } from './index.ts';
import { smallWorld } from './testing/small-world.ts';

const AT = '2024-05-15T20:00:00.000000Z';

/** Talks with a passenger of `R` who wants so many bags in all, and pays for those that are not free. */
const agent = (wanted: number) => ({
  role: { name: 'agent', params: {} },
  decide: ({ reservations: { R }, users }: any) => {
    const free = users.ann.membership === 'regular' ? 1 : 2;
    const args = { total_baggages: wanted, nonfree_baggages: Math.max(0, wanted - free) };
    return R.total_baggages < wanted
      ? { action: 'update_reservation_baggages', args: { reservation_id: 'R', payment_id: 'card', ...args } }
      : undefined;
  },
});

test('two agents add bags to one reservation: each is right by what it saw, and together they take one away', () => {
  expect(skewOf(airline, smallWorld(), AT, [agent(4), agent(3)])).toEqual({
    alone: [[], []],
    withoutKernel: [['BAGS_NOT_REMOVED'], []],
    withKernel: [
      ['approved', 'BAGS_NOT_REMOVED'],
      ['approved', 'approved'],
    ],
    broken: [],
  });
});
