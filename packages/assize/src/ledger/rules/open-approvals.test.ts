import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import type { PendingPayload } from '../entry/entry.ts';
import { Chain } from './chain.ts';
import { OpenApprovals } from './open-approvals.ts';

function pending(
  freezes: 'world' | readonly string[],
  effect?: string,
  expires?: string,
): PendingPayload {
  const proposal = { action: { name: 'act', args: {} }, delta: { effects: [{ id: effect }] } };
  const reason = effect === undefined ? 'irreversible' : 'in_doubt';
  return { kind: 'pending_approval', reason, freezes, proposal, expires } as never;
}

test('the first state freeze and an effect’s approval are found while open', () => {
  const open = new OpenApprovals();
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

test('expired approvals are found once expired, never after resolution', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({ expires: fc.option(fc.constantFrom('1', '2', '3', '4')), gone: fc.nat(20) }),
        {
          maxLength: 20,
        },
      ),
      fc.array(fc.constantFrom('0', '1', '2', '3', '4', '5'), { minLength: 1 }),
      (added, times) => {
        const open = new OpenApprovals();
        const dueAt = (at: string) =>
          [...open]
            .filter(([, { expires }]) => expires !== undefined && at >= expires)
            .sort(([, one], [, other]) => one.expires!.localeCompare(other.expires!));
        const most = 1 + (added.length % 3);
        for (const [n, { expires, gone }] of added.entries()) {
          open.set(`${n}`, pending([], undefined, expires ?? undefined));
          open.delete(`${gone}`);
          const at = times[n % times.length] as string;
          expect(open.dueAt(at, most)).toEqual(dueAt(at).slice(0, most));
        }
        for (let [due] = dueAt('3'); due !== undefined; [due] = dueAt('3')) {
          expect(open.dueAt('3', 1)).toEqual([due]);
          open.delete(due[0]);
        }
        expect(open.dueAt('3', 9)).toEqual([]);
        open.clear();
        expect(open.dueAt('5', 9)).toEqual([]);
      },
    ),
  );
});

test('open approvals are counted by the writ of their proposal', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom('w', 'v'), fc.boolean(), fc.nat(20)), { maxLength: 20 }),
      (added) => {
        const open = new OpenApprovals();
        for (const [n, [writ_id, isAboutEffect, gone]] of added.entries()) {
          const about = pending([], isAboutEffect ? 'e' : undefined);
          open.set(`${n}`, { ...about, proposal: { ...about.proposal, writ_id } });
          open.delete(`${gone}`);
          const waiting = [...open.values()].filter(({ reason }) => reason !== 'in_doubt');
          expect([...open.countsByWrit]).toEqual(
            expect.arrayContaining(
              [...Map.groupBy(waiting, (one) => one.proposal.writ_id)].map(([id, { length }]) => [
                id,
                length,
              ]),
            ),
          );
          expect([...open.countsByWrit.values()].reduce((sum, count) => sum + count, 0)).toBe(
            waiting.length,
          );
        }
        open.clear();
        expect(open.countsByWrit.size).toBe(0);
      },
    ),
  );
});

test('the successor of another approval is found while it is open', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ resolves: fc.option(fc.nat(9)), gone: fc.nat(20) }), { maxLength: 20 }),
      (added) => {
        const open = new OpenApprovals();
        const places = new Set<number>();
        for (const [n, { resolves, gone }] of added.entries()) {
          // No two approvals share a place.
          const place = resolves === null || places.has(resolves) ? undefined : resolves;
          if (place !== undefined) places.add(place);
          open.set(`${n}`, {
            ...pending([]),
            ...(place !== undefined && { resolves: `${place}` }),
          });
          open.delete(`${gone}`);
          for (let id = 0; id < 10; id++)
            expect(open.inPlaceOf(`${id}`)).toEqual(
              [...open].find(([, { resolves }]) => resolves === `${id}`),
            );
        }
        open.clear();
        expect(open.inPlaceOf('0')).toBe(undefined);
      },
    ),
  );
});

test('a follower receives the open approvals, and additions and removals', () => {
  const open = new OpenApprovals().set('a', pending([])).set('b', pending([]));
  const told: string[] = [];
  open.follow({ added: (id) => told.push(`+${id}`), removed: (id) => told.push(`-${id}`) });
  open.set('c', pending([]));
  for (const id of ['a', 'a', 'none']) open.delete(id);
  open.clear();
  expect(told).toEqual(['+a', '+b', '+c', '-a', '-b', '-c']);
});

test('no entry has a chain go through all that is open', () => {
  const chain = new Chain('t');
  const { open } = chain;
  for (let n = 0; n < 10; n++) open.set(`${n}`, pending([], `e${n}`));
  const looks = (['entries', 'values', 'keys', 'forEach', Symbol.iterator] as const).map((by) =>
    vi.spyOn(open, by),
  );
  expect(chain.frozenBy()).toBe(undefined);
  expect(open.waitingFor('e9')?.[0]).toBe('9');
  expect(open.dueAt('9', 9)).toEqual([]);
  for (const look of looks) expect(look).not.toHaveBeenCalled();
});
