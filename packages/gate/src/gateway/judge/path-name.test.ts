import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isUnder, mayBeUnder, readPath } from './path-name.ts';

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
