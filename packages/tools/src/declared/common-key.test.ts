import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../tests/support/cases.ts';
import { commonKey, keyReader } from './common-key.ts';
import { declaredTools, type ToolDeclaration } from './index.ts';
import { filledKey, formWithin, keyForm, keyProblem } from './key.ts';

type Filling = Readonly<Record<'a' | 'b' | 'key', string>>;

const MEMBERS = new Set(['a', 'b']);
const HASHES = ['a', '4'].map((digit) => digit.repeat(64)) as [string, string];

const PARTS = ['{a}', '{b}', '{key}', '/', '/', 'a', '4', '1', '%', '%2f', '%41', '%c3'] as const;
/** Each place stands in it once at most. */
const template = fc
  .uniqueArray(fc.record({ n: fc.nat(), part: fc.constantFrom(...PARTS) }), {
    minLength: 1,
    maxLength: 5,
    selector: ({ n, part }) => (part.startsWith('{') ? part : n),
  })
  .map((parts) => parts.map(({ part }) => part).join(''))
  .filter((text) => keyProblem(text, MEMBERS, { isUndone: false }) === undefined);

/**
 * Uses regular expressions and `decodeURIComponent`: the values that fill a template to become the
 * text. Undefined if no values do.
 */
function fillingOf(template: string, text: string): Filling | undefined {
  const pattern = template.replaceAll(/\{(\w+)\}|[^{]/g, (part, name?: string) => {
    // No part of a template means anything in an expression.
    if (name === undefined) return part;
    return name === 'key' ? '(?<key>[0-9a-f]{64})' : `(?<${name}>[A-Za-z0-9%]*)`;
  });
  const found = new RegExp(`^${pattern}$`, 's').exec(text)?.groups;
  if (found === undefined) return undefined;
  try {
    const of = (name: string): string => decodeURIComponent(found[name] ?? '');
    const filling = { a: of('a'), b: of('b'), key: of('key') };
    return filledKey(template, filling, filling.key) === text ? filling : undefined;
  } catch {
    return undefined;
  }
}

function isRefused(one: string, other: string): boolean {
  const declared = (name: string, key: string): ToolDeclaration => ({
    name,
    input: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } },
    class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' },
    writes: ['x:y'],
    key,
    execute: { call: 'take' },
  });
  try {
    declaredTools([declared('one', one), declared('other', other)], { take: () => null });
    return false;
  } catch {
    return true;
  }
}

test('tools are refused exactly if calls of two effects may have one key', () => {
  const short = ['', ...'a41%/'].flatMap((one) => ['', ...'a41%/'].map((other) => one + other));
  const values = [...new Set([...short, 'é', ...HASHES, `a${HASHES[1]}`])];
  const keysOf = (template: string, key: string): ReadonlySet<string> => {
    const [as, bs] = ['{a}', '{b}'].map((place) => (template.includes(place) ? values : ['']));
    return new Set(as!.flatMap((a) => bs!.map((b) => filledKey(template, { a, b }, key))));
  };
  const tried = { refused: 0, taken: 0 };
  fc.assert(
    fc.property(template, template, (one, other) => {
      const common = commonKey(keyReader(keyForm(one)), keyReader(keyForm(other)));
      expect(isRefused(one, other)).toBe(common !== undefined);
      if (common === undefined) {
        tried.taken++;
        const others = keysOf(other, HASHES[1]);
        expect([...keysOf(one, HASHES[0])].filter((key) => others.has(key))).toEqual([]);
        return;
      }
      tried.refused++;
      const fillings = [one, other].map((each) => fillingOf(each, common));
      expect(fillings).not.toContain(undefined);
      const ofEffects = one.includes('{key}') && other.includes('{key}');
      if (ofEffects) expect(fillings[0]!.key).not.toBe(fillings[1]!.key);
    }),
    {
      numRuns: cases(1_000),
      examples: [
        ['{a}/{key}', '{key}/{b}'],
        ['{key}a', 'a{key}'],
      ],
    },
  );
  expect(Math.min(tried.refused, tried.taken)).toBeGreaterThan(0);
});

test('a form has just the keys that its template is filled to', () => {
  const character = fc.oneof(fc.constantFrom(...'a4%/'), fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }));
  const value = fc.string({ unit: character, maxLength: 3 });
  const filling = fc.record({ a: value, b: value, key: fc.constantFrom(...HASHES) });
  const spoilt = fc.record({ at: fc.nat(), drop: fc.nat(2), put: fc.constantFrom('', 'a', '4', '%', '/', '%c3', 'F') });
  const isKeyOf = (reader: ReturnType<typeof keyReader>, key: string): boolean =>
    commonKey(reader, keyReader([key])) === key;
  const tried = { keys: 0, others: 0 };
  fc.assert(
    fc.property(template, template, filling, spoilt, (outer, inner, filled, { at, drop, put }) => {
      const key = filledKey(outer, filled, filled.key);
      const reader = keyReader(keyForm(outer));
      expect(isKeyOf(reader, key)).toBe(true);
      const from = at % (key.length + 1);
      const other = key.slice(0, from) + put + key.slice(from + drop);
      const isKey = fillingOf(outer, other) !== undefined;
      tried[isKey ? 'keys' : 'others']++;
      expect(isKeyOf(reader, other)).toBe(isKey);
      // And where the key of a call is that of another tool, which makes its own of it.
      const within = keyReader(formWithin(keyForm(inner), keyForm(outer)));
      expect(isKeyOf(within, filledKey(inner, filled, key))).toBe(true);
    }),
    { numRuns: cases(1_000) },
  );
  expect(Math.min(tried.keys, tried.others)).toBeGreaterThan(0);
});
