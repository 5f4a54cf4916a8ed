import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RecentCommits } from './recent-commits.ts';

const WHO = [{}, {}, {}, {}] as const;
const step = fc.oneof(
  { weight: 6, arbitrary: fc.constant('add' as const) },
  { weight: 3, arbitrary: fc.record({ follow: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ unfollow: fc.nat(3) }) },
);

test('each follower sees new commits; storage is at most twice one’s backlog', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120, size: 'max' }), (steps) => {
      const log = new RecentCommits();
      const model = new Map<object, string[]>();
      let n = 0;
      for (const each of steps) {
        if (each === 'add') {
          const id = `${n++}`;
          log.add({ id, paths: [[id]] });
          for (const seen of model.values()) seen.push(id);
        } else if ('follow' in each) {
          log.follow(WHO[each.follow]!);
          model.set(WHO[each.follow]!, []);
        } else {
          log.unfollow(WHO[each.unfollow]!);
          model.delete(WHO[each.unfollow]!);
        }
        for (const who of WHO)
          expect([...log.since(who)].map(({ id }) => id)).toEqual(model.get(who) ?? []);
        expect(log.followers).toBe(model.size);
        const longest = Math.max(0, ...[...model.values()].map(({ length }) => length));
        expect(log.size).toBeLessThanOrEqual(2 * longest);
      }
    }),
  );
});
