import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { FOLDERS, specifiers, violations } from '../../scripts/layers.ts';

const root = join(import.meta.dirname, '../..');

test('every import follows the reading order', () => {
  expect(violations(root)).toEqual([]);
});

test.each(Object.entries(FOLDERS))('the folders of %s exist', (room, folders) => {
  expect(folders.filter((folder) => !existsSync(join(root, room, folder)))).toEqual([]);
});

/** The reasons why a file with one import is refused, beside the manifests of this repository. */
function reasons(file: string, specifier: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'assize-layers-'));
  try {
    for (const manifest of globSync('packages/*/package.json', { cwd: root }))
      cpSync(join(root, manifest), join(folder, manifest));
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), `import '${specifier}';`);
    return violations(folder).map(({ why }) => why);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test.each([
  [
    'a package that stands later',
    'packages/audit/src/witness/a.ts',
    '@assize/cli/bin',
    'does not name @assize/cli',
  ],
  [
    'a later room of its package',
    'packages/assize/src/kernel/a.ts',
    '#stores',
    'kernel may import',
  ],
  [
    'another room by a path',
    'packages/assize/src/kernel/a.ts',
    '../base/index.ts',
    'by its # name',
  ],
  [
    'another package by a path',
    'packages/gate/src/mcp/a.ts',
    '../../../assize/src/base/index.ts',
    'by its name',
  ],
  [
    'the runtime, from conformance',
    'packages/testing/src/conformance/a.ts',
    'assize/internal/runtime',
    'of the core',
  ],
  [
    'the suites, from conformance',
    'packages/testing/src/conformance/a.ts',
    '../store-model.ts',
    'by its # name',
  ],
  ['a library that is not declared', 'packages/cells/src/a.ts', 'hono', 'does not name hono'],
  ['zod, from the ledger', 'packages/assize/src/ledger/a.ts', 'zod', 'imports zod'],
  ['Node, from pure rules', 'packages/assize/src/kernel/a.ts', 'node:fs', 'is pure'],
  [
    'a later folder of its room',
    'packages/assize/src/kernel/state/a.ts',
    '../judge/b.ts',
    'may not import judge/',
  ],
  [
    'a folder without a place',
    'packages/assize/src/kernel/new/a.ts',
    '../state/b.ts',
    'is in no folder',
  ],
  ['a folder that is in no room', 'packages/assize/src/new/a.ts', './b.ts', 'is in no room'],
])('an import of %s is refused', (_what, file, specifier, why) => {
  expect(reasons(file, specifier)).toEqual([expect.stringContaining(why)]);
});

test('an import that the reading order allows passes', () => {
  expect(reasons('packages/testing/src/conformance/a.ts', 'assize/internal/canon')).toEqual([]);
  expect(reasons('packages/assize/src/stores/a.ts', '@assize/postgres')).toEqual([]);
});

test('each room of a package has a name for the tests of the repository', () => {
  const { imports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    imports: object;
  };
  const rooms = globSync(['packages/*/src/index.ts', 'packages/*/src/*/index.ts'], { cwd: root });
  // These folders have an index above them.
  const parts =
    /\/public\/|^packages\/(cells|cli|postgres|server|testing)\/src\/(?!conformance\/)[^/]+\/index\.ts$/;
  const named = new Set(Object.values(imports));
  expect(rooms.filter((file) => !parts.test(file) && !named.has(`./${file}`))).toEqual([]);
});

test('static, type, dynamic and re-export imports are found, comments are not', () => {
  const source = `
    import { a } from '#canon';
    import type { b } from "../ledger/index.ts";
    export { c } from './c.ts';
    const d = await import('node:fs');
    // import { e } from '#nothing';
    /* import { f } from '#nothing'; */
    const text = Buffer.from('not an import');
  `;
  expect(specifiers(source)).toEqual(['#canon', '../ledger/index.ts', './c.ts', 'node:fs']);
});
