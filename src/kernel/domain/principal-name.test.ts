import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../tests/support/cases.ts';
import { faultOfName, plainName } from './principal-name.ts';

const NAMES = [
  'dr-a',
  'boss:ann',
  'alice@example.com',
  'Dr. Ann B. Lee',
  'dr-\u00e9',
  'dr-e\u0301',
  '李雷',
  'a\\b',
  '*',
];
/**
 * White space of all kinds, controls, characters that join, direct, vary or fill invisibly, a lone
 * surrogate.
 */
const UNSEEN = [
  '\t',
  '\n',
  '\0',
  '\u007f',
  '\u0085',
  '\u00a0',
  '\u00ad',
  '\u034f',
  '\u061c',
  '\u115f',
  '\u180e',
  '\u2003',
]
  .concat([
    '\u200b',
    '\u200c',
    '\u200d',
    '\u200e',
    '\u2028',
    '\u202e',
    '\u2060',
    '\u2066',
    '\u2800',
    '\u3000',
    '\u3164',
  ])
  .concat(['\ue000', '\ufe0f', '\ufeff', '\uffa0', '\ud800', '\u{e0041}', '\u{e0100}']);

test('a name has visible characters, with single spaces inside', () => {
  for (const name of NAMES) expect([name, faultOfName(name)]).toEqual([name, undefined]);
  for (const name of ['', ' ', 'dr-a ', ' dr-a', 'dr  a', 'x'.repeat(513)])
    expect(faultOfName(name)).toBeTypeOf('string');
  expect(faultOfName('x'.repeat(512))).toBeUndefined();
  expect(faultOfName('dr-\u200ba')).toContain('U+200B');
});

test('an invisible character is refused anywhere and never tells names apart', () =>
  fc.assert(
    fc.property(fc.constantFrom(...NAMES), fc.constantFrom(...UNSEEN, ' '), fc.nat(20), (name, unseen, at) => {
      const place = at % 2 === 0 ? 0 : name.length;
      const other = name.slice(0, place) + unseen + name.slice(place);
      expect([JSON.stringify(other), typeof faultOfName(other)]).toEqual([JSON.stringify(other), 'string']);
      expect(plainName(other)).toBe(plainName(name));
    }),
    { numRuns: cases(500) },
  ));

test('two well-formed names mean one principal only if they are one string', () =>
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (one, other) => {
      fc.pre(faultOfName(one) === undefined && faultOfName(other) === undefined);
      expect(plainName(one) === plainName(other)).toBe(one.normalize('NFC') === other.normalize('NFC'));
    }),
    { numRuns: cases(500) },
  ));
