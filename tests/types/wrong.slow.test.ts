import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT_FILES } from '../../packages/cli/src/commands/init/files.ts';

const root = join(import.meta.dirname, '../..');
const DIRECTIVE = /^\s*\/\/ @ts-expect-error .*$/;

/** The repository's own configuration, as in a developer's clone. */
const OWN = { extends: '../tsconfig.json' };

/**
 * The errors that the compiler finds in files written temporarily into the repository, by file and
 * line.
 */
function errorsOf(files: Readonly<Record<string, string>>, config: object = OWN): string[] {
  const folder = mkdtempSync(join(root, 'dist-types-'));
  try {
    for (const [name, source] of Object.entries(files)) {
      mkdirSync(join(folder, dirname(name)), { recursive: true });
      writeFileSync(join(folder, name), source);
    }
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ ...config, include: ['**/*.ts'] }),
    );
    execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder], {
      encoding: 'utf8',
    });
    return [];
  } catch (error) {
    const said = String((error as { stdout: unknown }).stdout);
    return [...said.matchAll(/^(.*)\((\d+),\d+\): error TS(\d+)/gm)].map(
      ([, file = '', line, code]) =>
        `${inFolder(file)}:${line}:${code === '2578' ? 'unused' : 'error'}`,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** As it was named; a file of the repository under its whole path. */
function inFolder(file: string): string {
  return file.replace(/^.*dist-types-\w+\//, '');
}

const names = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.test-d.ts'));

/** The parts of a page that are programs, in the page's folder, under the names that they say. */
function programs(page: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [, says = '', code = ''] of readFileSync(join(root, page), 'utf8').matchAll(
    /^```ts(.*)\n([\s\S]*?)^```$/gm,
  )) {
    const name = says.trim() || 'program.ts';
    const file = `${basename(page, '.md')}/${name}`;
    found[file] = `${found[file] ?? ''}${code}`;
  }
  return found;
}

const pages = ['docs/guide', 'docs/reference', 'labs/experiments/docs'].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`),
);
const shown = withShared(Object.assign({}, ...['README.md', ...pages].map(programs)));

/** The programs, with each imported file that another page shows. Exactly one page shows it. */
function withShared(own: Readonly<Record<string, string>>): Record<string, string> {
  const all: Record<string, string> = { ...own };
  const missing = Object.entries(own).map(([file, code]) => [dirname(file), code] as const);
  for (const [folder, code] of missing)
    for (const [, name = ''] of code.matchAll(/ from '\.\/([\w.-]+\.ts)'/g)) {
      const file = `${folder}/${name}`;
      if (Object.hasOwn(all, file)) continue;
      const found = Object.keys(own).filter((one) => basename(one) === name);
      expect([file, found.length]).toEqual([file, 1]);
      all[file] = own[found[0] as string] as string;
      missing.push([folder, all[file]]);
    }
  for (const [file, code] of Object.entries(own))
    if (/ from '\.\/(?:domains|tools)\//.test(code)) Object.assign(all, ofProject(dirname(file)));
  return all;
}

/** The domains and tools of the project that `assize init` writes, in a folder. */
function ofProject(folder: string): Record<string, string> {
  const written = Object.entries(PROJECT_FILES).filter(([name]) =>
    /^(domains|tools)\/[\w-]+\.ts$/.test(name),
  );
  return Object.fromEntries(written.map(([name, code]) => [`${folder}/${name}`, code]));
}

const erased = Object.fromEntries(
  names.map((name) => {
    const lines = readFileSync(join(import.meta.dirname, name), 'utf8').split('\n');
    return [name, lines.map((line) => (DIRECTIVE.test(line) ? '' : line)).join('\n')];
  }),
);
const fine =
  "import { pass } from 'assize';\n// @ts-expect-error it compiles\nexport const fine = pass;\n";

/**
 * All code that compiles as in the clone, in one run: no file imports another, and most of the time
 * goes to the shared imports.
 */
const errors = errorsOf({ ...erased, 'fine.ts': fine, ...shown });
const errorsIn = (files: Readonly<Record<string, string>>): string[] =>
  errors.filter((error) => Object.hasOwn(files, error.slice(0, error.indexOf(':'))));

test('every line that must not compile does not, each by itself', () => {
  const expected = names.flatMap((name) => {
    const lines = readFileSync(join(import.meta.dirname, name), 'utf8').split('\n');
    return lines.flatMap((line, i) => (DIRECTIVE.test(line) ? [`${name}:${i + 2}:error`] : []));
  });
  expect(expected.length).toBeGreaterThan(40);
  expect(errorsIn(erased)).toEqual(expected);
});

test('a line that compiles where none should is an error', () => {
  expect(errorsIn({ 'fine.ts': fine })).toEqual(['fine.ts:2:unused']);
});

test('the README and most guides show programs', () => {
  expect(new Set(Object.keys(shown).map(dirname)).size).toBeGreaterThan(9);
});

test('every program of the README and the guides compiles in the clone', () => {
  expect(errorsIn(shown)).toEqual([]);
});

test('every program of the README and guides compiles in a separate project', () => {
  expect(errorsOf(shown, tsconfigOfPage())).toEqual([]);
});

test('nothing else is an error', () => {
  expect(errors).toEqual(errorsIn({ ...erased, 'fine.ts': fine, ...shown }));
});

function tsconfigOfPage(): object {
  const [, text = ''] =
    /^```json tsconfig\.json\n([\s\S]*?)^```$/m.exec(
      readFileSync(join(root, 'docs/guide/install.md'), 'utf8'),
    ) ?? [];
  return JSON.parse(text) as object;
}

test('the typecheck of the repository has these files', () => {
  const { include } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')) as {
    include: string[];
  };
  expect(include).toContain('tests');
  expect(names.length).toBeGreaterThan(0);
});
