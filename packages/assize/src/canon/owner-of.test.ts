import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ownerOf } from './owner-of.ts';

const ids = fc.uniqueArray(fc.uuid(), { minLength: 1, maxLength: 10 });
const members = (names: readonly string[]) => names.map((id) => ({ id }));

test('all servers find the same owner, in any order of the members', () => {
  fc.assert(
    fc.property(ids, fc.string(), (names, trajectory) => {
      const owner = ownerOf(trajectory, members(names));
      expect(names).toContain(owner?.id);
      expect(ownerOf(trajectory, members(names.toReversed()))).toEqual(owner);
    }),
  );
});

test('a member that leaves moves its own trajectories only', () => {
  fc.assert(
    fc.property(ids, fc.array(fc.string()), (names, trajectories) => {
      const [left, ...rest] = names;
      for (const trajectory of trajectories) {
        const before = ownerOf(trajectory, members(names))?.id;
        if (before !== left) expect(ownerOf(trajectory, members(rest))?.id).toBe(before);
      }
    }),
  );
});

test('each member owns its share of the trajectories', () => {
  const counts = new Map<string, number>();
  for (let n = 0; n < 4_000; n++) {
    const { id } = ownerOf(`case-${n}`, members(['a', 'b', 'c', 'd']))!;
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  for (const id of ['a', 'b', 'c', 'd'])
    expect(Math.abs(counts.get(id)! - 1_000)).toBeLessThan(150);
});

test('without members there is no owner', () => {
  expect(ownerOf('t', [])).toBeUndefined();
});
