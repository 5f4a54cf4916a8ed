import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Json } from 'assize/internal/base';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { isUnder } from '#gateway';
import { reachesOf } from './reached.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'assize-reach-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let projects = 0;

/** A new folder with these files. Each has its own name as its text. */
function project(files: readonly string[]): string {
  const folder = join(root, `p${projects++}`);
  mkdirSync(folder);
  for (const file of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), `CANARY ${file}\n`);
  }
  return folder;
}

const PART = { name: 'shell/x', reads: ['/paths'] };

/** The places that a part of a command reaches in a folder. */
function inPart(folder: string, args: object, patterns: readonly string[]) {
  const given = { paths: [folder], below: [folder], ...args } as Json;
  return reachesOf({ spec: PART, args: given, isPart: true }, patterns);
}

/** The files that a program finds the word in, or an empty list. */
function printed(folder: string, program: string, ...args: readonly string[]): string[] {
  try {
    return execFileSync(program, args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' })
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => join(folder, line.replace(/^\.\//, '')));
  } catch {
    return [];
  }
}

const NAMES = ['.env', 'a.ts', 'key.pem', 'x'] as const;
const FOLDERS = ['', 'pkg/', 'pkg/secrets/', 'node_modules/m/', '.hidden/'] as const;
const anyFile = fc
  .tuple(fc.constantFrom(...FOLDERS), fc.constantFrom(...NAMES))
  .map((names) => names.join(''));

test('a place is reached below a folder if and only if grep -r prints it', async () => {
  const patterns = ['**/.env', '/pkg/secrets', '/pkg/**/*.pem', '/node_modules/m/x', '/.env'];
  let reached = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(anyFile, { maxLength: 8 }),
      fc.constantFrom(...patterns),
      fc.subarray(['.env', '*.pem', 'secrets', 'x']),
      fc.subarray(['secrets', 'node_modules', 'pkg', '.env', '.h*']),
      fc.constantFrom('', '*.ts', '.env'),
      async (files, pattern, excluded, excludedFolders, included) => {
        const folder = project(files);
        const place = pattern.startsWith('**') ? pattern : `${folder}${pattern}`;
        const found = printed(
          folder,
          'grep',
          ...['-rl', 'CANARY', '.'],
          ...excluded.map((name) => `--exclude=${name}`),
          ...excludedFolders.map((name) => `--exclude-dir=${name}`),
          ...(included === '' || excluded.length > 0 ? [] : [`--include=${included}`]),
        );
        const places = await inPart(
          folder,
          {
            except: [...excluded, ...excludedFolders.map((name) => `${name}/`)],
            include: included === '' || excluded.length > 0 ? [] : [included],
          },
          [place],
        );
        const isRead = found.some((path) => isUnder(path, place));
        reached += isRead ? 1 : 0;
        // A folder counts as reached although each file in it may be left out by its name.
        if (isRead) expect(places).not.toEqual([]);
        else if (!place.endsWith('secrets')) expect(places).toEqual([]);
        for (const path of places) expect(isUnder(path, place)).toBe(true);
      },
    ),
    { numRuns: 40 },
  );
  expect(reached).toBeGreaterThan(0);
});

test('a folder that is not there yet has no files, if the command runs here', async () => {
  const folder = project(['src/a.ts']);
  const copy = { below: [`${folder}/new`] };
  expect(await inPart(folder, { ...copy, cwd: folder }, ['**/*.pem'])).toEqual([]);
  expect(await inPart(folder, copy, ['**/*.pem'])).not.toEqual([]);
  expect(await inPart(folder, { ...copy, cwd: '/elsewhere' }, ['**/*.pem'])).not.toEqual([]);
});

describe('git', () => {
  const folder = project(['.env', 'src/a.ts', 'pkg/.env', 'old/.env', 'new.txt', '.gitignore']);
  const git = (...args: readonly string[]) =>
    printed(folder, 'git', '-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args);
  writeFileSync(join(folder, '.gitignore'), '.env\n');
  git('init', '-q');
  git('add', 'src', '.gitignore');
  git('add', '-f', 'pkg/.env', 'old/.env');
  git('commit', '-qm', 'x');
  git('rm', '-q', 'old/.env');
  git('commit', '-qm', 'y');
  const tracked = (...places: readonly string[]) => inPart(folder, { only: 'tracked' }, places);

  test('a tracked file is reached, and an ignored one is not', async () => {
    expect(await tracked(`${folder}/.env`)).toEqual([]);
    expect(await tracked(`${folder}/new.txt`)).toEqual([]);
    expect(await tracked(`${folder}/pkg/.env`)).toEqual([`${folder}/pkg/.env`]);
    expect(await tracked(`${folder}/pkg`)).toEqual([`${folder}/pkg/.env`]);
    expect(await tracked('**/.env')).toEqual([`${folder}/pkg/.env`]);
    expect(await tracked(`${root}/**/*.env`)).toEqual([`${folder}/pkg/.env`]);
  });

  test('a file that only an old commit has is reached', async () => {
    expect(await tracked(`${folder}/old/.env`)).toEqual([`${folder}/old/.env`]);
    expect(await tracked(`${folder}/old/*.pem`)).toEqual([]);
  });

  test('a new file that git does not ignore is reached by git add and rg', async () => {
    const unignored = (place: string) => inPart(folder, { only: 'unignored' }, [place]);
    expect(await unignored(`${folder}/new.txt`)).toEqual([`${folder}/new.txt`]);
    expect(await unignored(`${folder}/.env`)).toEqual([]);
  });

  test('a name that is left out is not reached', async () => {
    const except = { only: 'tracked', except: [`${folder}/pkg/.env`] };
    expect(await inPart(folder, except, [`${folder}/pkg/.env`])).toEqual([]);
  });

  test('no program of the repository runs', async () => {
    const ran = join(root, 'ran');
    writeFileSync(join(root, 'run.sh'), `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 });
    for (const key of ['core.fsmonitor', 'diff.external', 'core.pager', 'gpg.program'])
      git('config', key, join(root, 'run.sh'));
    git('config', 'filter.a=b.clean', join(root, 'run.sh'));
    writeFileSync(join(folder, '.git/info/attributes'), '* filter=a=b\n');
    writeFileSync(join(folder, 'pkg/.env'), 'changed\n');
    await tracked('**/.env', '**/none');
    await inPart(folder, { only: 'modified' }, ['**/.env']);
    expect(printed(root, 'ls', 'ran')).toEqual([]);
    git('status');
    expect(printed(root, 'ls', 'ran')).toEqual([ran]);
  });

  test('without a repository every file there counts', async () => {
    const other = project(['.env']);
    expect(await inPart(other, { only: 'tracked' }, ['**/.env'])).toEqual([`${other}/.env`]);
  });
});

describe('links', () => {
  const folder = project(['vault/key', 'src/a.ts']);
  const vault = join(folder, 'vault');
  symlinkSync('../vault', join(folder, 'src/link'));
  symlinkSync('vault/key', join(folder, 'alias'));
  linkSync(join(folder, 'vault/key'), join(folder, 'src/twin'));

  test('a place that is a link is reached by the name of its file', async () => {
    expect(await inPart(`${vault}/key`, { below: [] }, [`${folder}/alias`])).toEqual([
      `${folder}/alias`,
    ]);
  });

  test('a file with two names is reached by the other one', async () => {
    const twin = await inPart(`${folder}/src/twin`, { below: [] }, [`${vault}/key`]);
    expect(twin).toEqual([`${vault}/key`]);
    expect(await inPart(`${folder}/src/a.ts`, { below: [] }, [`${vault}/key`])).toEqual([]);
  });

  test('a program that follows links reaches what they lead to', async () => {
    const [src, place] = [`${folder}/src`, [`${vault}/key`]];
    expect(await inPart(src, {}, place)).toEqual([]);
    for (const flag of ['--dereference-recursive', '--follow', '-L'])
      expect(await inPart(src, { flags: [flag] }, place)).toEqual(place);
    expect(printed(src, 'grep', '-Rl', 'vault', '.')).toContain(`${src}/link/key`);
  });

  const DECLARED = { name: 'fs/x', reads: ['/path'], writes: ['/to'] };
  const call = (args: Json, patterns: readonly string[], more: object = {}) =>
    reachesOf({ spec: { ...DECLARED, ...more }, args, isPart: false }, patterns);

  test('a tool with declared paths has both names of a link', async () => {
    expect(await call({ path: `${folder}/alias` }, [])).toEqual([`${vault}/key`]);
    expect(await call({ to: `${folder}/src/link/new` }, [])).toEqual([`${vault}/new`]);
    expect(await call({ path: `${folder}/src/a.ts` }, [])).toEqual([]);
    expect(await call({ path: 'alias' }, [], { root: folder })).toEqual([`${vault}/key`]);
  });

  test('a tool that gets a folder may use every file below it', async () => {
    expect(await call({ path: folder }, [vault])).toEqual([vault]);
    expect(await call({ path: folder }, [vault], { names_only: true })).toEqual([]);
    expect(await call({ path: `${folder}/src` }, [vault])).toEqual([]);
  });
});

describe('a tool that declares no files', () => {
  const SILENT = { name: 'fs/x' };
  const call = (args: Json, patterns: readonly string[], folder: string, more: object = {}) =>
    reachesOf({ spec: { ...SILENT, ...more }, args, isPart: false, folder }, patterns);
  /** Every file at or below a path, as a person would look: without a bound, and one by one. */
  const walked = (path: string): readonly string[] =>
    !existsSync(path)
      ? []
      : statSync(path).isDirectory()
        ? readdirSync(path).flatMap((name) => walked(join(path, name)))
        : [realpathSync(path)];
  const SPELLINGS: readonly ((path: string, folder: string) => string)[] = [
    (path) => path,
    (path, folder) => relative(folder, path),
    (path) => `${dirname(path)}/none/../${basename(path)}`,
    (path) => pathToFileURL(path).href,
    (path) => `${path}/**/*.ts`,
  ];
  const PLACES_IN: readonly ((json: string) => Json)[] = [
    (path) => ({ path }),
    (path) => ({ paths: ['a text about it', path] }),
    (path) => ({ deep: [{ er: { target: path } }] }),
    (path) => ({ edits: { [path]: 'new text' } }),
  ];

  test('its texts reach a place if and only if a walk from them meets it', async () => {
    let reached = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(anyFile, { minLength: 1, maxLength: 8 }),
        fc.constantFrom('', 'pkg', 'pkg/secrets', '.env', 'pkg/.env', 'link', 'node_modules/none'),
        fc.constantFrom('**/.env', '/pkg/secrets', '/pkg/**/*.pem', '/node_modules/m/x', '/.env'),
        async (files, target, pattern) => {
          const folder = project(files);
          mkdirSync(join(folder, 'pkg'), { recursive: true });
          symlinkSync('pkg', join(folder, 'link'));
          const path = join(folder, target);
          const place = pattern.startsWith('**') ? pattern : `${folder}${pattern}`;
          // A walk meets no link below the folder that it begins with.
          const met = walked(path).filter(
            (each) => isUnder(each, place) && (target === 'link' || isUnder(each, path)),
          );
          const isNamed = isUnder(path, place);
          reached += met.length > 0 ? 1 : 0;
          for (const spelled of SPELLINGS)
            for (const inArgs of PLACES_IN) {
              const args = inArgs(spelled(path, folder));
              const places = await call(args, [place], folder);
              expect(places.length > 0, JSON.stringify(args)).toBe(met.length > 0 || isNamed);
              for (const each of places) expect(isUnder(each, place)).toBe(true);
            }
        },
      ),
      { numRuns: 120 },
    );
    expect(reached).toBeGreaterThan(0);
  });

  test('the home folder, a name of its own files, and too many texts count', async () => {
    const folder = project(['a.ts']);
    const home = join(homedir(), '.none/key');
    expect(await call({ path: '~/.none/key' }, [home], folder)).toEqual([home]);
    expect(await call({ path: 'new.pem' }, ['**/*.pem'], folder)).toEqual([`${folder}/new.pem`]);
    const many = Array.from({ length: 2_000 }, (_, i) => `t${i}`);
    expect(await call({ many }, [`${folder}/.env`], '/none')).toEqual([`${folder}/.env`]);
  });

  test('one that reads nothing, or only names, reaches nothing below', async () => {
    const folder = project(['.env']);
    const place = [`${folder}/.env`];
    expect(await call({ path: folder }, place, folder)).toEqual(place);
    expect(await call({ path: folder }, place, folder, { reads: [] })).toEqual([]);
    expect(await call({ path: folder }, place, folder, { names_only: true })).toEqual([]);
    expect(await call({}, place, folder)).toEqual([]);
    const unknown = { spec: undefined, args: { path: folder }, isPart: false };
    expect(await reachesOf({ ...unknown, folder }, place)).toEqual(place);
    expect(await reachesOf(unknown, place)).toEqual([]);
  });
});

test('a folder that is missing has nothing if the command runs on this machine', async () => {
  const spec = { ...PART, name: 'shell/cp' };
  const reached = (cwd: string) => {
    const args = { paths: ['/none/new'], below: ['/none/new'], cwd };
    return reachesOf({ spec, args, isPart: true }, ['**/*.pem']);
  };
  expect(await reached('/')).toEqual([]);
  expect(await reached('/none')).not.toEqual([]);
});

test('a folder that cannot be read has every place that can be in it', async () => {
  const folder = project([]);
  // Its path is too long to be opened by that path, and a program that walks there can open it.
  const deep = `const { mkdirSync, writeFileSync } = require('node:fs');
    const { chdir } = require('node:process');
    for (let i = 0; i < 25; i++) { mkdirSync('x'.repeat(200)); chdir('x'.repeat(200)); }
    writeFileSync('.env', 'CANARY');`;
  execFileSync(process.execPath, ['-e', deep], { cwd: folder });
  expect(printed(folder, 'grep', '-rl', 'CANARY', '.')).toHaveLength(1);
  expect(await inPart(folder, {}, ['**/.env'])).not.toEqual([]);
  expect(await inPart(folder, {}, [`${folder}/a/.env`])).toEqual([]);
  execFileSync('rm', ['-r', folder]);
});

test('where a path of a process leads is not known to the server', async () => {
  const folder = project(['.env']);
  const place = [`${folder}/.env`];
  const spec = { name: 'fs/read', reads: ['/path'] };
  for (const path of ['/proc/self/cwd/.env', '/proc/1/root', '/dev/stdin']) {
    expect(await reachesOf({ spec, args: { path }, isPart: false }, place)).toEqual(place);
    const unknown = { spec: undefined, args: { path }, isPart: false, folder: '/none' };
    expect(await reachesOf(unknown, place)).toEqual(place);
  }
});

test('a search that takes too long counts every place that can be there', async () => {
  const folder = project(['a/.env', 'b/c']);
  const place = ['**/.env'];
  const spec = { name: 'shell/cp', reads: ['/paths'] };
  const args = { paths: [folder], below: [folder], cwd: folder };
  const part = { spec, args, isPart: true } as const;
  expect(await reachesOf(part, place)).toEqual([`${folder}/a/.env`]);
  expect(await reachesOf({ ...part, until: performance.now() - 1 }, place)).toEqual([
    `${folder}/**/.env`,
  ]);
});
