import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { canonicalize } from '#canon';
import { adjudicate, defineDomain, type Pattern, pass, World } from '#kernel';
import {
  ANY,
  changeOutside,
  compileScope,
  contains,
  overlaps,
  scopeAt,
} from '../../packages/assize/src/kernel/domain/footprint.ts';
import { PatternIndex } from '../../packages/assize/src/kernel/domain/pattern-index.ts';
import { FootprintFault } from '../../packages/assize/src/kernel/errors.ts';
import { cases } from '../support/cases.ts';
import {
  type Container,
  clone,
  isContainer,
  jsonState,
  setMember,
  type Value,
} from '../support/models/json.ts';
import { type Mutation, program, runOnDraft, runOnModel } from '../support/models/mutations.ts';
import { naiveDiff } from '../support/models/naive-patch.ts';
import { ANYONE } from '../support/models/permissive-authority.ts';

// Few keys, so that patterns and paths meet often.
const key = fc.constantFrom('a', 'b', 'c', '*', '0');
const pattern: fc.Arbitrary<Pattern> = fc
  .tuple(fc.array(fc.oneof(key, fc.constant(ANY)), { maxLength: 4 }), fc.boolean())
  .map(([segments, append]) => ({ segments, append: append && segments.length > 0 }));
const patterns = fc.array(pattern, { maxLength: 4 });
const path = fc.array(key, { maxLength: 5 });

/** One of all the paths that a pattern stands for: any key for each star, and any tail. */
const ALL_PATHS: string[][] = [[]];
for (let depth = 0; depth < 5; depth++) {
  const longest = ALL_PATHS.filter(({ length }) => length === depth);
  for (const begin of longest) for (const name of ['a', 'b', 'q']) ALL_PATHS.push([...begin, name]);
}

function isPrefix(begin: Pattern, of: readonly string[]): boolean {
  return (
    begin.segments.length <= of.length &&
    begin.segments.every((segment, i) => segment === ANY || segment === of[i])
  );
}

describe('bound scopes against a search through the patterns', () => {
  test('walking down a scope finds just the patterns that lie above or below', () => {
    fc.assert(
      fc.property(patterns, path, (footprint, keys) => {
        let scope: ReturnType<typeof scopeAt> = compileScope(footprint);
        for (const name of keys) scope = scope && scopeAt(scope, name);
        const covered = footprint.some((item) => !item.append && isPrefix(item, keys));
        const below = footprint.filter(
          (item) =>
            item.segments.length >= keys.length &&
            keys.every((name, i) => [ANY, name].includes(item.segments[i] as never)),
        );
        expect(scope?.all ?? false).toBe(covered);
        // Nothing lies under an append-only list. A walk may end at the list, but not continue.
        expect(scope !== undefined).toBe(covered || keys.length === 0 || below.length > 0);
        if (scope !== undefined && !covered) {
          expect(scope.append).toBe(
            below.some((item) => item.append && item.segments.length === keys.length),
          );
        }
      }),
      { numRuns: cases(6_000) },
    );
  });

  test('permits the same changes', () => {
    const change = fc.record({
      op: fc.constantFrom('add' as const, 'replace' as const, 'remove' as const),
      appends: fc.boolean(),
      list: fc.boolean(),
    });
    fc.assert(
      fc.property(patterns, path, change, (footprint, keys, { op, appends, list }) => {
        const expected = footprint.some((item) => {
          if (!item.append) return isPrefix(item, keys);
          if (op !== 'add' || !isPrefix(item, keys)) return false;
          const deeper = keys.length - item.segments.length;
          return (deeper === 1 && appends) || (deeper === 0 && list);
        });
        const made = { op, keys, parent: keys.slice(0, -1), value: list ? [] : 0, appends };
        expect(changeOutside(footprint, [made])).toBe(expected ? undefined : made);
      }),
      { numRuns: cases(6_000) },
    );
  });

  test('overlaps: some path lies under both', () => {
    fc.assert(
      fc.property(pattern, pattern, (left, right) => {
        const named = (item: Pattern): Pattern => ({
          ...item,
          segments: item.segments.map((segment) =>
            segment === 'c' || segment === '*' || segment === '0' ? 'b' : segment,
          ),
        });
        const [a, b] = [named(left), named(right)];
        expect(overlaps(a, b)).toBe(
          ALL_PATHS.some((keys) => isPrefix(a, keys) && isPrefix(b, keys)),
        );
      }),
      { numRuns: cases(2_000) },
    );
  });

  test('contains: every path under the inner pattern is under an outer one', () => {
    fc.assert(
      fc.property(patterns, pattern, (outer, inner) => {
        if (!contains(outer, inner)) return;
        for (const keys of [
          ...ALL_PATHS,
          ...ALL_PATHS.map((keys) => keys.map((name) => (name === 'q' ? '*' : name))),
        ]) {
          if (!isPrefix(inner, keys)) continue;
          expect(outer.some((item) => isPrefix(item, keys))).toBe(true);
          if (!inner.append)
            expect(outer.some((item) => !item.append && isPrefix(item, keys))).toBe(true);
        }
      }),
      { numRuns: cases(1_000) },
    );
    // And one outer pattern that covers all of the inner one is never missed.
    fc.assert(
      fc.property(
        pattern,
        fc.array(fc.oneof(key, fc.constant(ANY)), { maxLength: 2 }),
        (outer, tail) => {
          const segments = outer.segments.map((segment) => (segment === ANY ? 'a' : segment));
          const inner = outer.append
            ? { segments, append: true }
            : { segments: [...segments, ...tail], append: false };
          expect(contains([outer], inner)).toBe(true);
        },
      ),
      { numRuns: cases(1_000) },
    );
  });

  test('PatternIndex.match: pattern or path is the prefix, after any operations', () => {
    const step = fc.record({ add: fc.boolean(), pattern, value: fc.nat(9) });
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 20 }),
        fc.array(path, { maxLength: 4 }),
        (steps, paths) => {
          const index = new PatternIndex<number>();
          const held: { pattern: Pattern; value: number }[] = [];
          for (const { add, pattern: item, value } of steps) {
            if (add) {
              index.add(item, value);
              held.push({ pattern: item, value });
              continue;
            }
            index.remove(item, value);
            const same = ({ segments }: Pattern): boolean =>
              segments.length === item.segments.length &&
              segments.every((segment, i) => segment === item.segments[i]);
            const at = held.findIndex((one) => one.value === value && same(one.pattern));
            if (at >= 0) held.splice(at, 1);
          }
          for (const keys of paths) {
            const found = new Set<number>();
            index.match(keys, (value) => found.add(value));
            const expected = held.filter((one) =>
              overlaps(one.pattern, { segments: keys, append: false }),
            );
            expect([...found].sort()).toEqual(
              [...new Set(expected.map(({ value }) => value))].sort(),
            );
          }
        },
      ),
      { numRuns: cases(2_000) },
    );
  });
});

const oddPattern: fc.Arbitrary<Pattern> = fc
  .tuple(
    fc.array(
      fc.oneof(
        fc.constantFrom('a', 'b', '__proto__', 'constructor', '0', '1', 'length', 'a/b'),
        fc.constant(ANY),
      ),
      {
        maxLength: 3,
      },
    ),
    fc.boolean(),
  )
  .map(([segments, append]) => ({ segments, append: append && segments.length > 0 }));

describe('a slice', () => {
  /** The part of a state under a footprint, by looking at the place of every value. */
  function part(
    value: Value,
    footprint: readonly Pattern[],
    keys: readonly string[],
  ): Value | undefined {
    if (footprint.some((item) => !item.append && isPrefix(item, keys))) return value;
    const goesOn = footprint.some(
      (item) =>
        // An append-only list is not part of the visible state.
        item.segments.length + (item.append ? -1 : 0) >= keys.length &&
        item.segments.length > keys.length &&
        keys.every((name, i) => [ANY, name].includes(item.segments[i] as never)),
    );
    if (!goesOn || !isContainer(value)) return undefined;
    if (Array.isArray(value)) {
      // A footprint that has all positions of a list shows its length. Another footprint shows its
      // own positions, and those before them.
      const isSeen = (name: string): boolean =>
        footprint.some(
          ({ segments, append }) =>
            segments.length > keys.length &&
            isPrefix({ segments: segments.slice(0, keys.length + 1), append }, [...keys, name]),
        );
      const seen = value.filter((_, i) =>
        value.some((_, later) => later >= i && isSeen(String(later))),
      );
      return seen.map((item, i) => part(item, footprint, [...keys, String(i)]) ?? null);
    }
    const object = {};
    for (const name of Object.keys(value)) {
      const inner = part(value[name] as Value, footprint, [...keys, name]);
      if (inner !== undefined) setMember(object, name, inner);
    }
    return object;
  }

  test('has exactly the paths under the footprint', () => {
    fc.assert(
      fc.property(jsonState, fc.array(oddPattern, { maxLength: 4 }), (state, footprint) => {
        const domain = domainOf(footprint);
        const slice = new World(domain, clone(state)).slice('worker', {});
        expect(canonicalize(slice)).toBe(canonicalize(part(state, footprint, []) ?? {}));
      }),
      { numRuns: cases(3_000) },
    );
  });

  test('is a copy that stays as it is', () => {
    const state = { a: { n: [1] } };
    const world = new World(domainOf([{ segments: ['a'], append: false }]), state);
    const slice = world.slice('worker', {}) as typeof state;
    slice.a.n.push(2);
    expect(state).toEqual({ a: { n: [1] } });
  });
});

function textOf({ segments, append }: Pattern): string {
  const escaped = segments.map((segment) =>
    segment === ANY ? '/*' : `/${segment.replaceAll('~', '~0').replaceAll('/', '~1')}`,
  );
  return escaped.join('') + (append ? '/-' : '');
}

function domainOf(
  writes: readonly Pattern[],
  apply: (state: any) => void = () => {},
  reads: readonly Pattern[] = [],
): ReturnType<typeof defineDomain<any, any>> {
  return defineDomain<any, any>({
    name: 'generated',
    version: '1',
    state: z.any(),
    processes: { work: { reads: reads.map(textOf), writes: writes.map(textOf) } },
    roles: { worker: { processes: ['work'] } },
    actions: { act: { process: 'work', args: z.null(), apply } },
    invariants: [],
  });
}

describe('an action', () => {
  const proposal = { action: 'act', role: { name: 'worker', params: {} }, args: null };
  const inputs = { at: '2026-03-23T09:00:00.000000Z', observations: [] };

  test('changes only paths that its footprint permits, or nothing', () => {
    fc.assert(
      fc.property(
        jsonState,
        fc.array(oddPattern, { minLength: 1, maxLength: 3 }),
        fc.array(oddPattern, { maxLength: 2 }),
        program,
        (state, writes, reads, statements: readonly Mutation[]) => {
          const domain = domainOf(
            writes,
            (draft) => runOnDraft(draft as Container, statements),
            reads,
          );
          const live = clone(state);
          const world = new World(domain, live);
          const ruling = adjudicate(world, proposal, ANYONE, inputs);
          if (ruling.verdict !== 'approved') {
            expect(ruling).toMatchObject({ verdict: 'rejected' });
            expect(canonicalize(world.state)).toBe(canonicalize(state));
            return;
          }
          ruling.keep();
          for (const operation of naiveDiff(state, clone(world.state) as Container)) {
            const keys = operation.path
              .split('/')
              .slice(1)
              .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
            const parent = keys
              .slice(0, -1)
              .reduce<unknown>((here, name) => (here as never)[name], world.state);
            const appends = operation.op === 'add' && Array.isArray(parent);
            const value = operation.op === 'remove' ? undefined : operation.value;
            const made = { op: operation.op, keys, parent: keys.slice(0, -1), value, appends };
            expect(changeOutside(writes, [made])).toBeUndefined();
            expect(mayChange(writes, made)).toBe(true);
          }
        },
      ),
      { numRuns: cases(3_000) },
    );
  });

  test('with a footprint of everything does exactly its statements', () => {
    fc.assert(
      fc.property(jsonState, program, (state, statements) => {
        const expected = clone(state);
        runOnModel(expected, statements);
        fc.pre(canonicalize(expected, { bytesMax: 2 ** 30 }).length < 50_000);
        const domain = domainOf([{ segments: [], append: false }], (draft) =>
          runOnDraft(draft, statements),
        );
        const world = new World(domain, clone(state));
        const ruling = adjudicate(world, proposal, ANYONE, inputs);
        expect(ruling.verdict).toBe('approved');
        if (ruling.verdict === 'approved') ruling.keep();
        expect(canonicalize(world.state)).toBe(canonicalize(expected));
      }),
      { numRuns: cases(500) },
    );
  });

  test('cannot tell apart states equal on its footprint (other reads are faults)', () => {
    fc.assert(
      fc.property(
        jsonState,
        jsonState,
        fc.array(oddPattern, { maxLength: 3 }),
        program,
        (one, other, reads, statements) => {
          fc.pre(!reads.some(({ append, segments }) => append || segments.length === 0));
          const mixed = graft(one, other, compileScope(reads));
          fc.pre(mixed !== undefined);
          const outcome = (state: Value): unknown => {
            let seen: unknown = 'nothing';
            const domain = domainOf(
              [],
              (draft) => {
                try {
                  runOnDraft(draft, statements);
                } catch (error) {
                  seen = error instanceof FootprintFault ? error.pointer : String(error);
                  throw error;
                }
              },
              reads,
            );
            const { verdict, ...rest } = adjudicate(
              new World(domain, clone(state) as Container),
              proposal,
              ANYONE,
              inputs,
            );
            return [verdict, (rest as { reason?: string }).reason, seen];
          };
          expect(outcome(mixed as Value)).toEqual(outcome(one));
        },
      ),
      { numRuns: cases(1_000) },
    );
  });
});

/**
 * The same check, by inspecting each added or removed value. An object above a footprint is always
 * new, and leads to the footprint.
 */
function mayChange(
  writes: readonly Pattern[],
  {
    op,
    keys,
    value,
    appends,
  }: { op: string; keys: readonly string[]; value: Value | undefined; appends: boolean },
): boolean {
  const isIn = writes.some((pattern) => {
    if (!isPrefix(pattern, keys)) return false;
    const below = keys.length - pattern.segments.length;
    if (!pattern.append) return true;
    return op === 'add' && ((below === 1 && appends) || (below === 0 && Array.isArray(value)));
  });
  if (isIn) return true;
  if (op !== 'add' || appends || !isContainer(value) || Array.isArray(value)) return false;
  const leads = writes.some(({ segments }) =>
    keys.every((key, i) => segments[i] === ANY || segments[i] === key),
  );
  const members = Object.entries(value) as [string, Value][];
  return (
    leads &&
    members.every(([key, below]) =>
      mayChange(writes, { op, keys: [...keys, key], value: below, appends }),
    )
  );
}

/** The first state with everything that its slice does not show taken from the second. */
function graft(
  one: Value,
  other: Value,
  scope: ReturnType<typeof compileScope>,
): Value | undefined {
  if (scope.all) return one;
  if (!isContainer(one)) return one;
  if (Array.isArray(one)) return graftList(one, Array.isArray(other) ? other : [], scope);
  const mixed = {};
  const source = isContainer(other) && !Array.isArray(other) ? other : {};
  for (const name of Object.keys(source)) {
    if (scopeAt(scope, name) === undefined) setMember(mixed, name, source[name]);
  }
  for (const name of Object.keys(one)) {
    const below = scopeAt(scope, name);
    if (below !== undefined)
      setMember(mixed, name, graft(one[name] as Value, (source as never)[name] ?? null, below));
  }
  return mixed;
}

/**
 * If only some positions of a list are visible, its length comes from the second state too, where
 * those positions allow it.
 */
function graftList(
  one: Value[],
  other: Value[],
  scope: ReturnType<typeof compileScope>,
): Value | undefined {
  if (scope.any !== undefined) return one.map((item, i) => below(item, other[i], String(i)));
  const named = [...scope.keys.keys()].filter((name) => /^[01]$/.test(name)).map(Number);
  const least = Math.max(0, ...named.filter((i) => i < one.length).map((i) => i + 1));
  const most = Math.min(Number.POSITIVE_INFINITY, ...named.filter((i) => i >= one.length));
  return Array.from({ length: Math.max(least, Math.min(most, other.length)) }, (_, i) =>
    below(one[i] ?? null, other[i], String(i)),
  );

  function below(mine: Value, others: Value | undefined, key: string): Value {
    const inside = scopeAt(scope, key);
    return inside === undefined ? (others ?? null) : (graft(mine, others ?? null, inside) as Value);
  }
}

test('pass is an immutable constant', () => {
  expect(() => Object.assign(pass, { result: 'reject' })).toThrow(TypeError);
});
