import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseDocument } from 'yaml';
import { cases } from '../../../../../tests/support/cases.ts';
import { flowText } from './flow-text.ts';

test('any JSON is one line, and read back as it was', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom(
      'true',
      'No',
      'null',
      '12',
      '0x1',
      '1e3',
      '~',
      '- a',
      'a: b',
      'a #b',
      ' a',
      '*a',
      '&a',
      '!a',
      '%a',
      '',
    ),
    fc.constantFrom(
      '\n',
      '\u2028',
      '\u0085',
      '\ufeff',
      '\u001b[31m',
      '"\\',
      '/cents',
      'bank/pay',
      'a\tb',
    ),
  );
  const json = fc.letrec<{ json: any }>((tie) => ({
    json: fc.oneof(
      { depthSize: 'small' },
      text,
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('json'), { maxLength: 3 }),
      fc.dictionary(
        text.filter((key) => key !== '__proto__'),
        tie('json'),
        { maxKeys: 3 },
      ),
    ),
  })).json;
  fc.assert(
    fc.property(json, (value) => {
      const line = flowText(value);
      expect(line).not.toMatch(/[\r\n\u0085\u2028\u2029]/);
      const doc = parseDocument(`a:\n  - ${line}\n`, { version: '1.2' });
      expect([doc.errors, doc.toJS()]).toEqual([[], { a: [value] }]);
    }),
    { numRuns: cases(4_000) },
  );
});

test('rules look as a person would write them', () => {
  const rule = {
    id: 'bound-1',
    ask: 'bank/pay',
    where: [{ path: '/cents', exists: true }],
    because: 'No.',
  };
  expect(flowText(rule)).toBe(
    '{ id: bound-1, ask: bank/pay, where: [{ path: /cents, exists: true }], because: No. }',
  );
});
