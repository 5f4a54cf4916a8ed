import * as fc from 'fast-check';

/**
 * Names that cause errors in some code: prototypes, array indices, UTF-16 order, quotes, the empty
 * string.
 */
const AWKWARD_NAMES = [
  '__proto__',
  'constructor',
  'toString',
  'toJSON',
  'hasOwnProperty',
  'length',
  '',
  ' ',
  '"',
  '\\',
  '\n',
  '\u0000',
  '\u007f',
  '\u2028',
  '€',
  'é',
  '\u{1f600}',
  '\ufb33',
  '0',
  '1',
  '10',
  '2',
  '01',
  '-1',
  '4294967294',
  '4294967295',
  '9007199254740993',
  '/',
  '~',
] as const;

const AWKWARD_NUMBERS = [
  0,
  -0,
  1,
  -1,
  0.1,
  1e-7,
  1e-6,
  5e-324,
  -5e-324,
  2 ** 31 - 1,
  2 ** 31,
  -(2 ** 31),
  2 ** 32,
  2 ** 53 - 1,
  -(2 ** 53 - 1),
  333333333.3333333,
  4.5,
] as const;

export const jsonText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: 'binary-ascii', maxLength: 60 }),
  fc.constantFrom(...AWKWARD_NAMES),
);

export const jsonName: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('a', 'b', 'c', 'aa', 'ab', 'B') },
  { weight: 3, arbitrary: fc.constantFrom(...AWKWARD_NAMES) },
  { weight: 2, arbitrary: jsonText },
);

export const jsonNumber: fc.Arbitrary<number> = fc.oneof(
  fc.integer(),
  fc.maxSafeInteger(),
  fc.constantFrom(...AWKWARD_NUMBERS),
  fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .filter((value) => Math.abs(value) <= Number.MAX_SAFE_INTEGER),
);

/**
 * Any value that has a canonical text: fields as own data properties, with and without a prototype.
 */
export const jsonValue: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, depthSize: 'small' },
    fc.oneof(fc.constantFrom(null, true, false), jsonNumber, jsonText),
    fc.array(tie('value'), { maxLength: 5 }),
    fc
      .tuple(fc.array(fc.tuple(jsonName, tie('value')), { maxLength: 7 }), fc.boolean())
      .map(toObject),
  ),
})).value;

function toObject([members, bare]: [[string, unknown][], boolean]): object {
  // `fromEntries` defines members, `__proto__` among them, where assigning would not.
  const object: object = Object.fromEntries(members);
  return bare ? Object.setPrototypeOf(object, null) : object;
}
