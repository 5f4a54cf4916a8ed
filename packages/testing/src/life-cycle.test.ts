import { defineDomain, escalate, pass, reject } from 'assize/internal/kernel';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { errorOf } from '../../../tests/support/process/errors.ts';
import { domainWithout, type LifeCycle, type LifeCycleProposal, walkLifeCycle } from './index.ts';

const AT = '2026-01-01T00:00:00.000000Z';

interface Tanks {
  readonly left: number;
  readonly right: number;
  readonly signed?: string;
}

/** Two tanks with a limit for both together. More than `free` needs a signature. */
const tanks = (limit: number, free: number) =>
  defineDomain({
    name: 'tanks',
    version: '1',
    state: z.object({ left: z.number(), right: z.number(), signed: z.string().optional() }),
    initial: { left: 0, right: 0 },
    processes: { filling: { writes: ['/left', '/right'] } },
    roles: { filler: { processes: ['filling'] } },
    actions: {
      left: {
        process: 'filling',
        args: z.object({ n: z.number() }),
        apply: (state, { n }) => {
          state.left += n;
        },
      },
      right: {
        process: 'filling',
        args: z.object({ n: z.number() }),
        apply: (state, { n }) => {
          if (state.left === 0) throw new Error('fill the left one first');
          state.right += n;
        },
      },
    },
    counselors: { guard: (principal) => principal.startsWith('guard:') },
    invariants: ({ invariant }) => [
      invariant('LIMIT', ['/left', '/right'], ({ left, right }) =>
        left + right <= limit ? pass : reject('too much'),
      ),
      invariant(
        'SIGNED',
        ['/left', '/signed'],
        ({ left, signed }) => (left <= free || signed !== undefined ? pass : escalate('ask')),
        {
          channel: 'guard',
          onApprove: (state, { counselor }) => {
            state.signed = counselor;
          },
        },
      ),
    ],
  });

/** The same rules again, in a function of its own. */
function next(
  state: Tanks,
  action: string,
  n: number,
  limit: number,
  free: number,
  guards: readonly string[],
) {
  if (action === 'right' && state.left === 0) return [];
  const after = { ...state, [action]: state[action as 'left' | 'right'] + n };
  if (after.left + after.right > limit) return [];
  if (after.left <= free || after.signed !== undefined) return [after];
  return guards.map((signed) => ({ ...after, signed }));
}

/** Every sequence of proposals, without a memory of the states that were seen. */
function* naive(state: Tanks, depth: number, steps: (state: Tanks) => Tanks[]): Generator<Tanks> {
  yield state;
  if (depth > 0) for (const after of steps(state)) yield* naive(after, depth - 1, steps);
}

const proposalsOf = (sizes: readonly number[]): LifeCycleProposal[] =>
  ['left', 'right'].flatMap((action) =>
    sizes.map((n) => ({ action, role: { name: 'filler', params: {} }, args: { n } })),
  );
const textOf = (state: Tanks): string => JSON.stringify([state.left, state.right, state.signed]);

const LIFE: LifeCycle<Tanks> = {
  domain: tanks(5, 3),
  initial: { left: 0, right: 0 },
  at: AT,
  depth: 3,
  proposals: () => proposalsOf([1, 2]),
  allowed: () => undefined,
  counselors: { guard: ['guard:ada'] },
};

test('the walk visits exactly the states of a naive walk', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 8 }),
      fc.integer({ min: 0, max: 8 }),
      fc.uniqueArray(fc.integer({ min: 1, max: 4 }), { maxLength: 3 }),
      fc.subarray(['guard:ada', 'guard:ben']),
      fc.integer({ min: 0, max: 4 }),
      (limit, free, sizes, guards, depth) => {
        const visited = new Set([textOf(LIFE.initial)]);
        const { states, complete, transitions } = walkLifeCycle({
          ...LIFE,
          ...{
            domain: tanks(limit, free),
            depth,
            proposals: () => proposalsOf(sizes),
            counselors: { guard: guards },
          },
          allowed: (_before, step, after, path) => {
            visited.add(textOf(after));
            expect([...path, step].length).toBeLessThanOrEqual(depth);
            return undefined;
          },
        });
        const steps = (state: Tanks): Tanks[] =>
          proposalsOf(sizes).flatMap(({ action, args }) =>
            next(state, action, (args as { n: number }).n, limit, free, guards),
          );
        expect([...visited].sort()).toEqual(
          [...new Set([...naive(LIFE.initial, depth, steps)].map(textOf))].sort(),
        );
        expect([states, complete]).toEqual([visited.size, true]);
        expect(transitions).toBeGreaterThanOrEqual(states - 1);
      },
    ),
    { numRuns: 150 },
  );
});

test('a forbidden step has one of the shortest ways to it', () => {
  const allowed: LifeCycle<Tanks>['allowed'] = (_before, _step, { left, right }) =>
    left + right > 3 ? 'more than three' : undefined;
  const { counterexample, complete } = walkLifeCycle({ ...LIFE, allowed });
  expect(counterexample).toMatchObject({
    why: 'more than three',
    path: [{ args: { n: 2 } }, { args: { n: 2 } }],
  });
  expect(complete).toBe(false);
  expect(walkLifeCycle({ ...LIFE, depth: 1, allowed }).counterexample).toBeUndefined();
});

test('the walk ends at the given number of states, and says so', () => {
  expect(walkLifeCycle({ ...LIFE, statesMax: 4 })).toMatchObject({ states: 4, complete: false });
  expect(walkLifeCycle({ ...LIFE, statesMax: 400 })).toMatchObject({ complete: true });
});

test('the counts name committed actions and the rules that stopped a proposal', () => {
  const { committed, stopped } = walkLifeCycle({ ...LIFE, counselors: {} });
  expect(Object.keys(committed).sort()).toEqual(['left', 'right']);
  expect(Object.keys(stopped).sort()).toEqual(['LIMIT', 'SIGNED']);
  const without = domainWithout(tanks(5, 3), 'SIGNED');
  expect(Object.keys(walkLifeCycle({ ...LIFE, domain: without }).stopped)).toEqual(['LIMIT']);
});

describe('bad input', () => {
  test.each([
    [
      'an unknown action',
      { proposals: () => [{ action: 'x', role: { name: 'filler', params: {} }, args: {} }] },
    ],
    ['an initial state that breaks a rule', { initial: { left: 9, right: 0 } }],
    ['an invalid depth', { depth: -1 }],
    ['no function allowed', { allowed: 'yes' }],
  ])('%s is an ArgumentError', (_, wrong) => {
    expect(errorOf(() => walkLifeCycle({ ...LIFE, ...(wrong as object) }))).toMatchObject({
      code: 'bad_argument',
    });
  });

  test('a rule that the domain does not have is an ArgumentError', () => {
    expect(errorOf(() => domainWithout(tanks(1, 1), 'NONE'))).toMatchObject({
      code: 'bad_argument',
    });
  });
});
