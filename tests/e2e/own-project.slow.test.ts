/**
 * A project next to the clone, as the page of the installation sets it up: the built package, its
 * tsconfig, the program of the README, the command.
 */
import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { builtPackages, installBuilt } from '../support/built.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/guide/install.md'), 'utf8');
const shown = page + readFileSync(join(root, 'README.md'), 'utf8');
const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'assize-project-'));
  const modules = join(folder, 'node_modules');
  mkdirSync(modules);
  installBuilt(modules, ['typescript', '@types', 'vitest', 'fast-check']);
  writeFileSync(join(folder, 'package.json'), '{"name":"consumer","private":true,"type":"module"}');
  for (const [, name, text] of shown.matchAll(/^```\w+ (\S+\.\w+)\n([\s\S]*?)^```$/gm))
    writeFileSync(join(folder, name as string), text as string);
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Runs this Node with the given arguments. */
function node(...given: readonly string[]): { status: number | null; out: string; err: string } {
  const env = { ...process.env, NO_COLOR: '1' };
  const { status, stdout, stderr } = spawnSync(process.execPath, given, {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  return { status, out: stdout, err: stderr };
}

const command = (): string => {
  const { bin } = read(join(folder, 'node_modules/assize/package.json')) as {
    bin: { assize: string };
  };
  return join(folder, 'node_modules/assize', bin.assize);
};

test('its programs compile against the package, with the tsconfig of the page', () => {
  expect(node('node_modules/typescript/bin/tsc', '-p', '.')).toEqual({
    status: 0,
    out: '',
    err: '',
  });
});

test('npm create assize writes rules without a project, and no file twice', () => {
  const create = (...words: readonly string[]) =>
    node('node_modules/create-assize/bin/create-assize.js', ...words);
  const { status, out } = create('rules', '--rules', '--json');
  expect(status).toBe(0);
  const { files, next } = JSON.parse(out) as { files: string[]; next: string[] };
  const names = ['assize.config.json', 'assize.yaml', '.gitignore'];
  expect(files).toEqual(names.map((name) => join('rules', name)));
  expect(next.slice(0, 3)).toEqual([
    'cd rules',
    expect.stringMatching(/^npm install @assize\/docs@/),
    expect.stringMatching(/^npx assize serve/),
  ]);
  expect(node(command(), 'policy', 'check', 'rules/assize.yaml')).toMatchObject({ status: 0 });
  expect(create('rules', '--rules').status).toBe(2);
});

test('its program runs, and the command shows the entries', () => {
  expect(node('team.ts')).toMatchObject({
    status: 0,
    err: expect.stringMatching(/^assize: created the root key [^\n]+\n$/),
  });
  const { status, out } = node(command(), 'log', '--store', 'sqlite:./team.db');
  expect([status, out]).toEqual([0, expect.stringContaining('budget')]);
});

/**
 * The arguments that make Node pass for another release, without the modules that the release
 * lacks.
 */
function passingFor(version: string): readonly string[] {
  const script = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } });
    process.getBuiltinModule = () => undefined;`;
  return ['--import', `data:text/javascript,${encodeURIComponent(script)}`];
}

test('under an older Node the command names a Node to install, loads nothing', () => {
  const { status, out, err } = node(...passingFor('20.19.0'), command(), '--version');
  expect({ status, out }).toEqual({ status: 2, out: '' });
  expect(err).toMatch(
    /^assize: the command can't run on Node 20\.19\.0\. Install Node 24, or Node 22\.16 [^\n]+\.\n$/,
  );
});

test('under an older Node every subpath says which Node to install', () => {
  // These import packages that the project does not have; the client imports nothing of the core.
  const apart = /^packages\/(ai-sdk|client|langchain|openai-agents|opentelemetry|testing)\//;
  const manifests = globSync('packages/*/package.json', { cwd: root }).filter(
    (file) => !apart.test(file),
  );
  const names = manifests.flatMap((file) => {
    const { name, exports } = read(join(root, file)) as {
      name: string;
      exports: Record<string, string>;
    };
    return Object.entries(exports)
      .filter(([subpath, path]) => path.endsWith('.ts') && !subpath.startsWith('./internal'))
      .flatMap(([subpath, path]) => {
        const [before = '', after = ''] = path.split('*');
        const files = globSync(path, { cwd: join(root, dirname(file)) });
        return files.map(
          (each) =>
            `${name}${subpath.slice(1).replace('*', `./${each}`.slice(before.length, -after.length))}`,
        );
      });
  });
  expect(names).toContain('@assize/cli/unstable/domains/udt');
  expect(names).toEqual(
    expect.arrayContaining(['assize', 'assize/effects', '@assize/tools/files']),
  );
  const script = `for (const name of ${JSON.stringify(names)}) await import(name).then(
    () => console.log(name, 'loads'), ({ code, message }) => code === 'unsupported_node' || console.log(name, message));
    const { message } = await import('assize').catch((error) => error);
    console.log(message);`;
  const { status, out, err } = node(...passingFor('22.15.1'), '--input-type=module', '-e', script);
  expect({ status, err }).toEqual({ status: 0, err: '' });
  expect(out).toMatch(
    /^Assize can't run on Node 22\.15\.1\. Install Node 24, or Node 22\.16 [^\n]+\.\n$/,
  );
});

test('no published module imports node:sqlite before the Node release check', () => {
  const folder = builtPackages();
  const importing = globSync('*/src/**/*.js', { cwd: folder })
    // These are imported with packages that ask for a newer Node themselves.
    .filter((file) => !/^testing\//.test(file))
    .filter((file) => /from ["']node:sqlite["']/.test(readFileSync(join(folder, file), 'utf8')));
  expect(importing).toEqual([]);
});

test('the versions that the page names are those of the package', () => {
  const { engines } = read(join(root, 'package.json')) as { engines: { node: string } };
  const { dependencies } = read(join(root, 'packages/assize/package.json')) as {
    dependencies: { zod: string };
  };
  expect(page).toContain(`zod@${dependencies.zod} `);
  expect(page).toContain('assize-*.tgz');
  expect(page).toContain(`Node.js ${/\d+\.\d+/.exec(engines.node)?.[0]} or later`);
});

test('the package uses the project’s zod, from the oldest supported version', () => {
  const { dependencies, peerDependencies } = read(join(builtPackages(), 'assize/package.json')) as {
    dependencies: Record<string, string>;
    peerDependencies: Record<string, string>;
  };
  expect([dependencies['zod'], peerDependencies['zod']]).toEqual(['^4.0.0', '^4.0.0']);
});
