import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  amountText,
  majorText,
  minorOf,
  type Presented,
  presentationOf,
  shownOf,
} from './shown.ts';
import { visible, visibleWords } from './visible.ts';

const PAY: Presented = {
  title: 'Pay {to} {cents}',
  fields: {
    cents: { money: 'EUR' },
    to: { label: 'Payee' },
    when: { date: true },
    kg: { unit: 'kg' },
  },
  confirm: 'Pays {cents} immediately',
};

describe('an action with a presentation', () => {
  test('is said in its words, with labelled fields', () => {
    const args = { cents: 124_000, to: 'carla', when: '2026-06-05', kg: 12, note: 'June' };
    expect(shownOf({ name: 'pay', args }, PAY)).toEqual({
      called: 'pay',
      title: 'Pay carla €1,240.00',
      confirm: 'Pays €1,240.00 immediately',
      fields: [
        { at: '/cents', label: 'Cents', text: '€1,240.00', amount: eur(124_000) },
        { at: '/to', label: 'Payee', text: 'carla' },
        { at: '/when', label: 'When', text: '5 Jun 2026' },
        { at: '/kg', label: 'Kg', text: '12 kg' },
        { at: '/note', label: 'Note', text: 'June' },
      ],
    });
  });

  test('reads a currency beside the amount, and decimal texts exactly', () => {
    const said = (args: object): string =>
      shownOf({ name: 'pay', args }, { title: '{/a/sum}', fields: { '/a/sum': { money: 'in' } } })
        .title;
    expect(said({ a: { sum: '90071992547409.91' }, in: 'USD' })).toBe('$90,071,992,547,409.91');
    expect(said({ a: { sum: 500 }, in: 'JPY' })).toBe('¥500');
    expect(said({ a: { sum: 1_500 }, in: 'KWD' })).toBe('KWD 1.500');
    expect(said({ a: { sum: '1.005' }, in: 'EUR' })).toBe('"1.005 EUR"');
    expect(said({ a: { sum: 5 }, in: 'gold' })).toBe('"5 gold"');
    expect(said({ a: {} })).toBe('—');
  });

  test('a tool has its own, whose places are in the arguments of the call', () => {
    const call = { name: 'call', args: { server: 'bank', tool: 'pay', args: { cents: 5 } } };
    const tools: Presented = { tools: { 'bank/pay': PAY } };
    expect(shownOf(call, tools)).toMatchObject({
      title: 'Pay — €0.05',
      fields: [{ at: '/args/cents' }],
    });
    expect(presentationOf({ ...call, args: { ...call.args, tool: 'toString' } }, tools)).toBe(
      undefined,
    );
  });

  test('no value continues the words of the title', () => {
    const to = 'carla €5.00" and nobody else "';
    const { title } = shownOf({ name: 'pay', args: { to, cents: 9_900 } }, PAY);
    expect(title).toBe('Pay "carla €5.00\' and nobody else \'" €99.00');
  });
});

describe('an action without a presentation', () => {
  test('is its name with short arguments; cents and dates are recognised', () => {
    const args = {
      amount_cents: 5,
      currency: 'EUR',
      on: '2026-06-05T14:05:00Z',
      price: '12.50',
      deep: { a: [[]] },
    };
    const { title, fields } = shownOf({ name: 'pay', args });
    expect(title).toBe('pay: amount €0.05, on 5 Jun 2026, 14:05 UTC, price €12.50, deep 1 member');
    expect(fields.map(({ text }) => text)).toEqual([
      '€0.05',
      '5 Jun 2026, 14:05 UTC',
      '€12.50',
      '1 member',
    ]);
  });

  test('a field of a presentation stands for the object that it is in', () => {
    const present = { fields: { '/start/tool': { label: 'Calls of' } } };
    const { fields } = shownOf({ name: 'open', args: { start: { tool: 'pay' } } }, present);
    expect(fields.map(({ label, text }) => `${label} ${text}`)).toEqual(['Calls of pay']);
  });

  test('an integer without a currency is not money', () => {
    expect(shownOf({ name: 'pay', args: { cents: 5, to: 'a' } }).title).toBe('pay: cents 5, to a');
    expect(shownOf({ name: 'pay' }, PAY).title).toBe('pay');
  });
});

test('a name that is read from right to left is isolated from the amount', () => {
  const titleOf = (to: string, present?: Presented) =>
    shownOf({ name: 'pay', args: { to, cents: 500, currency: 'EUR' } }, present).title;
  expect(titleOf('دانا', PAY)).toBe('Pay \u2068دانا\u2069 €5.00');
  expect(titleOf('דנה לוי')).toBe('pay: to \u2068"דנה לוי"\u2069, amount €5.00');
  expect(titleOf('\u2068דנה\u202e', PAY)).toBe('Pay \u2068"\\u2068דנה\\u202e"\u2069 €5.00');
  const many = titleOf('x', { title: `${'{to} '.repeat(30)}`, fields: {} });
  expect(titleOf('ד'.repeat(50), { title: '{to} '.repeat(30) })).toMatch(/^.{238}…\u2069$/);
  expect(many).not.toMatch(/[\u2068\u2069]/);
});

test('for any JSON: one bounded line without unseen characters', () => {
  const nasty = fc.string({
    unit: fc.constantFrom('a', 'ד', '\u2068', '\u2069', '\u202e', '\u{e0041}', '\n', '"', '€'),
  });
  const args = fc.oneof(
    fc.jsonValue(),
    fc.dictionary(fc.constantFrom('cents', 'to', 'when', 'kg', 'currency', 'x'), fc.jsonValue()),
    fc.record({ to: nasty, cents: fc.jsonValue(), currency: fc.constantFrom('EUR', 'JPY', 'eur') }),
    fc.record({ server: nasty, tool: nasty, args: fc.record({ to: nasty, cents: fc.integer() }) }),
  );
  fc.assert(
    fc.property(args, fc.constantFrom('pay', 'call'), fc.boolean(), (args, name, isKnown) => {
      const { title, fields, confirm = '' } = shownOf({ name, args }, isKnown ? PAY : undefined);
      expect(title.length).toBeLessThanOrEqual(240);
      expect(fields.length).toBeLessThanOrEqual(40);
      for (const text of fields.flatMap((one) => [one.text, one.label])) {
        expect(visible(text)).toBe(text);
        expect(text.length).toBeLessThanOrEqual(240);
      }
      for (const text of [title, confirm]) {
        expect(visibleWords(text)).toBe(text);
        expect(text.replace(/\u2068[^\u2068\u2069]+\u2069/g, '')).not.toMatch(/[\u2068\u2069ד]/);
        expect(text.length).toBeLessThanOrEqual(240);
      }
    }),
    { numRuns: 1_000 },
  );
});

test('only named: no argument that the presentation does not name', () => {
  const secret = fc.stringMatching(/^[a-z]{8}$/).map((text) => `hidden-${text}`);
  fc.assert(
    fc.property(secret, fc.boolean(), fc.boolean(), (hidden, isGated, isKnown) => {
      const input = { to: 'carla', cents: 5, note: hidden, [hidden]: 1 };
      const args = isGated ? { server: 'bank', tool: 'pay', args: input } : input;
      const present = isGated ? { tools: { 'bank/pay': PAY } } : PAY;
      const action = { name: isGated ? 'call' : 'pay', args };
      const named = shownOf(action, isKnown ? present : undefined, 'named');
      expect(JSON.stringify(named)).not.toContain('hidden');
      const { title } = named;
      expect(title).toBe(isKnown ? 'Pay carla €0.05' : isGated ? 'bank/pay' : 'pay');
      expect(named.fields.map(({ label }) => label)).toEqual(isKnown ? ['Cents', 'Payee'] : []);
    }),
  );
});

test('an amount in the field of a form is the same amount again', () => {
  const currency = fc.constantFrom(...Intl.supportedValuesOf('currency'));
  const minor = fc.maxSafeInteger();
  fc.assert(
    fc.property(currency, minor, (currency, minor) => {
      expect(minorOf(currency, majorText({ currency, minor }))).toBe(minor);
      const { fields } = shownOf(
        { name: 'pay', args: { a: minor } },
        { fields: { a: { money: currency } } },
      );
      expect(fields[0]?.amount).toEqual({ currency, minor });
      expect(fields[0]?.text.replace(/\D/g, '').replace(/^0+(?=\d)/, '')).toBe(
        String(Math.abs(minor)),
      );
    }),
  );
  expect(minorOf('EUR', '1240')).toBe(124_000);
  for (const text of ['1,240.00', '1.005', 'x', '', '1e3', '99999999999999999']) {
    expect(minorOf('EUR', text)).toBe(undefined);
  }
  expect(amountText(eur(-5))).toBe('-€0.05');
});

function eur(minor: number) {
  return { currency: 'EUR', minor };
}
