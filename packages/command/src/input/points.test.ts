import type { LedgerStore } from 'assize/internal/ledger';
import { expect, test } from 'vitest';
import { findEntry } from '../store/entries.ts';
import { entryNamed, placeIn, pointOf } from './points.ts';

const LAST = 23_456_789;
const idOf = (seq: number): string => `${seq}`.padEnd(64, 'a');
const row = (seq: number) => ({ trajectory_id: 't', seq, id: idOf(seq) });

/** A trajectory that is longer than the shortest id, so that a number could be either. */
const long = {
  head: async () => row(LAST),
  entries: async (_: string, { from = 0 } = {}) => (from <= LAST ? [row(from)] : []),
  find: async (prefix: string) =>
    prefix === '99999999' || prefix === '00000012' ? [{ ...row(7), id: prefix }] : [],
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
  expect(await pointOf(odd as unknown as LedgerStore, 't@4')).toMatchObject({
    seq: 4,
    id: idOf(4),
  });
});

test('an entry is named by its id or its place, and not by a trajectory', async () => {
  expect(await entryNamed(long, 't@4')).toMatchObject({ seq: 4 });
  expect(await entryNamed(long, '99999999')).toMatchObject({ seq: 7 });
  await expect(entryNamed(long, 't')).rejects.toMatchObject({ code: 'usage' });
});

test('an ambiguous prefix is refused with the digits that differ', async () => {
  const ids = ['0123456789abcdef1'.padEnd(64, '0'), '0123456789abcdef2'.padEnd(64, '0')];
  const twins = {
    find: async () => ids.map((id) => ({ ...row(1), id })),
  } as unknown as LedgerStore;
  await expect(findEntry(twins, '01234567')).rejects.toMatchObject({
    code: 'ambiguous',
    message:
      'More than one entry starts with 01234567: 0123456789abcdef1 and 0123456789abcdef2. Pass more digits.',
    evidence: { ids },
  });
});
