/** The promises of README.md: its first screen, its program, its commands. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');

function block(language: string): string {
  return readme.split(`\`\`\`${language}\n`)[1]?.split('\n```')[0] ?? '';
}

// Inside the repository, so that `assize` is this package.
const folder = mkdtempSync(join(root, 'dist-readme-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function node(...given: readonly string[]): string {
  const env = { ...process.env, NO_COLOR: '1' };
  return execFileSync(process.execPath, given, { cwd: folder, env, encoding: 'utf8' });
}

test('the page is short, and begins with a program of 12 lines at 80 columns', () => {
  const lines = readme.split('\n');
  expect(lines.length).toBeLessThanOrEqual(110);
  expect(lines.slice(0, 26).join('\n').match(/^```/gm)).toHaveLength(2);
  const program = block('ts team.ts').split('\n');
  expect(program.length).toBeLessThanOrEqual(12);
  expect(Math.max(...program.map((line) => line.length))).toBeLessThanOrEqual(80);
  for (const other of ['workflow engine', 'policy engine', 'framework’s approval step'])
    expect(readme.replaceAll("'", '’')).toContain(`**Not a ${other}.**`);
});

test('the program prints the output in its comment, and its ledger verifies', () => {
  writeFileSync(join(folder, 'team.ts'), block('ts team.ts'));
  const [, ...said] = /Prints "([^"]+)", then "([^"]+)"/.exec(block('ts team.ts')) ?? [];
  expect(node('team.ts').trimEnd().split('\n')).toEqual(said);
  const assize = (...words: readonly string[]): string =>
    node(join(root, 'packages/cli/src/main.ts'), ...words, '--store', 'sqlite:./team.db', '--json');
  expect(JSON.parse(assize('verify'))).toMatchObject({ valid: true });
  expect(assize('log', 'budget').match(/"rejection"/g)).toHaveLength(1);
});

test('the first commands are npm start and npm test, and both are scripts', () => {
  const commands = block('sh')
    .split('\n')
    .map((line) => line.split('#')[0]?.trim());
  expect(commands).toEqual(['npm ci && npm start', 'npm ci && npm test']);
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(['start', 'test']));
});

test('the commands of the labs run', () => {
  const page = readFileSync(join(root, 'labs/README.md'), 'utf8');
  const rows = page.split('\n').filter((line) => line.startsWith('| '));
  const commands = rows.flatMap((row) =>
    [...row.matchAll(/`npx assize-experiments ([^`]+)`/g)].map(([, rest = '']) => rest),
  );
  expect(commands.length).toBeGreaterThan(4);
  for (const rest of commands) {
    // The data of a benchmark is not in the repository: the help shows that the command and its
    // options exist.
    const words = /[A-Z]{3}/.test(rest)
      ? [rest.split(' ')[0] as string, '--help']
      : rest.split(' ');
    const printed = node(join(root, 'labs/cli/main.ts'), ...words);
    for (const option of rest.match(/--\w+/g) ?? []) expect(printed).toContain(option);
    expect(printed).not.toBe('');
  }
});
