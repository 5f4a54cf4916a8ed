import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalize } from '#canon';
import { adjudicate, type Foreseen, foresee, initialState, type Ruling, World } from '#kernel';
import { ANYONE } from '../support/authority.ts';
import { cases } from '../support/cases.ts';
import { generatedDomain, intentOf, KEYS, type ShopState } from '../support/generated-domain.ts';
import { clone } from '../support/json.ts';
import { type Proposal, proposal, rules, shopState } from '../support/schedule.ts';

// What was foreseen of a proposal is taken in its turn as far as it still holds. The ruling must be the same without.

const AT = '2026-03-23T09:00:00.000000Z';
const inputsOf = (at: string) => ({ at, observations: [{ name: 'weather', value: { seen: 'sun' } }] });

const user = fc.constantFrom(...KEYS);
const by = fc.integer({ min: -2, max: 4 });
/** Mostly such as touch little, and so seldom what another was foreseen from. */
const step = fc.tuple(
  fc.oneof(
    { weight: 1, arbitrary: proposal },
    {
      weight: 3,
      arbitrary: fc.record({
        agent: fc.constant(0),
        action: fc.oneof(
          fc.record({ name: fc.constantFrom('count' as const, 'own' as const), user, by }),
          fc.record({ name: fc.constant('note' as const), by }),
        ),
        evil: fc.constant('nothing' as const),
      }),
    },
  ),
  fc.nat(3),
  fc.nat(5).map((n) => n === 0),
);

/** All that a ruling says. */
function said(ruling: Ruling): string {
  if (ruling.verdict === 'rejected') return canonicalize(ruling);
  const { compiled, ...rest } = ruling;
  const patches = ruling.verdict === 'approved' ? ruling.patches() : ruling.patches;
  const { name, args, role, cost } = compiled;
  return canonicalize({ ...JSON.parse(JSON.stringify({ ...rest, patches })), name, args, role, cost });
}

test('a proposal that was foreseen is ruled on as if it was not, whatever was ruled on in between', () => {
  let taken = 0;
  fc.assert(
    fc.property(rules, shopState, fc.array(step, { minLength: 2, maxLength: 8 }), (specs, start, steps) => {
      const { domain } = generatedDomain(specs);
      const plain = new World(domain, initialState(domain, clone(start)));
      const ahead = new World(domain, initialState(domain, clone(start)));
      const states = [clone(start)];
      const since: (readonly string[])[][] = [];
      for (const [{ action, evil }, behind, isLate] of steps as [Proposal, number, boolean][]) {
        const base = Math.max(0, states.length - 1 - behind);
        const replica = initialState(domain, clone(states[base] as ShopState));
        const intent = intentOf(action, evil);
        const foreseen = foresee(domain, replica, clone(intent), inputsOf(AT));
        expect(canonicalize(replica)).toBe(canonicalize(states[base]));
        // As it comes from a thread.
        const sent = structuredClone(foreseen) as Foreseen | undefined;
        const expected = sent && { foreseen: sent, since: since.slice(base).flat() };
        const inputs = inputsOf(isLate ? '2026-03-23T10:00:00.000000Z' : AT);
        const alone = adjudicate(plain, clone(intent), ANYONE, inputs);
        const ruling = adjudicate(ahead, clone(intent), ANYONE, inputs, { expected });
        expect(said(ruling)).toBe(said(alone));
        if (alone.verdict === 'approved' && ruling.verdict === 'approved') {
          if (sent !== undefined && since.length > base && !isLate) taken++;
          since.push(ruling.changes.map(({ keys }) => keys));
          alone.keep();
          ruling.keep();
          states.push(clone(ahead.state) as never);
        }
        expect(canonicalize(ahead.state)).toBe(canonicalize(plain.state));
        expect(canonicalize(ahead.vector())).toBe(canonicalize(plain.vector()));
        expect(ahead.failing.map(({ rule, keys }) => [rule.id, keys])).toEqual(
          plain.failing.map(({ rule, keys }) => [rule.id, keys]),
        );
      }
    }),
    { numRuns: cases(2_000) },
  );
  expect(taken).toBeGreaterThan(0);
});
