/** Write skew that is found by running a domain is there (seed 000, Definition A.11). */

import { expect, test } from 'vitest';
import { z } from 'zod';
import { budget } from '#domains/budget';
import { udt } from '#domains/udt';
import { type Domain, defineDomain, detectionVector, pass, reject } from '#kernel';
import { airline } from '../../examples/domains/airline/index.ts';
import { passengers, smallWorld } from '../../examples/domains/airline/testing/small-world.ts';
import { findWriteSkew, type SkewWitness } from '../../labs/ontology/index.ts';
import { mergeUnchecked } from '../../labs/ontology/merge-unchecked.ts';
import { errorOf } from '../support/process/errors.ts';

/**
 * Checks the claim of a witness without the search: each change alone passes every rule, both
 * together break the rule.
 */
function expectSkew(
  domain: Domain<any, any, any>,
  { state, first, second, invariantId }: SkewWitness,
): void {
  const said = (of: unknown): Record<string, string> =>
    Object.fromEntries(
      detectionVector(domain as Domain, of as never).map(({ invariant_id, result }) => [
        invariant_id,
        result,
      ]),
    );
  for (const alone of [first, second])
    expect(new Set(Object.values(said(mergeUnchecked(state, alone.changes, []))))).toEqual(
      new Set(['pass']),
    );
  expect(said(mergeUnchecked(state, first.changes, second.changes))[invariantId]).not.toBe('pass');
}

test('the introduction’s own: two agents, one budget', () => {
  const { witnesses } = findWriteSkew(budget);
  expect(witnesses.map(({ invariantId }) => invariantId)).toEqual(['BUDGET_CAP']);
  const [{ first, second }] = witnesses as [SkewWitness];
  expect(first.role.params).not.toEqual(second.role.params);
  for (const witness of witnesses) expectSkew(budget, witness);
});

test('David’s: a positive is recorded during a claim in the earlier tier', () => {
  const { witnesses } = findWriteSkew(udt);
  const david = witnesses.find(
    ({ invariantId }) => invariantId === 'CLAIM_TIER_CURRENT',
  ) as SkewWitness;
  expect([david.first.role.name, david.second.role.name].sort()).toEqual(['Billing', 'Clinical']);
  expect([david.first.action, david.second.action].sort()).toEqual([
    'record_result',
    'submit_claim',
  ]);
  for (const witness of witnesses) expectSkew(udt, witness);
});

test('the airline: rare proposals are given, and two changes of bags disagree', () => {
  const role = { name: 'agent', params: {} };
  const bags = (total: number) => ({
    action: 'update_reservation_baggages',
    role,
    args: { reservation_id: 'R', total_baggages: total, nonfree_baggages: 0, payment_id: 'card' },
  });
  const world = smallWorld((state) => {
    state.reservations['R']!.passengers = passengers(2);
    state.users['ann']!.payment_methods['card'] = {
      id: 'card',
      source: 'credit_card',
      brand: 'visa',
      last_four: '1234',
    };
    state.users['ann']!.membership = 'gold';
  });
  const { witnesses, bound } = findWriteSkew(airline, {
    states: [world],
    proposals: [bags(1), bags(2)],
    tries: 1,
    depth: 0,
  });
  expect(bound.states).toBe(1);
  expect(witnesses.map(({ invariantId }) => invariantId)).toEqual(['BAGS_ON_RECORD']);
  for (const witness of witnesses) expectSkew(airline, witness);
});

const shared = defineDomain({
  name: 'shared',
  version: '1',
  state: z.object({ boxes: z.record(z.string(), z.array(z.number())) }),
  initial: { boxes: { a: [], b: [] } },
  processes: { filling: { writes: ['/boxes/{box}'] } },
  roles: { filler: { params: ['box'], processes: ['filling'] } },
  actions: {
    fill: {
      process: 'filling',
      args: z.object({ by: z.literal([1, 2]) }),
      apply: (state, { by }, { role }) => {
        state.boxes[role.box]?.push(by);
      },
    },
  },
  invariants: ({ count }) => [
    count('ONE', '/boxes/*/*', {}, (n) => (n <= 1 ? pass : reject(`${n} of them`))),
  ],
});

test('a pair of two workers is shown rather than two proposals of one', () => {
  const fill = (box: string, by: number) => ({
    action: 'fill',
    role: { name: 'filler', params: { box } },
    args: { by },
  });
  const search = (...proposals: ReturnType<typeof fill>[]) =>
    findWriteSkew(shared, { proposals, tries: 1, depth: 0, states: [{ boxes: { a: [], b: [] } }] })
      .witnesses;
  const [witness] = search(fill('a', 1), fill('a', 2), fill('b', 1)) as [SkewWitness];
  expect(new Set([witness.first.role.params['box'], witness.second.role.params['box']])).toEqual(
    new Set(['a', 'b']),
  );
  expectSkew(shared, witness);
});

const apart = defineDomain({
  name: 'apart',
  version: '1',
  state: z.object({ boxes: z.record(z.string(), z.number()) }),
  initial: { boxes: {} },
  processes: { filling: { writes: ['/boxes/{box}'] } },
  roles: { filler: { params: ['box'], processes: ['filling'] } },
  actions: {
    fill: {
      process: 'filling',
      args: z.object({ by: z.number().int().min(0).max(10) }),
      apply: (state, { by }, { role }) => {
        state.boxes[role.box] = by;
      },
    },
  },
  invariants: ({ each }) => [
    each('NOT_FULL', '/boxes/*', {}, (by) => (by <= 5 ? pass : reject(`${by} is too much`))),
  ],
});

/** Many texts that are not an arm. */
const SITES = Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`site ${i}`, `town ${i}`]));

/** Participants are put into arms. Each arm has room for so many. */
const trial = (room: number, sites: Record<string, string> = {}) =>
  defineDomain({
    name: 'trial',
    version: '1',
    state: z.object({
      capacity: z.record(z.string(), z.number().int().min(0)),
      allocations: z.record(z.string(), z.object({ to: z.string() })),
      sites: z.record(z.string(), z.string()),
    }),
    initial: { capacity: { treatment: room, control: room }, allocations: {}, sites },
    processes: { allocating: { writes: ['/allocations/{participant}'] } },
    roles: { randomiser: { params: ['participant'], processes: ['allocating'] } },
    actions: {
      allocate: {
        process: 'allocating',
        args: z.object({ arm: z.string() }),
        apply: (state, { arm }, { role }) => {
          state.allocations[role.participant] = { to: arm };
        },
      },
    },
    invariants: ({ count }) => [
      count(
        'ARM_CAPACITY',
        '/allocations/*',
        {
          per: ({ to }) => to,
          reads: ['/capacity'],
          with: (arm) => ({ room: `/capacity/${arm}` }),
        },
        (n, { room = 0 }, arm) =>
          n <= room ? pass : reject(`${n} in ${arm}, which has room for ${room}`),
      ),
    ],
  });

test('an argument is looked for among the keys of any collection', () => {
  const { witnesses } = findWriteSkew(trial(1, SITES), { depth: 1, nearby: 0 });
  expect(witnesses).toMatchObject([{ invariantId: 'ARM_CAPACITY', reached: true }]);
  for (const witness of witnesses) expectSkew(trial(1, SITES), witness);
});

test('a limit far away is brought near, and the witness says so', () => {
  expect(findWriteSkew(trial(40), { nearby: 0 })).toMatchObject({
    witnesses: [],
    bound: { nearby: 0 },
  });
  const { witnesses, bound } = findWriteSkew(trial(40));
  expect(witnesses).toMatchObject([{ invariantId: 'ARM_CAPACITY', reached: false }]);
  expect(bound.nearby).toBeGreaterThan(0);
  for (const witness of witnesses) expectSkew(trial(40), witness);
});

test('without a skew none is found, and the bound describes the search', () => {
  const { witnesses, bound } = findWriteSkew(apart, { depth: 2, width: 5, tries: 20 });
  expect(witnesses).toEqual([]);
  expect(bound).toMatchObject({
    seed: 1,
    depth: 2,
    width: 5,
    tries: 20,
    states: 11,
    proposals: 220,
  });
  expect(bound.pairs).toBeGreaterThan(100);
});

test('the same seed, the same search', () => {
  const options = { seed: 7, depth: 2, width: 4, tries: 20 };
  expect(findWriteSkew(udt, options)).toEqual(findWriteSkew(udt, options));
});

test('without a state to begin with it says so', () => {
  expect(errorOf(() => findWriteSkew(airline))).toMatchObject({
    code: 'bad_state',
    message: expect.stringContaining('Pass one'),
  });
  expect(errorOf(() => findWriteSkew(budget, { states: [{ cap: 'much' }] }))).toMatchObject({
    code: 'bad_state',
  });
});
