/** The project that `assize init` writes, against the built package. */
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installBuilt } from '../support/built.ts';

const root = join(import.meta.dirname, '../..');
const VERSION = (
  JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
).version;
let folder: string;
let project: string;
let command: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'assize-init-'));
  project = join(folder, 'team');
  const modules = join(folder, 'node_modules');
  mkdirSync(modules);
  installBuilt(modules, ['typescript', '@types', 'vitest', 'fast-check']);
  command = join(modules, 'assize/bin/assize.js');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function node(
  cwd: string,
  ...given: readonly string[]
): { status: number | null; out: string; err: string } {
  const { ASSIZE_STORE: _store, VITEST: _vitest, ...rest } = process.env;
  const env = { ...rest, NO_COLOR: '1', NODE_OPTIONS: '' };
  const { status, stdout, stderr } = spawnSync(process.execPath, given, {
    cwd,
    env,
    encoding: 'utf8',
  });
  return { status, out: stdout, err: stderr };
}
const assize = (...given: readonly string[]) => node(project, command, ...given);

test('the project type-checks, and its test passes', () => {
  const { status, out } = node(folder, command, 'init', 'team', '--json');
  expect(status).toBe(0);
  const { files } = JSON.parse(out) as { files: string[] };
  expect(files.every((file) => existsSync(join(folder, file)))).toBe(true);
  expect(node(project, join(root, 'node_modules/typescript/bin/tsc'))).toEqual({
    status: 0,
    out: '',
    err: '',
  });
  const tested = node(project, join(root, 'node_modules/vitest/vitest.mjs'), 'run');
  expect([tested.status, tested.out + tested.err]).toEqual([0, expect.stringMatching(/2 passed/)]);
});

test('the next steps install what the folder lacks, from this package', () => {
  const stepsIn = (path: string, program: string): string[] => {
    const { status, out } = node(folder, program, 'init', path, '--json');
    expect(status).toBe(0);
    return (JSON.parse(out) as { next: string[] }).next;
  };
  // Every package is above this folder, but Node.
  expect(stepsIn('again', command).slice(0, 3)).toEqual([
    'cd again',
    'npm install --save-dev node@24 @assize/docs@0.1.0',
    'npm test',
  ]);
  const elsewhere = mkdtempSync(join(tmpdir(), 'assize-elsewhere-'));
  try {
    const installed = stepsIn(join(elsewhere, 'a'), command);
    const own = (name: string): string => `${name}@${VERSION}`;
    expect(installed.slice(1, 3)).toEqual([
      `npm install ${own('assize')} ${own('@assize/cli')} zod`,
      `npm install --save-dev node@24 typescript @types/node vitest fast-check ${own('@assize/testing')} ${own('@assize/docs')}`,
    ]);
    const clone = stepsIn(join(elsewhere, 'b'), join(root, 'packages/cli/src/main.ts'));
    expect(clone.slice(1, 4)).toEqual([
      expect.stringMatching(/^npm --prefix (\S+) run build && npm pack \1\/dist\/\*\/$/),
      'npm install ./assize-*.tgz zod',
      'npm install --save-dev node@24 typescript @types/node vitest fast-check',
    ]);
    expect(stepsIn(join(root, 'dist-init-test'), join(root, 'packages/cli/src/main.ts'))[1]).toBe(
      'npm test',
    );
  } finally {
    rmSync(elsewhere, { recursive: true });
    rmSync(join(root, 'dist-init-test'), { recursive: true, force: true });
  }
});

test('the commands of the next steps run, and read the config', () => {
  const created = assize('create', 'expenses');
  expect(created).toMatchObject({
    status: 0,
    err: expect.stringContaining('Created the root key'),
  });
  expect(lstatSync(join(project, 'assize.db.root.key')).mode & 0o777).toBe(0o600);
  const pay = ['propose', 'expenses', 'pay', '--args', '{"to":"ada","cents":500}'];
  for (const _run of [1, 2]) {
    const paid = assize(...pay, '--as', 'agent:scout', '--key', 'ada-1', '--json');
    expect(paid).toMatchObject({ status: 0, err: '' });
    expect(JSON.parse(paid.out)).toMatchObject({ ruling: 'committed', effects: 'settled' });
  }
  expect(readdirSync(join(project, 'payments'))).toHaveLength(1);
  const { status, out } = assize('log', 'expenses', '--json');
  expect([status, out.match(/"committed"/g)]).toEqual([0, expect.anything()]);
  expect(assize('verify').status).toBe(0);
});

test('a large payment waits, and the manager of the domain approves it', () => {
  const args = JSON.stringify({ to: 'bo', cents: 50_000 });
  const asked = assize(
    'propose',
    'expenses',
    'pay',
    '--args',
    args,
    '--as',
    'agent:scout',
    '--json',
  );
  const { entry_id, channel } = JSON.parse(asked.out) as { entry_id: string; channel: string };
  expect([asked.status, channel]).toEqual([1, 'manager']);
  const id = entry_id.slice(0, 12);
  const next = assize('pending').out.trimEnd().split('\n').slice(-3);
  expect(next).toEqual([
    `assize show ${id}`,
    `assize approve ${id} --as manager:grace`,
    `assize reject ${id} --as manager:grace --reason TEXT`,
  ]);
  expect(assize('pending', '--store', 'sqlite:./assize.db').out).toContain(
    '--as manager:grace --store sqlite:./assize.db',
  );
  expect(assize('log', 'expenses').out).toMatch(
    /pay +escalated +LARGE .* \{"cents":50000,"to":"bo"\}/,
  );
  const approved = assize('approve', entry_id.slice(0, 12), '--as', 'manager:grace', '--json');
  expect(approved).toMatchObject({ status: 0, err: '' });
  expect(readdirSync(join(project, 'payments'))).toHaveLength(2);
});

test('an upgrade takes the domain of the config, and signs by the root key', () => {
  const file = join(project, 'domains/expenses.ts');
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace("version: '1'", "version: '2'").replace('10_000', '20_000'),
  );
  const pay = ['propose', 'expenses', 'pay', '--args', '{"to":"ada","cents":15000}'];
  expect(assize(...pay)).toMatchObject({
    status: 2,
    err: expect.stringMatching(
      /The trajectory expenses has .*expenses@1 .*expenses@2 .*assize upgrade expenses --reason TEXT/,
    ),
  });
  const tried = assize('upgrade', 'expenses', '--reason', 'a higher limit', '--dry-run');
  expect(tried).toMatchObject({
    status: 0,
    out: expect.stringMatching(/^would be upgraded from expenses@1 .*expenses@2/),
  });
  expect(assize('upgrade', 'expenses', '--reason', 'a higher limit')).toMatchObject({
    status: 0,
    err: '',
  });
  expect(assize(...pay, '--as', 'agent:scout')).toMatchObject({ status: 0 });
  expect(assize('upgrade', 'expenses', '--reason', 'again')).toMatchObject({
    status: 2,
    err: expect.stringMatching(/has no other version of expenses than expenses@2 .*--domain FILE/),
  });
  expect(assize('verify').status).toBe(0);
});

test('the key and the stores are ignored', () => {
  const ignored = readFileSync(join(project, '.gitignore'), 'utf8').trim().split('\n');
  const pattern = new RegExp(
    `^(${ignored.map((glob) => glob.replaceAll('.', '\\.').replaceAll('*', '.*')).join('|')})$`,
  );
  const secret = readdirSync(project).filter(
    (name) => name.includes('.db') || name.includes('key'),
  );
  expect(secret).toContain('assize.db.root.key');
  expect(secret.filter((name) => !pattern.test(name))).toEqual([]);
});

test('no file is overwritten, and shared files stay as they are', () => {
  const before = readFileSync(join(project, 'assize.config.ts'), 'utf8');
  writeFileSync(join(project, 'assize.config.ts'), `${before}// Mine.\n`);
  expect(assize('init')).toMatchObject({ status: 2, err: expect.stringContaining('already') });
  expect(readFileSync(join(project, 'assize.config.ts'), 'utf8')).toContain('// Mine.');

  const other = join(folder, 'other');
  mkdirSync(other);
  writeFileSync(join(other, 'assize.config.json'), '{}');
  expect(node(other, command, 'init').status).toBe(2);
  expect(readdirSync(other)).toEqual(['assize.config.json']);
  rmSync(join(other, 'assize.config.json'));
  writeFileSync(join(other, 'package.json'), '{"name":"mine"}');
  writeFileSync(join(other, '.gitignore'), 'dist\n*.db');
  expect(node(other, command, 'init')).toMatchObject({
    status: 0,
    out: expect.stringContaining('npm pkg set'),
  });
  expect(readFileSync(join(other, 'package.json'), 'utf8')).toBe('{"name":"mine"}');
  expect(
    readFileSync(join(other, '.gitignore'), 'utf8')
      .split('\n')
      .filter((name) => name === '*.db'),
  ).toHaveLength(1);
  expect(
    readFileSync(join(other, '.gitignore'), 'utf8').startsWith('dist\n*.db\n*.root.key\n'),
  ).toBe(true);
});
