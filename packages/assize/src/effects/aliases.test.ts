import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readScope } from '#authority';
import { cases } from '../../../../tests/support/cases.ts';
import {
  canonicalNames,
  kindOf,
  NAMES_MAX,
  namesGiven,
  readResolvers,
  resolversOf,
} from './aliases.ts';

const texts = (names: readonly { readonly text: string }[]): string[] =>
  names.map(({ text }) => text);

/** A resolver as a table. Scopes outside the table have no alias. */
const asking =
  (table: Readonly<Record<string, readonly string[]>>) => (scope: { readonly text: string }) =>
    Promise.resolve((table[scope.text] ?? [scope.text]).map(readScope));

describe('canonical names', () => {
  test.each<[string, readonly string[]]>([
    ['api:crm:mail:ada', ['api:crm:customer:7']],
    ['api:crm:customer:7', ['api:crm:customer:7']],
    ['shop:order:1', ['shop:order:1', 'stock:lamp', 'stock:house:north']],
    ['shop:receipt:1', ['shop:order:1', 'stock:lamp', 'stock:house:north']],
    ['else:where', ['else:where']],
  ])('of %s are %j', async (scope, expected) => {
    const ask = asking({
      'api:crm:mail:ada': ['api:crm:customer:7'],
      'shop:order:1': ['shop:order:1', 'stock:lamp'],
      'shop:receipt:1': ['shop:order:1'],
      'stock:lamp': ['stock:lamp', 'stock:house:north'],
    });
    expect(texts(await canonicalNames(readScope(scope), ask)).sort()).toEqual([...expected].sort());
  });

  test('are refused if a returned name does not return itself', async () => {
    const ask = asking({ 'a:1': ['a:2'], 'a:2': ['a:3'] });
    const error = await canonicalNames(readScope('a:1'), ask).catch((thrown) => thrown);
    expect(error).toMatchObject({ reason: 'bad_resolver', evidence: { scope: 'a:1' } });
    expect(error.message).toMatch(/a:1 resolves to a:2, which resolves to a:3 instead of itself/);
  });

  test('end, also where more and more follow', async () => {
    const ask = async ({ text }: { readonly text: string }) =>
      [text, `a:${Number(text.slice(2)) + 1}`].map(readScope);
    await expect(canonicalNames(readScope('a:1'), ask)).rejects.toMatchObject({
      reason: 'bad_resolver',
    });
    const few = async ({ text }: { readonly text: string }) =>
      [text, `a:${Math.min(NAMES_MAX, Number(text.slice(2)) + 1)}`].map(readScope);
    expect(await canonicalNames(readScope('a:1'), few)).toHaveLength(NAMES_MAX);
  });

  test('of a returned name are in the returned set, or the resolver is refused', async () => {
    const name = fc.constantFrom('a:1', 'a:2', 'a:3', 'b:1', 'b:2');
    const table = fc.dictionary(name, fc.uniqueArray(name, { minLength: 1, maxLength: 3 }));
    await fc.assert(
      fc.asyncProperty(table, name, async (given, scope) => {
        const ask = asking(given);
        const names = await canonicalNames(readScope(scope), ask).catch((error) => error.reason);
        const isSound = (text: string): boolean => (given[text] ?? [text]).includes(text);
        // By hand: the names reachable from the first answer. Each must return itself.
        const reached = new Set(given[scope] ?? [scope]);
        for (const each of reached)
          for (const more of given[each] ?? [each]) if (isSound(each)) reached.add(more);
        if (![...reached].every(isSound)) {
          expect(names).toBe('bad_resolver');
          return;
        }
        expect(texts(names).sort()).toEqual([...reached].sort());
        for (const each of names)
          expect([...reached]).toEqual(
            expect.arrayContaining(texts(await canonicalNames(each, ask))),
          );
      }),
      { numRuns: cases(2_000) },
    );
  });
});

describe('the result of a resolver', () => {
  test.each([
    [[]],
    [''],
    [undefined],
    [7],
    [['a:b', 'a//b']],
    ['a:**:b'],
    [null],
    [{}],
    [['x:..']],
  ])('%j is refused by name', (given) => {
    expect(() => namesGiven('a:1', given)).toThrow(
      expect.objectContaining({ reason: 'bad_resolver' }),
    );
  });

  test('is read in its normal form', () => {
    expect(texts(namesGiven('a:1', ['FS:/x', 'api:e\u0301']))).toEqual(['fs:/x', 'api:\u00e9']);
  });
});

describe('resolvers', () => {
  const one = (scope: string): string => scope;

  test.each([
    null,
    7,
    'fs',
    [one],
    { Fs: one },
    { 'f s': one },
    { fs: 7 },
    { fs: [] },
    { fs: [one, 'two'] },
  ])('%j are refused', (given) => {
    expect(() => readResolvers(given as never)).toThrow(
      expect.objectContaining({ reason: 'bad_resolver' }),
    );
  });

  test('are asked about scopes of their kind, and about no others', () => {
    const read = readResolvers({ fs: one, db: [one, one] });
    expect(resolversOf(readScope('FS:/x'), read)).toEqual([one]);
    expect(resolversOf(readScope('db:x:*'), read)).toEqual([one, one]);
    for (const other of ['api:x', '/fs/x', '**', '*:x'])
      expect(resolversOf(readScope(other), read)).toBeUndefined();
    expect(['fs:/x', '/x', '**', 'fs'].map((scope) => kindOf(readScope(scope)))).toEqual([
      'fs',
      '',
      '',
      'fs',
    ]);
  });
});
