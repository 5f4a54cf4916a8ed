import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../../tests/support/cases.ts';
import { faultOfName } from './principal-name.ts';
import { isSamePrincipal } from './same-principal.ts';

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
    fc.property(
      fc.constantFrom(...NAMES),
      fc.constantFrom(...UNSEEN, ' '),
      fc.nat(20),
      (name, unseen, at) => {
        const place = at % 2 === 0 ? 0 : name.length;
        const other = name.slice(0, place) + unseen + name.slice(place);
        expect([JSON.stringify(other), typeof faultOfName(other)]).toEqual([
          JSON.stringify(other),
          'string',
        ]);
        expect(isSamePrincipal(other, name)).toBe(true);
      },
    ),
    { numRuns: cases(500) },
  ));

test('look-alike names are one principal, in both directions', () => {
  const grace = 'manager:grace';
  const same = [
    ...[
      'manager:\uff47race',
      'manager:Grace',
      'MANAGER:GRACE',
      'manager:\u{1d420}race',
      'manager:gr\u0430ce',
    ],
    ...[
      'm\u0430n\u0430ger:gr\u0430\u0441\u0435',
      'manager:gr\u03b1ce',
      'manager:\u0261race',
      'manager\uff1agrace',
    ],
    ...['manager:gra\u0107e', 'manager:gra\u0327ce', 'manager:grac\u0323e', 'manager:grac\u20dde'],
    ...[
      'manager:GR\u0410CE',
      'manager:gr\u0251ce',
      ' manager:grace',
      'manager:\u200bgrace',
      'manager:gr\u1d43ce',
    ],
  ];
  for (const other of same)
    expect([other, isSamePrincipal(grace, other), isSamePrincipal(other, grace)]).toEqual([
      other,
      true,
      true,
    ]);
  expect(isSamePrincipal('\u0412\u0430\u0441\u044f', '\u0432\u0430\u0441\u042f')).toBe(true);
  expect(isSamePrincipal('stra\u00dfe', 'STRASSE')).toBe(true);
  expect(isSamePrincipal('dr-\ufb01n', 'dr-fin')).toBe(true);
});

test('different names are different principals', () => {
  const names = [
    'manager:grace',
    'manager:gracie',
    'manager:race',
    'zoe',
    '\u304b',
    '\u304c',
    '\u0915\u093f',
    '\u0915\u0941',
    'dr-1',
    'dr-l',
    '\u674e\u96f7',
  ];
  for (const one of names)
    for (const other of names)
      expect([one, other, isSamePrincipal(one, other)]).toEqual([one, other, one === other]);
});

test('two names of ASCII mean one principal only if they differ in capitals', () =>
  fc.assert(
    fc.property(fc.string(), fc.string(), (one, other) => {
      fc.pre(faultOfName(one) === undefined && faultOfName(other) === undefined);
      expect(isSamePrincipal(one, other)).toBe(one.toLowerCase() === other.toLowerCase());
      expect(isSamePrincipal(one, one.toUpperCase())).toBe(true);
    }),
    { numRuns: cases(500) },
  ));
