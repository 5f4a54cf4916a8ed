import { expect, test } from 'vitest';
import type { LedgerStore } from '#ledger';
import { placeIn, pointOf } from './points.ts';

const LAST = 23_456_789;
const idOf = (seq: number): string => `${seq}`.padEnd(64, 'a');
const row = (seq: number) => ({ trajectory_id: 't', seq, id: idOf(seq) });

/** A trajectory that is longer than the shortest id, so that a number could be either. */
const long = {
  head: async () => row(LAST),
  entries: async (_: string, { from = 0 } = {}) => (from <= LAST ? [row(from)] : []),
  find: async (prefix: string) => (prefix === '99999999' || prefix === '00000012' ? [{ ...row(7), id: prefix }] : []),
} as unknown as LedgerStore;

test('eight or more digits are a seq if the trajectory is so long, else an id', async () => {
  expect(await placeIn(long, 't', '0000007')).toMatchObject({ seq: 7 });
  expect(await placeIn(long, 't', '12345678')).toMatchObject({ seq: 12_345_678 });
  expect(await placeIn(long, 't', `${LAST}`)).toMatchObject({ seq: LAST });
  expect(await placeIn(long, 't', '99999999')).toMatchObject({ id: '99999999' });
  expect(await placeIn(long, 't', '00000012')).toMatchObject({ id: '00000012' });
  await expect(placeIn(long, 't', `${LAST + 1}`)).rejects.toMatchObject({ code: 'not_found' });
});

test('a trajectory named like a point takes precedence', async () => {
  const odd = {
    ...long,
    head: async (name: string) => (name === 't@3' || name === 't' ? row(name.length) : undefined),
  };
  expect(await pointOf(odd as unknown as LedgerStore, 't@3')).toMatchObject({ seq: 3 });
  expect(await pointOf(odd as unknown as LedgerStore, 't@4')).toMatchObject({ seq: 4, id: idOf(4) });
});
