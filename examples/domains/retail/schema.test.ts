import { describe, expect, test } from 'vitest';
import { retailInitial, retailRecordsOf } from './initial.ts';
import { retailRecords, retailState } from './schema.ts';
import { hasRetail, readRetailRecords, retailWorld } from './testing/data.ts';
import { smallWorld } from './testing/small-world.ts';

describe.skipIf(!hasRetail)(
  'the benchmark’s records (tau-retail, absent without ASSIZE_DATA)',
  () => {
    test('every record fits its schema as it is', () => {
      const records = readRetailRecords();
      expect(retailRecords.parse(records)).toEqual(records);
    });

    test('the initial state fits, and a member that no schema names does not', () => {
      const world = retailWorld();
      expect(retailState.safeParse(world).success).toBe(true);
      const [[first] = []] = Object.values(world.orders).map((own) => Object.values(own));
      Object.assign(first ?? {}, { colour: 'red' });
      expect(retailState.safeParse(world).success).toBe(false);
    });

    test('orders under their users are the same orders', () => {
      const records = readRetailRecords();
      const again = retailRecordsOf(retailInitial(records));
      expect(again).toEqual(records);
      for (const [id, order] of Object.entries(records.orders))
        expect(again.orders[id]).toBe(order);
    });
  },
);

test('the small world fits', () => {
  expect(retailState.safeParse(smallWorld()).success).toBe(true);
});

test('an order of an unknown user is still stored under that user’s name', () => {
  const { users, products, orders } = retailRecordsOf(smallWorld());
  delete users['bob'];
  expect(retailInitial({ users, products, orders })).toMatchObject({
    orders: { bob: { B: { order_id: 'B' } } },
  });
});
