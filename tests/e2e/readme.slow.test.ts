/** The promises of README.md: its first screen, its program, its commands. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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

test('the first 38 lines have the comparisons and a program of 20 lines', () => {
  const start = readme.split('\n').slice(0, 38).join('\n');
  for (const other of ['workflow engine', 'policy engine', 'framework’s approval step']) {
    expect(start.replaceAll("'", '’')).toContain(`**Not a ${other}.**`);
  }
  expect(start.match(/^```/gm)).toHaveLength(2);
  expect(block('ts team.ts').split('\n').length).toBeLessThanOrEqual(20);
});

test('the program prints the output in its comment, and its ledger verifies', () => {
  writeFileSync(join(folder, 'team.ts'), block('ts team.ts'));
  const [, ...said] = /Prints "([^"]+)", then "([^"]+)"/.exec(block('ts team.ts')) ?? [];
  // The second run gets the rulings of the first, and makes no call again.
  for (const _run of [1, 2]) {
    const printed = node('team.ts').trimEnd().split('\n');
    expect(printed.map((line) => line.trim())).toEqual(said);
    const verified = node(
      join(root, 'packages/cli/src/main.ts'),
      'verify',
      '--store',
      'sqlite:./team.db',
      '--json',
    );
    expect(JSON.parse(verified)).toMatchObject({ valid: true });
    const log = node(
      join(root, 'packages/cli/src/main.ts'),
      'log',
      'team-budget',
      '--store',
      'sqlite:./team.db',
      '--json',
    );
    expect(log.match(/"rejection"/g)).toHaveLength(1);
    const orders = readdirSync(folder).filter((name) => name.startsWith('order-'));
    expect(orders.map((name) => readFileSync(join(folder, name), 'utf8'))).toEqual(['450 euros']);
  }
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

test('the commands of the workspaces run', () => {
  const section = readme.split('## Workspaces')[1]?.split('\n## ')[0] ?? '';
  const commands = [...section.matchAll(/`npx (assize\S*) ([^`]+)`/g)].map(
    ([, name = '', rest = '']) => [name, rest],
  );
  expect(commands.length).toBe(5);
  const programs: Record<string, string> = {
    assize: 'packages/cli/src/main.ts',
    'assize-experiments': 'labs/cli/main.ts',
  };
  for (const [name = '', rest = ''] of commands) {
    // The data of a benchmark is not in the repository: the help shows that the command and its
    // options exist.
    const words = rest.includes('DIR') ? ['adjudicate', '--help'] : rest.split(' ');
    const printed = node(join(root, programs[name] as string), ...words);
    for (const option of rest.match(/--\w+/g) ?? []) expect(printed).toContain(option);
    expect(printed).not.toBe('');
  }
});
