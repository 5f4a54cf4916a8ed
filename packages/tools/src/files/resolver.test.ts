import { linkSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { cases } from '../../../../tests/support/cases.ts';
import { newFolder } from '../../../../tests/support/tools/files-stage.ts';
import { fileResolver, fileScope } from './index.ts';

const asked = { access: 'write', isPattern: false, signal: new AbortController().signal } as const;
let root: string;

beforeEach(() => {
  const folder = realpathSync(newFolder());
  onTestFinished(() => rmSync(folder, { recursive: true }));
  root = join(folder, 'root');
  mkdirSync(join(root, 'd'), { recursive: true });
});

const resolved = (scope: string): unknown =>
  fileResolver(root)(scope.replace('ROOT', `fs:${root}`), asked);
const shown = (names: unknown): unknown =>
  JSON.parse(JSON.stringify(names).replaceAll(`fs:${root}`, 'ROOT'));

describe('the names of a file', () => {
  test.each([
    ['ROOT/a', ['ROOT/a']],
    ['ROOT/not/there', ['ROOT/not/there']],
    ['ROOT/link/b', ['ROOT/d/b']],
    ['ROOT/link/**', ['ROOT/d/**']],
    ['ROOT/link/*', ['ROOT/d/*']],
    ['ROOT/d/*/link', ['ROOT/d/*/link']],
    ['ROOT/far', ['ROOT/d/a']],
    ['ROOT/~2a', ['ROOT/~2a']],
    ['ROOT/e\u0301', ['ROOT/\u00e9']],
    ['ROOT', ['ROOT']],
    ['ROOT/**', ['ROOT/**']],
  ])('%s are %j', (scope, names) => {
    symlinkSync('d', join(root, 'link'));
    symlinkSync(`${root}/link/../d/a`, join(root, 'far'));
    expect(JSON.stringify(shown(resolved(scope))).normalize('NFC')).toBe(JSON.stringify(names));
  });

  test('are one more where it has a hard link, the same for each', () => {
    writeFileSync(join(root, 'a'), 'a');
    linkSync(join(root, 'a'), join(root, 'd/twin'));
    const [one, inode] = resolved('ROOT/a') as string[];
    expect([one, inode]).toEqual([`fs:${root}/a`, expect.stringMatching(/^fs:inode:\d+:\d+$/)]);
    expect(resolved('ROOT/d/twin')).toEqual([`fs:${root}/d/twin`, inode]);
    expect(resolved(inode!)).toBe(inode);
  });

  test('are left to others outside of the root', () => {
    for (const scope of [
      'fs:/elsewhere/a',
      'fs:/**',
      'fs:*',
      'fs:/*/a',
      'fs:disk:a',
      'fs:/a:b',
      `fs:${root}er/a`,
    ])
      expect(resolved(scope)).toBe(scope);
  });

  test('are found by a link on the way there', () => {
    const way = join(dirname(root), 'way');
    symlinkSync(root, way);
    expect(resolved(`fs:${way}/d`)).toEqual([`fs:${root}/d`]);
  });

  test.each([
    ['leads out', () => symlinkSync('/', join(root, 'out')), 'ROOT/out/etc'],
    ['leads in a circle', () => symlinkSync('out', join(root, 'out')), 'ROOT/out'],
    ['is of the tools', () => undefined, 'ROOT/.assize/x'],
  ])('are refused if it %s', (_, make, scope) => {
    make();
    expect(() => resolved(scope)).toThrow();
  });

  test('are the scopes of the file tools, and names of themselves, by any link', () => {
    const name = fc.constantFrom('a', 'b', 'd', 'd/a', 'd/b', 'd/e');
    const target = fc.constantFrom('a', 'b', 'd', '../a', '../d', './d/./a', 'd/..', 'e');
    fc.assert(
      fc.property(
        fc.dictionary(name, target),
        name,
        fc.constantFrom('', '/a', '/d/b'),
        (links, at, below) => {
          rmSync(root, { recursive: true });
          mkdirSync(join(root, 'd'), { recursive: true });
          for (const [from, to] of Object.entries(links)) {
            if (from !== 'd' && from.startsWith('d') && 'd' in links) continue;
            rmSync(join(root, from), { recursive: true, force: true });
            symlinkSync(to, join(root, from));
          }
          const path = join(root, at) + below;
          let real: string | undefined;
          try {
            real = realpathSync(path);
          } catch {
            // A file that is not there has a name too, but none that the system would tell.
          }
          let names: unknown;
          try {
            names = resolved(`fs:${path}`);
          } catch {
            expect(real === undefined || !`${real}/`.startsWith(`${root}/`)).toBe(true);
            return;
          }
          if (real !== undefined) expect(names).toEqual([`fs:${real}`]);
          expect(names).toEqual([fileScope(root, path)]);
          expect(resolved((names as string[])[0]!)).toEqual(names);
        },
      ),
      { numRuns: cases(1_000) },
    );
  });
});

test('a root that can’t be used is refused', () => {
  expect(() => fileResolver(join(root, 'none'))).toThrow(
    expect.objectContaining({ reason: 'invalid_tool' }),
  );
});
