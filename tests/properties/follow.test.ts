import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parsePointer } from '#canon';
import { World, detailOf as wordsOf } from '#kernel';
import { applyPatches, fresh } from '#ledger';
import { cases } from '../support/cases.ts';
import {
  detailOf,
  generatedDomain,
  naiveAll,
  type ShopState,
} from '../support/models/generated-domain.ts';
import { clone } from '../support/models/json.ts';
import { naiveDiff } from '../support/models/naive-patch.ts';
import { rules, shopState } from '../support/models/schedule.ts';

// A replay continues with any committed state. Its knowledge of the rules must then match a check
// of the whole state.

test('a state that follows changes knows failures as if all rules were checked', () =>
  fc.assert(
    fc.property(
      rules,
      fc.array(shopState, { minLength: 2, maxLength: 6 }),
      (specs, [start, ...states]) => {
        const { domain } = generatedDomain(specs);
        const fold = fresh(clone(start as ShopState) as never);
        const world = new World(domain, fold.state);
        for (const next of states) {
          const patches = naiveDiff(fold.state as never, clone(next) as never);
          const failedBefore = new Set(
            naiveAll(specs, fold.state as never).map(({ id, keys }) => `${id} ${keys}`),
          );
          applyPatches(fold, patches as never);
          const judged = world.follow(
            fold.state,
            patches.map(({ path }) => ({ keys: parsePointer(path) })),
          );
          const naive = naiveAll(specs, next);
          const expected = naive.map(
            (finding) => `${finding.id} ${finding.keys} ${detailOf(finding, specs, finding.id)}`,
          );
          const found = world.failing.map(
            (finding) => `${finding.rule.id} ${finding.keys} ${wordsOf(finding)}`,
          );
          expect(found.sort()).toEqual(expected.sort());
          // All that fails now and did not before is among what was judged.
          const seen = new Set(judged.map(({ rule, keys }) => `${rule.id} ${keys}`));
          for (const { id, keys } of naive)
            if (!failedBefore.has(`${id} ${keys}`)) expect(seen).toContain(`${id} ${keys}`);
        }
      },
    ),
    { numRuns: cases(1_000) },
  ));
