import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { shellParts } from '../src/hooks/own-call.ts';
import { reachesOf } from '../src/reach/index.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'assize-writes-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const FILES = ['a', 'm/1', 'm/2', 'old'] as const;
const anyEdits = fc.dictionary(fc.constantFrom(...FILES), fc.constantFrom('x\n', 'y\n', ''), {
  maxKeys: 2,
});

/** A command, and whether it writes what is reached, if nothing is staged before. */
const COMMANDS: readonly (readonly [string, boolean])[] = [
  ['git add -A', true],
  ['git add m', true],
  ['git add -u', true],
  ['git commit -am x', false],
  ['git stash', false],
  ['git stash -u', false],
  ['git stash pop', false],
  ['git switch -c new', true],
  ['git checkout -b new', true],
  ['git switch other', false],
  ['git checkout other', false],
  ['git checkout other -- .', false],
  ['git checkout a', false],
  ['git merge --no-edit other', false],
  ['git cherry-pick other', false],
  ['git revert --no-edit HEAD', false],
  ['git reset -q --hard', false],
  ['git reset -q --hard other', false],
  ['git restore --source other -- a m', false],
  ['git restore .', false],
  ['git clean -fd', false],
];

const ENV = {
  ...{ PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' },
  ...{ GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@b.c' },
  ...{ GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@b.c' },
};

/** The output of a command. One that fails may have written all the same. */
function run(folder: string, command: string): string {
  const options = { cwd: folder, env: ENV, stdio: 'pipe', encoding: 'utf8' } as const;
  try {
    return execFileSync('sh', ['-c', command], options);
  } catch (error) {
    return String((error as { readonly stdout: string }).stdout);
  }
}

type Edits = Readonly<Record<string, string>>;

function edit(folder: string, edits: Edits): void {
  for (const [name, text] of Object.entries(edits)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    if (text === '') rmSync(join(folder, name), { force: true });
    else writeFileSync(join(folder, name), text);
  }
}

interface History {
  readonly base: Edits;
  readonly other: Edits;
  readonly here: Edits;
  readonly stashed: Edits;
  readonly staged: Edits;
  readonly left: Edits;
}

function repository(name: string, { base, other, here, stashed, staged, left }: History): string {
  const folder = join(root, name);
  mkdirSync(folder);
  const commit = 'git add -A && git commit -qm x --allow-empty';
  run(folder, 'git init -q -b main');
  edit(folder, { kept: 'x\n', a: 'a\n', 'm/1': 'a\n', ...base });
  run(folder, `${commit} && git checkout -q -b other`);
  edit(folder, other);
  run(folder, `${commit} && git checkout -q main`);
  edit(folder, here);
  run(folder, commit);
  edit(folder, stashed);
  run(folder, 'git stash -u');
  edit(folder, staged);
  run(folder, 'git add -A');
  edit(folder, left);
  return folder;
}

/** The place in the work tree and in the index. */
const seen = (folder: string): string =>
  run(folder, 'find m -type f 2>/dev/null | sort | xargs -r head; git ls-files -s m');

test('git writes no place that is not reached, and most that are', async () => {
  let [number, reached] = [0, 0];
  const anyHistory = fc.record({
    ...{ base: anyEdits, other: anyEdits, here: anyEdits },
    ...{ stashed: anyEdits, staged: anyEdits, left: anyEdits },
  });
  await fc.assert(
    fc.asyncProperty(
      anyHistory,
      fc.constantFrom(...COMMANDS),
      async (history, [command, exact]) => {
        const folder = repository(`r${number++}`, history);
        const parts = await shellParts(command, folder);
        const spec = { name: 'shell/git', reads: ['/paths'] };
        const places = await Promise.all(
          parts.map(({ args }) => reachesOf({ spec, args, isPart: true }, [`${folder}/m`])),
        );
        const isReached =
          places.flat().length > 0 ||
          parts.some(({ args }) => (args['paths'] as readonly string[]).includes(`${folder}/m`));
        const copy = `${folder}c`;
        cpSync(folder, copy, { recursive: true });
        const before = seen(copy);
        run(copy, command);
        const isWritten = seen(copy) !== before;
        reached += isReached ? 1 : 0;
        if (isWritten) expect([command, isReached]).toEqual([command, true]);
        if (exact && !command.endsWith(' m') && Object.keys(history.staged).length === 0)
          expect([command, isReached]).toEqual([command, isWritten]);
        rmSync(copy, { recursive: true });
        rmSync(folder, { recursive: true });
      },
    ),
    { numRuns: 80 },
  );
  expect(reached).toBeGreaterThan(10);
  expect(reached).toBeLessThan(number * 0.9);
});

const after = (command: string, folder: string) =>
  shellParts(command, folder).then((parts) => parts.at(-1)?.args['only']);

test('what an earlier part of the command changes in git is not told', async () => {
  const none = { base: {}, other: {}, here: {}, stashed: {}, staged: {}, left: {} };
  const folder = repository('stale', none);
  expect(await after('git add -A', folder)).toBe('changed');
  expect(await after('git commit -m x && git add -A', folder)).toBe('changed');
  expect(await after('rm .gitignore; git add -A', folder)).toBe(undefined);
  expect(await after('git stash && git add -A', folder)).toBe(undefined);
  expect(await after('git fetch; git switch main', folder)).toBe('modified');
  for (const before of ['git branch -f main x', 'git fetch . x:main', 'cp a .git/refs/heads/main'])
    expect(await after(`${before}; git switch main`, folder)).toBe('tracked');
});
