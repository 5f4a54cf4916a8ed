import { describe, expect, test } from 'vitest';
import { arg, checkArgument } from './check-arguments.ts';

interface Options {
  readonly size: number;
  readonly name?: string;
}

const OPTIONS = arg.options<Options>({ size: arg.whole, name: arg.optional(arg.text) });

describe('options', () => {
  test.each([{ size: 1 }, { size: 1, name: 'a' }, { size: 1, name: undefined }, Object.create({ size: 1 })])(
    'are accepted if well-formed: %j',
    (given) => {
      expect(() => checkArgument(OPTIONS, given, 'options')).not.toThrow();
    },
  );

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
