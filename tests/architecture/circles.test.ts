import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { circles, WORKSPACES } from '../../scripts/layers.ts';

const root = join(import.meta.dirname, '../..');

/** The circles of a temporary tree with these files. */
function circlesOf(files: Readonly<Record<string, string>>): string[][] {
  const folder = mkdtempSync(join(tmpdir(), 'assize-circles-'));
  try {
    for (const workspace of WORKSPACES) mkdirSync(join(folder, workspace));
    mkdirSync(join(folder, 'packages/assize'), { recursive: true });
    const imports = { '#base': './src/base/index.ts', '#canon': './src/canon/index.ts' };
    writeFileSync(
      join(folder, 'packages/assize/package.json'),
      JSON.stringify({ name: 'assize', imports }),
    );
    for (const [path, source] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), source);
    }
    return circles(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('no file of the sources imports itself through others', () => {
  expect(circles(root)).toEqual([]);
});

test('a circle through a type import, a re-export and a # name is found', () => {
  const files = {
    'packages/assize/src/canon/index.ts': "export { a } from './a.ts';",
    'packages/assize/src/canon/a.ts': "import type { B } from '#base';\nexport const a = 1;",
    'packages/assize/src/base/index.ts': "export type { B } from './b.ts';",
    'packages/assize/src/base/b.ts': "import { a } from '#canon';\nexport type B = typeof a;",
    'packages/assize/src/kernel/index.ts': "export const kernel = () => import('./alone.ts');",
    'packages/assize/src/kernel/alone.ts': "import { a } from '#canon';\nexport const alone = a;",
  };
  expect(circlesOf(files)).toEqual([
    [
      'packages/assize/src/base/b.ts',
      'packages/assize/src/base/index.ts',
      'packages/assize/src/canon/a.ts',
      'packages/assize/src/canon/index.ts',
    ],
  ]);
  expect(
    circlesOf({ ...files, 'packages/assize/src/base/b.ts': 'export type B = number;' }),
  ).toEqual([]);
});

test('two circles are two, and a test closes none', () => {
  const files = {
    'packages/assize/src/base/a.ts': "import './b.ts';",
    'packages/assize/src/base/b.ts': "import './a.ts';",
    'packages/assize/src/base/c.ts': "import './d.ts';\nimport './a.ts';",
    'packages/assize/src/base/d.ts': "const c = () => import('./c.ts');",
    'packages/assize/src/base/e.ts': "import './e.test.ts';",
    'packages/assize/src/base/e.test.ts': "import './e.ts';",
  };
  expect(circlesOf(files)).toEqual([
    ['packages/assize/src/base/a.ts', 'packages/assize/src/base/b.ts'],
    ['packages/assize/src/base/c.ts', 'packages/assize/src/base/d.ts'],
  ]);
});
