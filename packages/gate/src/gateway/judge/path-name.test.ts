import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { folderOf, isUnder, mayBeUnder, patternFor, readPath, readPattern } from './path-name.ts';

const at = (text: unknown, root?: string): string | undefined => {
  const read = readPath(text, root);
  return 'value' in read ? read.value : undefined;
};

describe('a path with two meanings is refused', () => {
  test.each([
    '/repo/../etc/passwd',
    '/repo/..',
    '/repo/./x',
    '/repo//x',
    '//repo',
    '/repo/%2e%2e/etc',
    '/repo/%2E%2E/etc',
    '/repo%2fx',
    '/repo/%5c..',
    '/repo/%252e%252e/etc',
    '/repo\\..\\etc',
    '/repo/x\u0000.txt',
    '/repo/\nx',
    '/repo/*',
    '/repo/**',
    '/repo/x.',
    '/repo/x ',
    '/repo/x /y',
    'repo/x',
    './x',
    '~/x',
    'file:///repo/x',
    'C:/repo',
    '',
    ' /repo',
    `/${'a'.repeat(1_024)}`,
    '/repo/\ud800',
    5,
    null,
    ['/repo'],
  ])('%j', (given) => expect(at(given)).toBeUndefined());
});

test('a plain path is its own normal form, and NFC is the only repair', () => {
  for (const path of ['/', '/repo', '/repo/a.b-c_d/é', '/repo/...x', '/repo/.git', '/a b/c'])
    expect(at(path)).toBe(path);
  expect(at('/repo/e\u0301')).toBe('/repo/\u00e9');
});

test('a relative path is read below the root of its tool, and cannot leave it', () => {
  expect(at('src/x.ts', '/repo')).toBe('/repo/src/x.ts');
  expect(at('x', '/')).toBe('/x');
  expect(at('/etc/x', '/repo')).toBe('/etc/x');
  for (const path of ['../x', './x', 'a/../../x', '']) expect(at(path, '/repo')).toBeUndefined();
});

test('a prefix ends at a separator', () => {
  expect(isUnder('/fs/x', '/fs')).toBe(true);
  expect(isUnder('/fs', '/fs')).toBe(true);
  expect(isUnder('/fsx', '/fs')).toBe(false);
  expect(isUnder('/f', '/fs')).toBe(false);
  expect(isUnder('/', '/fs')).toBe(false);
  expect(isUnder('/any', '/')).toBe(true);
  expect(isUnder('/FS/x', '/fs')).toBe(false);
});

test('a rule that refuses also meets other forms of its folder', () => {
  for (const path of ['/Repo/SECRETS/x', '/repo/ſecrets', '/ｒepo/secrets/x', '/repo/secrets'])
    expect(mayBeUnder(path, '/repo/secrets')).toBe(true);
  for (const path of ['/repo/secretsx', '/repo', '/repo/secret'])
    expect(mayBeUnder(path, '/repo/secrets')).toBe(false);
});

test('below means the same as a comparison of names', () => {
  const name = fc.constantFrom('a', 'b', 'ab', 'a-b');
  const names = fc.array(name, { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(names, names, (path, prefix) => {
      const expected = prefix.every((each, i) => path[i] === each);
      const [p, q] = [`/${path.join('/')}`, `/${prefix.join('/')}`];
      expect(isUnder(p, q)).toBe(expected);
      expect(mayBeUnder(p.toUpperCase(), q)).toBe(expected);
    }),
  );
});

/** Whether the names of a pattern lead to a path or to a folder above it, tried in every way. */
function meetsNaively(path: readonly string[], pattern: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return true;
  if (first === '**' && rest.length === 0) return path.length > 0;
  if (first === '**')
    return path.some((_, i) => meetsNaively(path.slice(i), rest)) || meetsNaively([], rest);
  const [name, ...below] = path;
  return name !== undefined && nameMeets(name, first) && meetsNaively(below, rest);
}

function nameMeets(name: string, wanted: string): boolean {
  if (wanted === '') return name === '';
  if (wanted.startsWith('*'))
    return nameMeets(name, wanted.slice(1)) || (name !== '' && nameMeets(name.slice(1), wanted));
  return name.startsWith(wanted.charAt(0)) && nameMeets(name.slice(1), wanted.slice(1));
}

test('a pattern with stars means the same as a try of every way', () => {
  const name = fc.constantFrom('a', 'b', 'ab', '.env', 'aab');
  const wanted = fc.constantFrom('a', '*', '**', 'a*', '*b', 'a*b', '.e*', '*a*');
  const path = fc.array(name, { minLength: 1, maxLength: 5 });
  const pattern = fc.array(wanted, { minLength: 1, maxLength: 4 });
  let met = 0;
  fc.assert(
    fc.property(path, pattern, (names, stars) => {
      fc.pre(stars.some((each) => each.includes('*')));
      const expected = meetsNaively(names, stars);
      met += expected ? 1 : 0;
      expect(isUnder(`/${names.join('/')}`, `/${stars.join('/')}`)).toBe(expected);
      expect(mayBeUnder(`/${names.join('/').toUpperCase()}`, `/${stars.join('/')}`)).toBe(expected);
    }),
  );
  expect(met).toBeGreaterThan(0);
});

test.each([
  ['**/.env', '/repo/pkg/a/.env', true],
  ['**/.env', '/.env', true],
  ['**/.env', '/repo/.env.example', false],
  ['**/.env*', '/repo/.env.example', true],
  ['/repo/**/*.pem', '/repo/a.pem', true],
  ['/repo/**/*.pem', '/repo/x/y/a.pem', true],
  ['/repo/**/*.pem', '/other/a.pem', false],
  ['/repo/**', '/repo', false],
  ['/repo/*/secrets', '/repo/a/secrets/deep/key', true],
  ['/repo/a.b', '/repo/axb', false],
])('%s and %s: %s', (pattern, path, expected) => expect(isUnder(path, pattern)).toBe(expected));

test('a pattern with many stars is compared in no time that the path decides', () => {
  const pattern = `${'/**/a'.repeat(20)}/**/b`;
  expect(isUnder('/a'.repeat(500), pattern)).toBe(false);
  expect(isUnder(`/${'a'.repeat(1_000)}`, `/${'a*'.repeat(40)}b`)).toBe(false);
});

test('the path of a rule begins at the root, at the project, or anywhere', () => {
  for (const pattern of ['/', '/repo', '**/.env', '/repo/**/*.pem', '${project}', '${project}/a'])
    expect(readPattern(pattern)).toEqual({ value: pattern });
  for (const pattern of [
    '',
    '.env',
    '**',
    '*',
    'a/**/b',
    '/a/**b',
    '/a/***',
    '${project}a',
    '/a//*',
  ])
    expect(readPattern(pattern)).toHaveProperty('problem');
  expect(readPattern('/repo/../*')).toHaveProperty('problem');
});

test('a path of the project needs the project of the call', () => {
  expect(patternFor('${project}/src', '/repo')).toBe('/repo/src');
  expect(patternFor('${project}', '/repo')).toBe('/repo');
  expect(patternFor('${project}/src', '/')).toBe('/src');
  expect(patternFor('${project}', '/')).toBe('/');
  expect(patternFor('${project}/src', undefined)).toBeUndefined();
  expect(patternFor('/src', undefined)).toBe('/src');
});

test('the fixed folders of a pattern end before its first star', () => {
  expect(folderOf('/repo/**/*.pem')).toBe('/repo');
  expect(folderOf('/repo/a*/b')).toBe('/repo');
  expect(folderOf('**/.env')).toBe('/');
  expect(folderOf('/repo/.env')).toBe('/repo/.env');
});
