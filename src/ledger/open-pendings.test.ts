import { expect, test, vi } from 'vitest';
import { Chain } from './chain.ts';
import type { PendingPayload } from './entry.ts';
import { OpenPendings } from './open-pendings.ts';

function pending(freezes: 'world' | readonly string[], effect?: string): PendingPayload {
  const proposal = { action: { name: 'act', args: {} }, delta: { effects: [{ id: effect }] } };
  const reason = effect === undefined ? 'irreversible' : 'in_doubt';
  return { kind: 'pending_approval', reason, freezes, proposal } as never;
}

test('the first that freezes the world, and the one about an effect, are there as long as they are open', () => {
  const open = new OpenPendings();
  expect([open.freezing, open.waitingFor('e')]).toEqual([undefined, undefined]);
  const about = pending([], 'e');
  open.set('a', pending([])).set('b', pending('world')).set('c', pending('world')).set('d', about);
  expect(open.freezing).toBe('b');
  expect(open.waitingFor('e')).toEqual(['d', about]);
  expect(open.delete('b')).toBe(true);
  expect(open.delete('b')).toBe(false);
  expect(open.freezing).toBe('c');
  open.delete('c');
  open.delete('d');
  expect([open.freezing, open.waitingFor('e'), open.size]).toEqual([undefined, undefined, 1]);
  open.set('f', pending('world', 'e')).clear();
  expect([open.freezing, open.waitingFor('e'), open.size]).toEqual([undefined, undefined, 0]);
});

test('no entry has a chain go through all that is open', () => {
  const chain = new Chain('t');
  const { open } = chain;
  for (let n = 0; n < 10; n++) open.set(`${n}`, pending([], `e${n}`));
  const looks = (['entries', 'values', 'keys', 'forEach', Symbol.iterator] as const).map((by) => vi.spyOn(open, by));
  expect(chain.frozenBy()).toBe(undefined);
  expect(open.waitingFor('e9')?.[0]).toBe('9');
  for (const look of looks) expect(look).not.toHaveBeenCalled();
});
