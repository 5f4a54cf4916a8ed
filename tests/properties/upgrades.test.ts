import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  adjudicateUpgrade,
  type Domain,
  defineDomain,
  firstFinding,
  pass,
  reject,
  World,
} from '#kernel';
import { ANYONE } from '../support/models/permissive-authority.ts';

// An upgrade commits exactly if every rule of the new version passes on the migrated state.

const KEYS = ['a', 'b', 'c'] as const;

/** A version with limits for some members, in any order. */
function version(limits: readonly (readonly [string, number])[]): Domain {
  return defineDomain<any, any>({
    name: 'shop',
    version: JSON.stringify(limits),
    state: z.object({ n: z.record(z.string(), z.number()) }),
    initial: { n: {} },
    processes: { p: { writes: ['/n'] } },
    roles: { r: { processes: ['p'] } },
    actions: {},
    counselors: { md: () => true },
    invariants: ({ invariant }) =>
      limits.map(([key, most], i) =>
        invariant(
          `RULE_${i}`,
          [`/n/${key}`],
          ({ n }: any) => ((n[key] ?? 0) <= most ? pass : reject('too much')),
          {
            overridable: true,
          },
        ),
      ),
  }) as Domain;
}

const state = fc.dictionary(fc.constantFrom(...KEYS), fc.integer({ min: 0, max: 4 }));
const limits = fc.array(fc.tuple(fc.constantFrom(...KEYS), fc.integer({ min: 0, max: 4 })), {
  maxLength: 4,
});

test('an upgrade commits if every rule of the new version passes', () => {
  fc.assert(
    fc.property(
      state,
      state,
      limits,
      limits,
      fc.boolean(),
      (before, after, old, next, isOverridden) => {
        const world = new World(version(old), { n: { ...before } } as never);
        const to = version(next);
        const proposal = {
          args: {
            from: world.domain.hash,
            to: { name: to.name, version: to.version, hash: to.hash },
            reason: 'r',
          },
          next: to,
          migrate: (here: any) => {
            here.n = { ...after };
          },
          counselor: isOverridden ? 'dr-who' : undefined,
          requesters: ['agent'],
        };
        const judged = adjudicateUpgrade(world, proposal, ANYONE);
        const finding = firstFinding(to, { n: { ...after } } as never);
        if (judged.verdict === 'rejected') {
          expect(finding?.rule.id).toBe(judged.invariantId);
          expect(isOverridden).toBe(false);
          expect(world.state).toEqual({ n: before });
          return;
        }
        expect(finding === undefined || isOverridden).toBe(true);
        expect(judged.as).toBe(finding === undefined ? undefined : 'md');
        expect(judged.vector.map(({ result }) => result === 'pass')).toEqual(
          next.map(([key, most]) => (after[key] ?? 0) <= most),
        );
        expect(judged.world.state).toEqual({ n: after });
        judged.undo();
        expect(world.state).toEqual({ n: before });
      },
    ),
  );
});
