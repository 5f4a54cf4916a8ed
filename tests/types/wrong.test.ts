import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const DIRECTIVE = /^\s*\/\/ @ts-expect-error .*$/;

/** The errors that the compiler finds in files that stand in the repository for the time, by file and line. */
function errorsOf(files: Readonly<Record<string, string>>): string[] {
  const folder = mkdtempSync(join(root, 'dist-types-'));
  try {
    for (const [name, source] of Object.entries(files)) writeFileSync(join(folder, name), source);
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ extends: '../tsconfig.json', include: ['*.ts'] }));
    execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder], { encoding: 'utf8' });
    return [];
  } catch (error) {
    const said = String((error as { stdout: unknown }).stdout);
    return [...said.matchAll(/^(?:.*\/)?([\w.-]+)\((\d+),\d+\): error TS(\d+)/gm)].map(
      ([, file, line, code]) => `${file}:${line}:${code === '2578' ? 'unused' : 'error'}`,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const names = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.test-d.ts'));

test('every line that must not compile does not, each by itself', () => {
  const expected: string[] = [];
  const files = Object.fromEntries(
    names.map((name) => {
      const lines = readFileSync(join(import.meta.dirname, name), 'utf8').split('\n');
      for (const [i, line] of lines.entries()) if (DIRECTIVE.test(line)) expected.push(`${name}:${i + 2}:error`);
      return [name, lines.map((line) => (DIRECTIVE.test(line) ? '' : line)).join('\n')];
    }),
  );
  const found = errorsOf(files);
  expect(expected.length).toBeGreaterThan(40);
  expect(found).toEqual(expected);
});

test('a line that compiles where none should is an error', () => {
  const source = "import { pass } from 'assize';\n// @ts-expect-error it compiles\nexport const fine = pass;\n";
  expect(errorsOf({ 'fine.ts': source })).toEqual(['fine.ts:2:unused']);
});

/** The parts of a page that are programs, under the names that they say, or their page's. */
function programs(page: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [, says = '', code = ''] of readFileSync(join(root, page), 'utf8').matchAll(
    /^```ts(.*)\n([\s\S]*?)^```$/gm,
  )) {
    const name = says.trim() || basename(page, '.md');
    const file = name.endsWith('.ts') ? name : `${name}.ts`;
    found[file] = `${found[file] ?? ''}${code}`;
  }
  return found;
}

test.each(['README.md', 'docs/guide/domains.md', 'docs/guide/erasure.md', 'docs/reference/kernel.md'])(
  'the programs of %s compile',
  (page) => {
    expect(errorsOf(programs(page))).toEqual([]);
  },
);

test('the typecheck of the repository has these files', () => {
  const { include } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')) as { include: string[] };
  expect(include).toContain('tests');
  expect(names.length).toBeGreaterThan(0);
});
