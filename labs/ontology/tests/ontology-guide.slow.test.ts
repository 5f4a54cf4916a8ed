/**
 * The pages of labs/ontology/docs: writes their files, runs commands and programs, and compares
 * the output.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { blockOf, blocksOf } from '../../../tests/support/process/guide-files.ts';

const root = join(import.meta.dirname, '../../..');
const main = join(root, 'labs/cli/main.ts');
const PAGES = ['ontology', 'derive', 'scaffold', 'build', 'compare', 'draft-module'].map(
  (page) => `labs/ontology/docs/${page}.md`,
);
// Inside the repository, so that `assize` is this package.
const folder = mkdtempSync(join(root, 'dist-guide-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function put(name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}

const node = (...args: string[]): string =>
  execFileSync(process.execPath, args, {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });

function shell(command: string): string {
  // Without a key of its own, a command reports that it creates one.
  const key = { ASSIZE_ROOT_KEY: '1'.repeat(64) };
  const env = {
    ...process.env,
    ...key,
    PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
    NO_COLOR: '1',
  };
  const { stdout, stderr } = spawnSync('sh', ['-c', command], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  return (stdout + stderr).trimEnd();
}

test('the commands and programs print their output', () => {
  put('bin/assize-experiments', `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`);
  chmodSync(join(folder, 'bin/assize-experiments'), 0o755);
  let commands = 0;
  for (const { says, code } of PAGES.flatMap(blocksOf)) {
    const [kind, name] = says.split(' ') as [string, string | undefined];
    if (kind === 'console') {
      const [command = '', ...below] = code.trimEnd().split('\n');
      expect(shell(command.slice(2)), command).toBe(below.join('\n'));
      commands++;
    } else if (kind === 'text') expect(node(name as string)).toBe(code);
    else if (name !== undefined) put(name, code);
  }
  expect(commands).toBe(17);
  expect(readFileSync(join(folder, 'drafted.ttl'), 'utf8')).toBe(
    blockOf('labs/ontology/docs/ontology.md', 'turtle library.ttl'),
  );
});

test('README.md: the commands on a shipped domain succeed', () => {
  const lines = blocksOf('labs/ontology/README.md').flatMap(({ says, code }) =>
    says === 'sh' ? code.split('\n') : [],
  );
  const shipped = lines.filter((line) => line.includes(' udt '));
  expect(shipped).toHaveLength(4);
  for (const line of shipped) {
    const [, ...args] = (line.split('#')[0] as string).trim().split(/ +/);
    expect(node(main, ...args.slice(1)), line).not.toBe('');
  }
});

test('the completed tests pass, of the scaffold and of the accepted draft', () => {
  const report = join(folder, 'report.json');
  node(
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--cache=false',
    '--root',
    '.',
    '--reporter',
    'json',
    '--outputFile',
    report,
  );
  expect(JSON.parse(readFileSync(report, 'utf8'))).toMatchObject({
    numPassedTests: 14,
    numTotalTests: 14,
  });
  // One of its own would hide the clone's from `npx`.
  expect(existsSync(join(folder, 'node_modules'))).toBe(false);
});

test('every program compiles under the options of the package', () => {
  put('tsconfig.json', JSON.stringify({ extends: '../tsconfig.json', include: ['.'] }));
  expect(
    spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder], { cwd: root, encoding: 'utf8' })
      .stdout,
  ).toBe('');
});
