/**
 * The tables of folders in ARCHITECTURE.md: their files exist, and no folder imports a later row.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { specifiers } from '../../scripts/layers.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');

interface Folder {
  readonly name: string;
  /** Names in backticks in the second column. */
  readonly named: readonly string[];
}

/**
 * The folders of the tables with a header that starts with `word`, by the folders that the header
 * names.
 */
function tables(word: 'folder of' | 'folders of'): { folders: string[]; rows: Folder[] }[] {
  return [...page.matchAll(new RegExp(`^\\| ${word} (.+?) \\|.*\\n\\|[-|]+\\n((?:\\|.*\\n)+)`, 'gm'))].map(
    ([, header = '', body = '']) => ({
      folders: namesIn(header),
      rows: body
        .trimEnd()
        .split('\n')
        .map((row) => {
          const [, first = '', second = ''] = row.split('|');
          return { name: namesIn(first)[0] as string, named: namesIn(second) };
        }),
    }),
  );
}

function namesIn(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
}

test('the tables of kernel, ledger, runtime and server are found', () => {
  expect(tables('folder of').map(({ folders, rows }) => [folders[0], rows.length >= 3])).toEqual([
    ['packages/assize/src/kernel/', true],
    ['packages/assize/src/ledger/', true],
    ['packages/assize/src/runtime/', true],
    ['packages/server/src/', true],
  ]);
  expect(tables('folders of').map(({ folders }) => folders)).toEqual([
    ['packages/assize/src/stores/sqlite/', 'packages/postgres/src/'],
  ]);
});

test.each([...tables('folder of'), ...tables('folders of')])('the rows of $folders name files that exist', (table) => {
  const missing = table.folders.flatMap((folder) =>
    table.rows.flatMap(({ name, named }) =>
      ['', ...named.filter((each) => /^[\w-]+(\.ts|\/)$/.test(each))]
        .map((each) => `${folder}${name}${each}`)
        .filter((path) => !existsSync(join(root, path))),
    ),
  );
  expect(missing).toEqual([]);
});

describe.each(tables('folder of'))('$folders', ({ folders: [folder = ''], rows }) => {
  const placeOf = (file: string): number => rows.findIndex(({ name }) => file.startsWith(`${folder}${name}`));
  const files = globSync(`${folder}**/*.ts`, { cwd: root }).filter((file) => !file.endsWith('.test.ts'));

  test('every folder has a row', () => {
    const outside = files.filter((file) => placeOf(file) < 0 && file.slice(folder.length).split('/').length > 1);
    expect(outside.filter((file) => file.split('/').slice(0, -1).join('/') !== `${folder}memory`)).toEqual([]);
  });

  test('no folder imports a later row', () => {
    const upward = files.flatMap((file) =>
      specifiers(readFileSync(join(root, file), 'utf8'))
        .filter((specifier) => specifier.startsWith('.'))
        .map((specifier) => join(dirname(file), specifier))
        .filter((target) => placeOf(file) >= 0 && placeOf(target) > placeOf(file))
        .map((target) => `${file} imports ${target}`),
    );
    expect(upward).toEqual([]);
  });
});
