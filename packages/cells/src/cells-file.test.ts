import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { cellNamed, isCellsUrl, partsOfCellsUrl, readCellsFile } from './cells-file.ts';

const GOOD = 'root: sqlite:./root.db\ncells:\n  one: { store: sqlite:./one.db }\n';

function written(text: string | Uint8Array): string {
  const folder = mkdtempSync(join(tmpdir(), 'assize-cells-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'cells.yaml'), text);
  return join(folder, 'cells.yaml');
}

test('paths of SQLite and archives are relative to the file, and others stay', () => {
  const file = written(`
root: sqlite:root.db
silence: 20
cells:
  one: { store: 'sqlite:./one.db', url: 'https://one.example/', archive: 'file:old' }
  two: { store: 'postgres://a@db/ledgers?schema=two', archive: 's3:bucket/two' }
  three: { store: 'sqlite:/var/three.db', url: 'http://127.0.0.1:4519' }
`);
  const folder = join(file, '..');
  expect(readCellsFile(file)).toEqual({
    file,
    root: `sqlite:${folder}/root.db`,
    silenceMs: 20_000,
    cells: [
      {
        name: 'one',
        store: `sqlite:${folder}/one.db`,
        url: 'https://one.example',
        archive: `file:${folder}/old`,
      },
      { name: 'two', store: 'postgres://a@db/ledgers?schema=two', archive: 's3:bucket/two' },
      { name: 'three', store: 'sqlite:/var/three.db', url: 'http://127.0.0.1:4519' },
    ],
  });
});

test('without a time of silence it is 15 seconds', () => {
  expect(readCellsFile(written(GOOD)).silenceMs).toBe(15_000);
});

describe('a file with a fault', () => {
  const one = (members: string): string =>
    `root: sqlite:./root.db\ncells:\n  one: { ${members} }\n`;
  const faults: readonly (readonly [what: string, text: string, named: string])[] = [
    ['no text', '', 'object'],
    ['a list', '- root: a\n', 'object'],
    ['no YAML', 'root: [', 'not YAML'],
    ['the same cell twice', `${GOOD}  one: { store: sqlite:./b.db }\n`, 'not YAML'],
    ['an alias', 'root: &a sqlite:./root.db\ncells: { one: { store: *a } }\n', 'alias'],
    ['an alias of nothing', 'root: *a\ncells: { one: { store: sqlite:./a.db } }\n', 'alias'],
    ['no root', 'cells: { one: { store: sqlite:./a.db } }\n', 'root'],
    ['an empty root', GOOD.replace('sqlite:./root.db', "''"), 'root'],
    ['a long root', GOOD.replace('./root.db', 'x'.repeat(5_000)), 'root'],
    ['no cells', 'root: sqlite:./root.db\n', 'cells'],
    ['an empty set of cells', 'root: sqlite:./root.db\ncells: {}\n', 'at least one cell'],
    ['cells in a list', 'root: sqlite:./root.db\ncells: [one]\n', 'cells'],
    ['another member', `${GOOD}roots: 1\n`, 'roots'],
    ['another member of a cell', one('store: sqlite:./a.db, shard: 1'), 'shard'],
    ['no store', one('url: http://one.example'), '/cells/one/store'],
    ['a store that is a number', one('store: 5'), '/cells/one/store'],
    ['an invalid address', one('store: sqlite:./a.db, url: one.example'), '/cells/one/url'],
    ['an address of a file', one('store: sqlite:./a.db, url: "file:///one"'), '/cells/one/url'],
    [
      'an address with a path',
      one('store: sqlite:./a.db, url: "http://one.example/assize"'),
      '/cells/one/url',
    ],
    [
      'an address with a password',
      one('store: sqlite:./a.db, url: "http://a:b@one.example"'),
      '/cells/one/url',
    ],
    ['an empty archive', one("store: sqlite:./a.db, archive: ''"), '/cells/one/archive'],
    ['a name in capitals', GOOD.replace('one:', 'One:'), '/cells/One: a name of a cell'],
    ['a name with a colon', GOOD.replace('one:', '"one:two":'), 'name of a cell'],
    ['a long name', GOOD.replace('one:', `${'a'.repeat(64)}:`), 'name of a cell'],
    ['a name that begins with a dash', GOOD.replace('one:', '"-one":'), 'name of a cell'],
    ['a silence of four seconds', `silence: 4\n${GOOD}`, 'silence'],
    ['a silence of more than an hour', `silence: 3601\n${GOOD}`, 'silence'],
    ['a silence in fractions', `silence: 7.5\n${GOOD}`, 'silence'],
    ['a silence as text', `silence: "15"\n${GOOD}`, 'silence'],
    ['one store for two cells', `${GOOD}  two: { store: sqlite:one.db }\n`, 'one store'],
    ['one store for a cell and the root', one('store: sqlite:root.db'), 'one store'],
  ];

  test.each(faults)('%s is refused, and named', (_, text, named) => {
    const file = written(text);
    expect(() => readCellsFile(file)).toThrow(
      expect.objectContaining({
        code: 'bad_config',
        message: expect.stringContaining(named),
        evidence: { file },
      }),
    );
  });

  test('a misfit has the field, the limit and the remedy in one sentence', () => {
    const messageOf = (text: string): string => {
      const file = written(text);
      try {
        readCellsFile(file);
        return '';
      } catch (error) {
        return (error as Error).message.replace(`The file of cells ${file}: `, '');
      }
    };
    const silence =
      '/silence: it must be a whole number of seconds from 5 to 3600. Omit it for 15.';
    for (const value of ['4', '3601', '7.5', '"15"', 'no'])
      expect(messageOf(`silence: ${value}\n${GOOD}`)).toBe(silence);
    const root =
      '/root: it must be the URL of the store of the root log, such as postgres://assize@db0.example/root.';
    for (const value of ['', "root: ''\n", 'root: 5\n'])
      expect(messageOf(GOOD.replace(/root: .*\n/, value))).toBe(root);
    expect(messageOf(GOOD.replace('root:', 'roots:'))).toContain('there is no field "roots"');
    expect(messageOf(one('store: 5'))).toBe(
      '/cells/one/store: it must be a string, but is a number.',
    );
    expect(messageOf('root: sqlite:./root.db\n')).toBe(
      '/cells: it must be an object, but is missing.',
    );
  });

  test('a URL that is of no store is refused as elsewhere', () => {
    for (const url of ['mysql://db/a', 'cells:cells.yaml', 'one.db'])
      expect(() => readCellsFile(written(one(`store: '${url}'`))), url).toThrow(
        expect.objectContaining({ code: 'store_unknown' }),
      );
  });

  test('a file that cannot be read is refused with the cause', () => {
    for (const [file, named] of [
      ['/nowhere/cells.yaml', 'ENOENT'],
      [tmpdir(), 'EISDIR'],
      ['a\0b', 'ERR_INVALID_ARG_VALUE'],
      ['', 'names no file'],
    ] as const)
      expect(() => readCellsFile(file), named).toThrow(
        expect.objectContaining({ code: 'bad_config', message: expect.stringContaining(named) }),
      );
  });

  test('any text is read, or refused with an error of its own', () => {
    const pieces = fc.constantFrom(
      'root: ',
      'cells: ',
      '{',
      '}',
      'one: ',
      'store: ',
      'sqlite:a',
      '&a ',
      '*a',
      '\n',
      ' ',
    );
    const texts = fc.oneof(
      fc.string(),
      fc.array(pieces, { maxLength: 20 }).map((parts) => parts.join('')),
    );
    const file = written('');
    fc.assert(
      fc.property(texts, (text) => {
        writeFileSync(file, text);
        try {
          readCellsFile(file);
        } catch (error) {
          expect(['bad_config', 'store_unknown']).toContain((error as { code?: string }).code);
        }
      }),
    );
  });
});

test('a URL names a file and perhaps a cell', () => {
  const parts = (url: string) => [
    isCellsUrl(url),
    partsOfCellsUrl(url).file,
    partsOfCellsUrl(url).cell,
  ];
  expect(parts('cells:a.yaml')).toEqual([true, 'a.yaml', undefined]);
  expect(parts('cells:a.yaml?cell=one')).toEqual([true, 'a.yaml', 'one']);
  expect(parts('cells:a.yaml?cell=')).toEqual([true, 'a.yaml', '']);
  expect(parts('cells:/b/a?cell=x.yaml?cell=one')).toEqual([true, '/b/a?cell=x.yaml', 'one']);
  expect(parts('cells:')).toEqual([true, '', undefined]);
  expect(isCellsUrl('sqlite:cells:a')).toBe(false);
});

test('any file and cell are read back from their URL', () => {
  const text = fc.string({ minLength: 1 }).filter((value) => !value.includes('?'));
  fc.assert(
    fc.property(text, fc.option(text, { nil: undefined }), (file, cell) => {
      const url = `cells:${file}${cell === undefined ? '' : `?cell=${cell}`}`;
      expect(partsOfCellsUrl(url)).toEqual({ file, cell });
    }),
  );
});

test('a cell is found by its whole name', () => {
  const file = readCellsFile(written(`${GOOD}  constructor: { store: sqlite:./two.db }\n`));
  expect(cellNamed(file, 'one').name).toBe('one');
  expect(cellNamed(file, 'constructor').name).toBe('constructor');
  for (const name of [undefined, '', 'on', 'One', '__proto__', 'toString'])
    expect(() => cellNamed(file, name), name).toThrow(
      expect.objectContaining({
        code: 'not_found',
        message: expect.stringContaining('Write cells:FILE?cell=NAME with'),
        evidence: { cells: ['one', 'constructor'] },
      }),
    );
});
