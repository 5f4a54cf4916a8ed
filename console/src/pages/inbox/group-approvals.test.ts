import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Card } from '../../api/queries.ts';
import {
  commonLabels,
  groupCards,
  ORDERS,
  type Order,
  ordered,
  searched,
} from './group-approvals.ts';

const text = fc.constantFrom('ada', 'ben', 'Carla B');
const amount = fc.record({ currency: fc.constantFrom('EUR', 'USD'), minor: fc.nat(9) });
const card = fc
  .record({
    id: fc.uuid(),
    title: fc.constantFrom('Pay ada', 'Wire ben'),
    detail: fc.constantFrom('over 500', 'new payee'),
    trajectory_id: fc.constantFrom('a', 'b'),
    requester: fc.constantFrom('agent:x', 'agent:y'),
    action: fc.constantFrom('pay', 'wire'),
    channel: fc.constantFrom('boss', 'clerk'),
    rule: fc.option(fc.constantFrom('LARGE', 'NEW'), { nil: undefined }),
    at: fc.nat(5).map((second) => new Date(second * 1_000).toISOString()),
    expires: fc.option(fc.constant('2026-01-01T00:00:00Z'), { nil: undefined }),
    to: text,
    amounts: fc.array(amount, { maxLength: 2 }),
  })
  .map(({ to, amounts, ...rest }) => {
    const sums = amounts.map((one, n) => ({ at: `/${n}`, label: 'Sum', text: '', amount: one }));
    return { ...rest, fields: [{ at: '/to', label: 'To', text: to }, ...sums] };
  }) as unknown as fc.Arbitrary<Card>;
const cards = fc.array(card, { maxLength: 12 });

const GROUPINGS = [
  ['like', (one: Card) => [one.trajectory_id, one.action, one.channel, one.rule]],
  ['agent', (one: Card) => one.requester],
  ['rule', (one: Card) => one.rule],
  [{ field: 'To' }, (one: Card) => one.fields[0]?.text],
] as const;

test('each proposal is in one group, with the like ones, in the given order', () => {
  fc.assert(
    fc.property(cards, fc.constantFrom(...GROUPINGS), (given, [by, naive]) => {
      const groups = groupCards(given, by);
      const placesOf = (of: readonly Card[]) => of.map((one) => given.indexOf(one));
      const likeness = (one: Card) => JSON.stringify([naive(one)]);
      expect(groups.flatMap((group) => placesOf(group.cards)).sort((a, b) => a - b)).toEqual([
        ...given.keys(),
      ]);
      for (const group of groups) {
        expect(placesOf(group.cards)).toEqual(placesOf(group.cards).toSorted((a, b) => a - b));
        expect(new Set(group.cards.map(likeness)).size).toBe(1);
      }
      expect(groups.length).toBe(new Set(given.map(likeness)).size);
    }),
  );
});

test('each order keeps all proposals, and neighbours stand in it', () => {
  const isBefore: Readonly<Record<Order, (a: Card, b: Card) => boolean>> = {
    oldest: (a, b) => a.at <= b.at,
    newest: (a, b) => a.at >= b.at,
    ends: (a, b) => a.expires !== undefined || b.expires === undefined,
    amount: (a, b) => {
      const sums = [a, b].map(({ fields }) => fields.flatMap((one) => one.amount ?? []));
      const [one, other] = sums.map((all) => (all.length === 1 ? all[0] : undefined));
      if (one === undefined) return other === undefined;
      if (other === undefined) return true;
      return one.currency === other.currency
        ? one.minor >= other.minor
        : one.currency < other.currency;
    },
  };
  fc.assert(
    fc.property(cards, fc.constantFrom(...(Object.keys(ORDERS) as Order[])), (given, order) => {
      const sorted = ordered(given, order);
      expect(new Set(sorted)).toEqual(new Set(given));
      for (const [n, one] of sorted.slice(1).entries())
        expect(isBefore[order](sorted[n] as Card, one)).toBe(true);
    }),
  );
});

test('a search finds words in any case, and labels count from two', () => {
  const [one, two] = fc.sample(card, { numRuns: 2, seed: 7 }) as [Card, Card];
  const carla = { ...one, title: 'Pay Carla', fields: [{ at: '/x', label: 'Team', text: 'Blue' }] };
  const given = [carla, { ...two, title: 'x', fields: [] }];
  expect(searched(given, ' CARLA  blue')).toEqual([carla]);
  expect(searched(given, 'carla green')).toEqual([]);
  expect(searched(given, '')).toEqual(given);
  expect(commonLabels(given)).toEqual([]);
  expect(commonLabels([carla, carla])).toEqual(['Team']);
});
