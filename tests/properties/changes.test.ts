import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalize } from '#canon';
import { plainPatches } from '#kernel';
import { applyPatches, type Folded, fresh, type Patch, share } from '#ledger';
import { EVERYTHING } from '../../packages/assize/src/kernel/domain/footprint.ts';
import { changesOf } from '../../packages/assize/src/kernel/state/changes.ts';
import { Draft } from '../../packages/assize/src/kernel/state/draft.ts';
import { cases } from '../support/cases.ts';
import { type Container, clone, deepFreeze, jsonState } from '../support/models/json.ts';
import { type Mutation, program, runOnDraft, runOnModel } from '../support/models/mutations.ts';
import { naiveDiff, rfc6902 } from '../support/models/naive-patch.ts';

/** Beyond this a program has met the limits of a value. Another test covers these. */
const TEXT_MAX = 100_000;

interface Run {
  readonly statements: readonly Mutation[];
  readonly kept: boolean;
}

const runs: fc.Arbitrary<Run[]> = fc.array(fc.record({ statements: program, kept: fc.boolean() }), {
  minLength: 1,
  maxLength: 4,
});

function change(draft: Draft, statements: readonly Mutation[]): void {
  draft.within(EVERYTHING, (state) => runOnDraft(state as Container, statements));
}

function resultOf(state: Container, statements: readonly Mutation[]): Container {
  const model = clone(state);
  runOnModel(model, statements);
  fc.pre(canonicalize(model, { bytesMax: 2 ** 30 }).length < TEXT_MAX);
  return model;
}

describe('the changes of a draft', () => {
  test('are the naive difference of the two states, after any operations', () => {
    fc.assert(
      fc.property(jsonState, program, (state, statements) => {
        const expected = resultOf(state, statements);
        const draft = new Draft(clone(state), undefined);
        change(draft, statements);
        expect(canonicalize(draft.state)).toBe(canonicalize(expected));
        expect(canonicalize(plainPatches(changesOf(draft)))).toBe(
          canonicalize(naiveDiff(state, expected)),
        );
      }),
      { numRuns: cases(6_000) },
    );
  });

  test('lead from the old state to the new one, by the fold and by RFC 6902', () => {
    fc.assert(
      fc.property(jsonState, program, (state, statements) => {
        const expected = canonicalize(resultOf(state, statements));
        const draft = new Draft(clone(state), undefined);
        change(draft, statements);
        const patches = clone(plainPatches(changesOf(draft)));
        const fold = fresh(clone(state));
        applyPatches(fold, clone(patches) as Patch[]);
        expect(canonicalize(fold.state)).toBe(expected);
        expect(canonicalize(rfc6902(state, patches as never))).toBe(expected);
      }),
      { numRuns: cases(3_000) },
    );
  });

  test('name the kind of change at each path', () => {
    fc.assert(
      fc.property(jsonState, program, (state, statements) => {
        const draft = new Draft(clone(state), undefined);
        resultOf(state, statements);
        change(draft, statements);
        for (const { op, keys, appends } of changesOf(draft)) {
          const parent = keys
            .slice(0, -1)
            .reduce<unknown>((here, key) => (here as never)[key], draft.state);
          expect(appends).toBe(op === 'add' && Array.isArray(parent));
        }
      }),
      { numRuns: cases(1_000) },
    );
  });
});

describe('undo', () => {
  test('restores the state, the same object, after any operations', () => {
    fc.assert(
      fc.property(jsonState, program, (state, statements) => {
        resultOf(state, statements);
        const live = clone(state);
        const draft = new Draft(live, undefined);
        change(draft, statements);
        draft.undo();
        expect(draft.state).toBe(live);
        expect(canonicalize(live)).toBe(canonicalize(state));
        expect(changesOf(draft)).toEqual([]);
      }),
      { numRuns: cases(3_000) },
    );
  });

  test('of a second draft for the approval mark keeps the changes of the first', () => {
    fc.assert(
      fc.property(jsonState, program, program, fc.boolean(), (state, statements, marks, shared) => {
        const middle = resultOf(state, statements);
        const end = resultOf(middle, marks);
        const draft = new Draft(
          shared ? deepFreeze(clone(state)) : clone(state),
          shared ? new WeakSet() : undefined,
        );
        change(draft, statements);
        const mark = new Draft(draft.state, draft.owned);
        change(mark, marks);
        expect(canonicalize(plainPatches(changesOf(mark)))).toBe(
          canonicalize(naiveDiff(middle, end)),
        );
        mark.undo();
        draft.exchangeRoot(mark.state);
        expect(canonicalize(draft.state)).toBe(canonicalize(middle));
        expect(canonicalize(plainPatches(changesOf(draft)))).toBe(
          canonicalize(naiveDiff(state, middle)),
        );
        draft.undo();
        expect(canonicalize(draft.state)).toBe(canonicalize(state));
      }),
      { numRuns: cases(2_000) },
    );
  });
});

describe('a state that is shared', () => {
  test('is never changed; its copy follows all kept and undone drafts', () => {
    fc.assert(
      fc.property(jsonState, runs, (start, sequence) => {
        const shared = deepFreeze(clone(start));
        const owned = new WeakSet<object>();
        let live: Container = shared;
        let state: Container = start;
        for (const { statements, kept } of sequence) {
          const expected = resultOf(state, statements);
          const draft = new Draft(live, owned);
          // Frozen all the way down: a write to it throws.
          change(draft, statements);
          expect(canonicalize(plainPatches(changesOf(draft)))).toBe(
            canonicalize(naiveDiff(state, expected)),
          );
          if (kept) state = expected;
          else draft.undo();
          live = draft.state as Container;
          expect(canonicalize(live)).toBe(canonicalize(state));
        }
        expect(canonicalize(shared)).toBe(canonicalize(start));
      }),
      { numRuns: cases(3_000) },
    );
  });

  test('serves two worlds that go on independently, live or folded', () => {
    fc.assert(
      fc.property(jsonState, runs, runs, (start, left, right) => {
        const origin: Folded = fresh(clone(start));
        const branch = share(origin);
        const worlds = [
          { fold: origin, model: clone(start) as Container, steps: left },
          { fold: branch, model: clone(start) as Container, steps: right },
        ];
        for (const world of worlds) {
          for (const { statements } of world.steps) {
            const next = resultOf(world.model, statements);
            applyPatches(world.fold, naiveDiff(world.model, next) as Patch[]);
            world.model = next;
          }
        }
        for (const { fold, model } of worlds)
          expect(canonicalize(fold.state)).toBe(canonicalize(model));
      }),
      { numRuns: cases(1_500) },
    );
  });
});

test('a live state and one folded from its changes look equal to domain code', () => {
  const seen = (state: Container): unknown => {
    const look = (value: unknown): unknown => {
      if (typeof value !== 'object' || value === null) return value;
      const names: string[] = [];
      for (const name in value) names.push(name);
      return {
        names,
        keys: Object.keys(value),
        members: Object.values(value).map(look),
        text: JSON.stringify(value),
      };
    };
    return new Draft(state, undefined).within(EVERYTHING, look);
  };
  fc.assert(
    fc.property(jsonState, program, program, (state, undone, kept) => {
      const expected = resultOf(state, kept);
      resultOf(state, undone);
      const live = clone(state);
      const first = new Draft(live, undefined);
      change(first, undone);
      first.undo();
      const second = new Draft(live, undefined);
      change(second, kept);
      const fold = fresh(clone(state));
      applyPatches(fold, clone(naiveDiff(state, expected)) as Patch[]);
      expect(seen(live)).toEqual(seen(fold.state as Container));
    }),
    { numRuns: cases(1_000) },
  );
});
