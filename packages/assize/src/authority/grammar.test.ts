import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AuthorityError } from './errors.ts';
import {
  contains,
  covers,
  MAX_NAME_LENGTH,
  normalizeAction,
  normalizeScope,
  overlaps,
  segment,
} from './grammar.ts';

/**
 * A second implementation of the grammar, by regular expressions over the text: slow, and
 * independent of tokens.
 */
function matcher(tokens: readonly string[], rest: string): RegExp {
  let source = '';
  let path = false;
  for (const [index, token] of tokens.entries()) {
    const letter = token.slice(1) === '*' ? '[a-z]' : token.slice(1);
    if (token.startsWith('/')) source += index > 0 && !path ? `:/${letter}` : `/${letter}`;
    else source += index > 0 ? `:${letter}` : letter;
    path = token.startsWith('/');
  }
  const first = tokens.length === 0;
  if (rest === '/**') source += first || path ? '/.+' : ':/.+';
  if (rest === ':**') source += first ? '.+' : path ? '[:/].+' : ':.+';
  return new RegExp(`^${source}$`);
}

function textOf(tokens: readonly string[], rest = ''): string {
  let text = '';
  let path = false;
  for (const token of rest === '' ? tokens : [...tokens, rest]) {
    const joint = token.startsWith('/')
      ? text !== '' && !path
        ? ':/'
        : '/'
      : text === ''
        ? ''
        : ':';
    text += joint + token.slice(1);
    path = token.startsWith('/');
  }
  return text;
}

function sequences(alphabet: readonly string[], most: number): string[][] {
  let level: string[][] = [[]];
  const all = [...level];
  for (let length = 1; length <= most; length++) {
    level = level.flatMap((head) => alphabet.map((token) => [...head, token]));
    all.push(...level);
  }
  return all;
}

// `c` stands for every segment that no pattern names. Names are two segments longer than patterns,
// to cover `**`.
const names = sequences([':a', ':b', ':c', '/a', '/b', '/c'], 5)
  .slice(1)
  .map((tokens) => textOf(tokens));
const patterns = sequences([':a', ':b', ':*', '/a', '/b', '/*'], 3)
  .flatMap((tokens) => ['', ':**', '/**'].map((rest) => ({ tokens, rest })))
  .filter(({ tokens, rest }) => tokens.length > 0 || rest !== '')
  .map(({ tokens, rest }) => ({ text: textOf(tokens, rest), matches: matcher(tokens, rest) }));

/** The set of names that each pattern matches, as bits. */
function meanings(): bigint[] {
  return patterns.map(({ matches }) =>
    BigInt(`0b${names.map((name) => (matches.test(name) ? '1' : '0')).join('')}`),
  );
}

describe('the grammar against a brute-force oracle', () => {
  test(`contains and overlaps agree with name sets for ${patterns.length}² pairs`, () => {
    const sets = meanings();
    const wrong: string[] = [];
    for (const [i, wider] of patterns.entries()) {
      for (const [j, narrower] of patterns.entries()) {
        const within = (sets[j]! & ~sets[i]!) === 0n;
        const meet = (sets[j]! & sets[i]!) !== 0n;
        if (contains(wider.text, narrower.text) !== within)
          wrong.push(`contains ${wider.text} ${narrower.text}`);
        if (overlaps(wider.text, narrower.text) !== meet)
          wrong.push(`overlaps ${wider.text} ${narrower.text}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test('covers agrees with the sets of names', () => {
    const wrong = patterns.flatMap((pattern) =>
      names
        .filter(
          (name, index) =>
            index % 7 === 0 && covers(pattern.text, name) !== pattern.matches.test(name),
        )
        .map((name) => `${pattern.text} ${name}`),
    );
    expect(wrong).toEqual([]);
  });
});

const word = fc.constantFrom(':a', ':b', ':*', '/a', '/b', '/*', ':cust_123', '/x.ts');
const pattern = fc
  .tuple(fc.array(word, { minLength: 1, maxLength: 5 }), fc.constantFrom('', ':**', '/**'))
  .map(([tokens, rest]) => textOf(tokens, rest));

describe('laws', () => {
  test('containment is reflexive and transitive, and implies overlap', () => {
    fc.assert(
      fc.property(pattern, pattern, pattern, (a, b, c) => {
        expect(contains(a, a)).toBe(true);
        if (contains(a, b) && contains(b, c)) expect(contains(a, c)).toBe(true);
        if (contains(a, b)) expect(overlaps(a, b)).toBe(true);
        expect(overlaps(a, b)).toBe(overlaps(b, a));
      }),
      { numRuns: 5000 },
    );
  });

  test('the normal form is idempotent', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 12 }), (text) => {
        for (const normalize of [normalizeScope, normalizeAction]) {
          let normal: string;
          try {
            normal = normalize(text);
          } catch (error) {
            expect(error).toBeInstanceOf(AuthorityError);
            continue;
          }
          expect(normalize(normal)).toBe(normal);
        }
      }),
      { numRuns: 5000 },
    );
  });

  test('any text becomes exactly one segment, and different texts different ones', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 8 }),
      fc.string({
        unit: fc.constantFrom(':', '/', '*', '.', '~', '%', '2', 'e', '\\', 'a'),
        maxLength: 6,
      }),
    );
    fc.assert(
      fc.property(text, text, (left, right) => {
        expect(covers('role:*', `role:${segment(left)}`)).toBe(true);
        if (left.normalize('NFC') !== right.normalize('NFC')) {
          expect(covers(`role:${segment(left)}`, `role:${segment(right)}`)).toBe(false);
        }
      }),
      { numRuns: 5000 },
    );
  });
});

describe('examples of the design', () => {
  test.each([
    ['fs:/repo/src/**', 'fs:/repo/src/a/b.ts', true],
    ['fs:/repo/src/**', 'fs:/repo/src', false],
    ['fs:/repo/*', 'fs:/repo/a', true],
    ['fs:/repo/*', 'fs:/repo/a/b', false],
    ['fs:/fs', 'fs:/fsx', false],
    ['fs:*', 'fs:/repo', false],
    ['fs:**', 'fs:/repo/a', true],
    ['api:stripe:customers:*', 'api:stripe:customers:cust_123', true],
    ['api:stripe:*', 'api:stripe:customers:cust_123', false],
    ['db:postgres:mydb:**', 'db:postgres:mydb:users:7', true],
    ['db:postgres:*:users:*', 'db:postgres:mydb:users:7', true],
    ['email:outbox:user@example.com', 'email:outbox:user@example.com', true],
    ['**', 'anything', true],
    ['spend', 'spend:more', false],
  ])('%s covers %s: %s', (wider, name, expected) => {
    expect(covers(wider, name)).toBe(expected);
  });

  test('a pattern that is asked for must be granted whole', () => {
    expect(contains('db:users:*', 'db:users:**')).toBe(false);
    expect(contains('db:users:**', 'db:users:*')).toBe(true);
  });

  test('scopes get NFC and a lower-case scheme, and no other change', () => {
    expect(normalizeScope('FS:/Repo/Cafe\u0301')).toBe('fs:/Repo/Caf\u00e9');
    expect(normalizeScope('/Repo')).toBe('/Repo');
    expect(normalizeAction('Book:Flight')).toBe('Book:Flight');
  });
});

describe('refused texts', () => {
  test.each([
    ['', 'empty'],
    ['a::b', 'empty segment'],
    ['a:', 'empty segment'],
    ['fs:/', 'empty segment'],
    ['fs:/a/', 'empty segment'],
    ['fs://a', 'empty segment'],
    ['fs:/data/p1/../p2', 'segment ..'],
    ['fs:..', 'segment ..'],
    ['fs:repo/../etc', 'segment ..'],
    ['fs:/a/./b', 'segment .'],
    ['fs:/a/%2e%2e/b', 'escapes'],
    ['fs:/a%2Fb', 'escapes'],
    ['fs:/a%5cb', 'escapes'],
    ['fs:/a%252e', 'escapes'],
    ['fs:/a%00', 'escapes'],
    ['fs:\\a', 'backslash'],
    ['fs:/a\u0000', 'control'],
    ['fs:/a\nb', 'control'],
    ['fs:/\ud800', 'surrogate'],
    ['fs:/a*', 'whole segment'],
    ['fs:/***', 'whole segment'],
    ['fs:/**/a', '** before'],
    ['**:a', '** before'],
    ['/a:/b', 'path right after'],
    ['\u0441\u044b:a', 'ASCII'],
    ['x'.repeat(MAX_NAME_LENGTH + 1), 'longer'],
  ])('%j: %s', (text, problem) => {
    expect(() => normalizeScope(text)).toThrowError(
      expect.objectContaining({
        code: 'bad_argument',
        evidence: { text: expect.any(String), problem: expect.stringContaining(problem) },
      }),
    );
  });

  test('a name must have no star', () => {
    expect(() => covers('a:**', 'a:*')).toThrowError(
      expect.objectContaining({
        code: 'bad_argument',
        message: expect.stringContaining('has a star where one exact name is needed.'),
      }),
    );
  });

  test('a value that is not a string is refused, not converted', () => {
    for (const value of [null, undefined, 7, {}, ['a']]) {
      expect(() => normalizeScope(value as string)).toThrowError(
        expect.objectContaining({ code: 'bad_argument' }),
      );
    }
  });
});
