import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contradictionsIn } from './contradictions.ts';

const fact = (subject: string, predicate: string, text: string) => ({
  ...{ space: 'office', fact: 'f'.repeat(16), since: '2026-06-05T00:00:00.000000Z' },
  ...{ subject, predicate, text },
});
const args = (value: object) => ({ name: 'arguments', value: value as never });
const receipt = (text: string) => ({ name: 'receipt', value: { from: 'carla', text } as never });

test('another number of the same thing contradicts', () => {
  const found = contradictionsIn(
    [args({ to: 'carla', cents: 124_000 }), receipt('Hotel, four nights at 310.00.')],
    [fact('carla', 'trip', 'conference, 3 nights at 310.00')],
  );
  expect(found.map(({ given }) => given)).toEqual([
    { name: 'receipt', text: 'Hotel, four nights at 310.00.' },
  ]);
});

test('another value of the predicate contradicts', () => {
  const given = [args({ to: 'ada', account: 'DE 17' })];
  const of = (subject: string, account: string) =>
    contradictionsIn(given, [fact(subject, 'account', account)]).length;
  expect([of('ada', 'DE 42'), of('ada', 'de 17'), of('ben', 'DE 42')]).toEqual([1, 0, 0]);
});

test('a fact of another subject or with equal numbers contradicts nothing', () => {
  const text = fc.constantFrom('three nights', '2 seats', 'a room', '3 nights, two seats', '');
  fc.assert(
    fc.property(text, fc.constantFrom('carla', 'dan'), (said, subject) => {
      const same = contradictionsIn([receipt(said)], [fact('carla', 'trip', said)]);
      const other = contradictionsIn([receipt(said)], [fact(`${subject}x`, 'trip', '9 nights')]);
      expect([same, other]).toEqual([[], []]);
    }),
  );
});
