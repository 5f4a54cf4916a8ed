/** A project beside the clone, as the README sets it up: the built package, its tsconfig, its programs, the command. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { builtPackage } from '../support/built.ts';

const root = join(import.meta.dirname, '../..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'assize-project-'));
  const modules = join(folder, 'node_modules');
  mkdirSync(modules);
  cpSync(builtPackage(), join(modules, 'assize'), { recursive: true });
  const { dependencies } = read(join(root, 'package.json')) as { dependencies: Record<string, string> };
  // What the README has installed, and what the package brings along.
  for (const name of ['typescript', '@types', 'vitest', 'fast-check', ...Object.keys(dependencies)])
    symlinkSync(join(root, 'node_modules', name), join(modules, name));
  writeFileSync(join(folder, 'package.json'), '{"name":"consumer","private":true,"type":"module"}');
  for (const [, name, text] of readme.matchAll(/^```\w+ (\S+\.\w+)\n([\s\S]*?)^```$/gm))
    writeFileSync(join(folder, name as string), text as string);
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Under this Node, with what is to be given to it first. */
function node(...given: readonly string[]): { status: number | null; out: string; err: string } {
  const env = { ...process.env, NO_COLOR: '1' };
  const { status, stdout, stderr } = spawnSync(process.execPath, given, { cwd: folder, env, encoding: 'utf8' });
  return { status, out: stdout, err: stderr };
}

const command = (): string => {
  const { bin } = read(join(folder, 'node_modules/assize/package.json')) as { bin: { assize: string } };
  return join(folder, 'node_modules/assize', bin.assize);
};

test('its programs compile against what is published, with the tsconfig of the README', () => {
  expect(node('node_modules/typescript/bin/tsc', '-p', '.')).toEqual({ status: 0, out: '', err: '' });
});

test('its program runs, and the command shows what it wrote', () => {
  expect(node('team.ts')).toMatchObject({ status: 0, err: '' });
  const { status, out } = node(command(), 'log', '--store', 'sqlite:./team.db');
  expect([status, out]).toEqual([0, expect.stringContaining('team-budget')]);
});

test('under an older Node the command says which one it needs, and loads nothing', () => {
  const older = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.19.0' } })`;
  const { status, out, err } = node(
    '--import',
    `data:text/javascript,${encodeURIComponent(older)}`,
    command(),
    '--version',
  );
  expect({ status, out }).toEqual({ status: 2, out: '' });
  expect(err).toMatch(/^assize: Node 24 or newer is needed, and this is v[^\n]+\n$/);
});

test('the versions that the README names are those of the package', () => {
  const { version, engines, dependencies } = read(join(root, 'package.json')) as {
    version: string;
    engines: { node: string };
    dependencies: { zod: string };
  };
  expect(readme).toContain(`zod@${dependencies.zod} `);
  expect(readme).toContain(`assize-${version}.tgz`);
  expect(readme).toContain(`Node ${/\d+/.exec(engines.node)?.[0]} or later is needed`);
});
