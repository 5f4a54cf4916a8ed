/**
 * An adversary that knows the shop tries calls that its policy forbids, with the tools as they are
 * and with tools that check nothing.
 */
import type { Domain } from 'assize/internal/kernel';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../tests/support/cases.ts';
import { retail } from './index.ts';
import type { RetailState } from './schema.ts';
import { type Attempt, attemptsOn, KINDS } from './testing/adversary.ts';
import { carelessRetail } from './testing/careless.ts';
import { hasRetail, retailWorld } from './testing/data.ts';
import { inWords, ruled, worldOver } from './testing/kernel.ts';
import { smallWorld } from './testing/small-world.ts';

const SEED = 20240515;
const careless = carelessRetail();

/** The answer to the adversary's call, after the preceding calls were allowed. */
function answer(domain: Domain, state: RetailState, { user, before, call }: Attempt): string {
  const world = worldOver(domain, concerning(state, user, call));
  for (const step of before) {
    const ruling = ruled(world, step, user);
    expect(inWords(ruling)).toBe('pass');
    if (ruling.verdict === 'approved') ruling.keep();
  }
  return inWords(ruled(world, call, user));
}

/**
 * The part of a large state that a call can be about. It has the data of the user and of each other
 * user that the call refers to.
 */
function concerning(
  state: RetailState,
  user: string,
  { arguments: args }: Attempt['call'],
): RetailState {
  const others = Object.keys(state.orders).filter(
    (other) =>
      other === user ||
      other === args['user_id'] ||
      Object.hasOwn(state.orders[other] ?? {}, String(args['order_id'])),
  );
  const of = <T>(all: Record<string, T>): Record<string, T> =>
    Object.fromEntries(others.map((name) => [name, all[name] as T]));
  return { ...state, users: of(state.users), orders: of(state.orders), events: of(state.events) };
}

/**
 * The expected answer in words. A name that is not a rule is itself the answer, given before any
 * rule is checked.
 */
function named(by: string): string {
  return retail.rules.some(({ id }) => id === by) ? `reject ${by}` : by;
}

describe.each([
  ['the small world', true, smallWorld],
  ['the benchmark’s records (tau-retail, absent without ASSIZE_DATA)', hasRetail, retailWorld],
] as const)('%s', (_, isThere, make) => {
  describe.skipIf(!isThere)('an adversary', () => {
    const world = isThere ? make() : smallWorld();
    const attempts = attemptsOn(world);

    test.each(KINDS)('%s: is refused, by the tool or by the rule', (kind) => {
      tried(attempts[kind], (attempt) => {
        const expected =
          attempt.tool === undefined ? named(attempt.by) : `tool_error ${attempt.tool}`;
        expect(answer(retail, world, attempt)).toBe(expected);
      });
    });

    test.each(KINDS)('%s: is refused by name where the tools check nothing', (kind) => {
      tried(attempts[kind], (attempt) => {
        expect(answer(careless, world, attempt)).toBe(named(attempt.by));
      });
    });

    /**
     * Rules that keep records and rows in agreement concern faulty tools, and no tool here is
     * faulty.
     */
    const rules = [
      ...new Set(
        Object.values(attempts)
          .flat()
          .map(({ by }) => by),
      ),
    ].filter((by) => named(by) !== by);

    test.each(rules)('without %s it gets through', (rule) => {
      const faulty = carelessRetail([rule]);
      const answers = Object.values(attempts)
        .flat()
        .filter(({ by }) => by === rule)
        .slice(0, 100)
        .map((attempt) => answer(faulty, world, attempt));
      expect(answers).toContain('pass');
    });

    test('tries every rule about the actions of an agent', () => {
      const others = retail.rules.map(({ id }) => id).filter((id) => !rules.includes(id));
      expect(others).toEqual([
        'ORDER_IS_PAID',
        'ORDER_OF_ITS_USER',
        'DIFFERENCE_OF_PRICES',
        'EVENTS_ON_RECORD',
      ]);
    });
  });
});

function tried(attempts: readonly Attempt[], property: (attempt: Attempt) => void): void {
  expect(attempts.length).toBeGreaterThan(0);
  const one = fc.nat(attempts.length - 1).map((i) => attempts[i] as Attempt);
  fc.assert(fc.property(one, property), { seed: SEED, numRuns: cases(300) });
}
