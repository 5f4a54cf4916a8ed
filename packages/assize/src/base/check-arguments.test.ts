import { describe, expect, test } from 'vitest';
import { arg, checkArgument } from './check-arguments.ts';
import { AssizeError } from './errors.ts';

interface Options {
  readonly size: number;
  readonly name?: string;
}

const OPTIONS = arg.options<Options>({ size: arg.whole, name: arg.optional(arg.text) });

describe('options', () => {
  test.each([
    { size: 1 },
    { size: 1, name: 'a' },
    { size: 1, name: undefined },
    Object.create({ size: 1 }),
  ])('are accepted if well-formed: %j', (given) => {
    expect(() => checkArgument(OPTIONS, given, 'options')).not.toThrow();
  });

  test.each<[unknown, string]>([
    [{ size: 1, nam: 'a' }, 'options.nam'],
    [{ size: 1, nam: undefined }, 'options.nam'],
    [{ size: 1, toString: 1 }, 'options.toString'],
    [Object.create({ size: 1, nam: 'a' }), 'options.nam'],
    [{}, 'options.size'],
    [{ size: 1, name: 7 }, 'options.name'],
    [null, 'options'],
    [[], 'options'],
    ['size', 'options'],
  ])('have no other members, and each of its form: %j', (given, argument) => {
    expect(() => checkArgument(OPTIONS, given, 'options')).toThrow(
      expect.objectContaining({ code: 'bad_argument', evidence: { argument } }),
    );
  });

  test('an unknown field is reported with the known ones', () => {
    expect(() => checkArgument(OPTIONS, { sice: 1 }, 'options')).toThrow(
      'The argument options.sice must be left out, because it is not a known field (size, name); nothing was done.',
    );
  });
});

describe('one form', () => {
  const ROW = arg.row<Options>(
    ({ size, name }) =>
      arg.at('size', arg.wholeFrom(1, 3)(size)) ??
      arg.at('name', arg.optional(arg.oneOf(['a', 'b', 'c']))(name)),
  );
  const KNOWN = arg.known<Options>({ size: true, name: true });

  test.each([
    [arg.list(ROW), [{ size: 1 }, { size: 3, name: 'c', more: 1 }]],
    [arg.all(KNOWN, ROW), Object.create({ size: 2 })],
    [arg.flag, false],
    [arg.wholeFrom(-1), -1],
  ])('accepts what fits it', (of, given) => {
    expect(() => checkArgument(of, given, 'given')).not.toThrow();
  });

  test.each([
    [arg.list(ROW), new Array(1), 'given.0 must be an object'],
    [arg.list(ROW), [{ size: 1 }, { size: 4 }], 'given.1.size must be a whole number from 1 to 3'],
    [ROW, { size: 1, name: 'd' }, 'given.name must be a, b or c'],
    [ROW, [], 'given must be an object'],
    [
      arg.all(KNOWN, ROW),
      { size: 0, more: 1 },
      'given.more must be left out, because it is not a known field (size, name)',
    ],
    [
      arg.all(KNOWN, ROW),
      Object.create({ more: 1 }),
      'given.more must be left out, because it is not a known field (size, name)',
    ],
    [arg.all(KNOWN, ROW), { size: 0 }, 'given.size must be a whole number from 1 to 3'],
    [
      arg.only(['size'], ['size']),
      { sice: 1 },
      'given.sice must be left out, because it is not a known field (size)',
    ],
    [arg.wholeFrom(1), 2 ** 53, 'given must be a whole number from 1'],
    [arg.flag, 0, 'given must be true or false'],
  ])('refuses other values at the place of the fault', (of, given, what) => {
    expect(() => checkArgument(of, given, 'given')).toThrow(
      `The argument ${what}; nothing was done.`,
    );
  });
});

test('a refusal may be an error of the caller', () => {
  const refuse = (): void =>
    checkArgument(
      arg.text,
      7,
      'name',
      (message, details) => new AssizeError('bad_key', message, details),
    );
  expect(refuse).toThrow(
    expect.objectContaining({
      code: 'bad_key',
      message: 'The argument name must be a text; nothing was done.',
      evidence: { argument: 'name' },
    }),
  );
});
