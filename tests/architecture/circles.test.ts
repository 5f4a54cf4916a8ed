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
    'src/canon/index.ts': "export { a } from './a.ts';",
    'src/canon/a.ts': "import type { B } from '#base';\nexport const a = 1;",
    'src/base/index.ts': "export type { B } from './b.ts';",
    'src/base/b.ts': "import { a } from '#canon';\nexport type B = typeof a;",
    'src/kernel/index.ts': "export const kernel = () => import('./alone.ts');",
    'src/kernel/alone.ts': "import { a } from '#canon';\nexport const alone = a;",
  };
  expect(circlesOf(files)).toEqual([['src/base/b.ts', 'src/base/index.ts', 'src/canon/a.ts', 'src/canon/index.ts']]);
  expect(circlesOf({ ...files, 'src/base/b.ts': 'export type B = number;' })).toEqual([]);
});

test('two circles are two, and a test closes none', () => {
  const files = {
    'src/base/a.ts': "import './b.ts';",
    'src/base/b.ts': "import './a.ts';",
    'src/base/c.ts': "import './d.ts';\nimport './a.ts';",
    'src/base/d.ts': "const c = () => import('./c.ts');",
    'src/base/e.ts': "import './e.test.ts';",
    'src/base/e.test.ts': "import './e.ts';",
  };
  expect(circlesOf(files)).toEqual([
    ['src/base/a.ts', 'src/base/b.ts'],
    ['src/base/c.ts', 'src/base/d.ts'],
  ]);
});
