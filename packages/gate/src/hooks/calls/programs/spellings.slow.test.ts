/**
 * The rules "never push to main" and "no rm -rf", of one line each, against the real programs: a
 * bare remote shows each push that arrives at main, and a folder shows each removal.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { readRules } from '#gateway';
import { cases } from '../../../../../../tests/support/cases.ts';
import { CompiledRules } from '../../../gateway/judge/compiled-rules.ts';
import { commandParts } from '../shell-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-spellings-'));
const [work, remote] = [join(folder, 'work'), join(folder, 'remote.git')];
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));

const env = {
  ...{
    PATH: process.env['PATH'],
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
  },
  ...{ GIT_AUTHOR_NAME: 'ada', GIT_AUTHOR_EMAIL: 'ada@example.com' },
  ...{ GIT_COMMITTER_NAME: 'ada', GIT_COMMITTER_EMAIL: 'ada@example.com' },
};
const run = (command: string) =>
  spawnSync('bash', ['-c', command], { cwd: work, env, encoding: 'utf8' });

mkdirSync(work);
run(`git init -q --bare ${remote} && git init -q -b main . && git commit -q --allow-empty -m one &&
  git remote add origin ${remote} && git push -q origin main && git checkout -q -b feature &&
  mkdir sub && echo a > sub/a && git add sub && git commit -q -m two && git tag v1`);
const first = run(`git -C ${remote} rev-parse main`).stdout;
const reset = `git -C ${remote} update-ref refs/heads/main ${first.trim()}`;

const rules = new CompiledRules(
  readRules(`id: spellings
default: allow
rules:
  - { id: main, deny: shell/git, where: [{ path: /command, is: push }, { path: /refs, any: [main] }] }
  - { id: wipe, deny: shell/rm, where: [{ path: /flags, all: [--recursive, --force] }] }
`).rules,
);

/** The verdict on a command in one word. */
function verdict(command: string): 'denied' | 'asks' | 'allowed' {
  const parts = commandParts(command, { cwd: work, home: folder }).map(
    ({ server, tool, args }) => ({
      tool: `${server}/${tool}`,
      args,
    }),
  );
  const { denied, asks } = rules.judge({ agent: 'agent:a', tool: 'a/bash', args: {}, parts });
  return denied !== undefined ? 'denied' : asks.length > 0 ? 'asks' : 'allowed';
}

const some = (texts: readonly string[], max: number): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...texts), { maxLength: max }).map((all) => all.join(' '));
const GLOBALS = [
  '-C .',
  '--no-pager',
  '-c user.name=x',
  '-P',
  '--git-dir=.git',
  '--literal-pathspecs',
  '-c push.default=current',
  '-C sub/..',
];
const OPTIONS = [
  '-f',
  '--force',
  '--forc',
  '-u',
  '-fu',
  '-q',
  '--no-verify',
  '--atomic',
  '-o x',
  '--thin',
  '--follow-tags',
  '--tags',
];
const SPECS = [
  ...[
    'main',
    '+main',
    'feature:main',
    'HEAD:refs/heads/main',
    '+HEAD:heads/main',
    ':main',
    '@:main',
    'feature',
  ],
  ...[
    'feature:other',
    'refs/heads/*:refs/heads/*',
    'v1',
    'tag v1',
    'HEAD',
    ':',
    'main:main',
    'HEAD~1:refs/heads/main',
  ],
];
const pushes = fc.oneof(
  fc
    .tuple(some(GLOBALS, 2), some(OPTIONS, 2), some(SPECS, 2), some(OPTIONS, 1))
    .map(
      ([globals, options, specs, last]) => `git ${globals} push ${options} origin ${specs} ${last}`,
    ),
  fc
    .tuple(
      some(GLOBALS, 2),
      fc.constantFrom('--all', '--mirror', '--delete main', '-d main', '--prune', ''),
    )
    .map(([globals, what]) => `git ${globals} push origin ${what}`),
  fc
    .constantFrom(...SPECS.filter((spec) => !/tag/.test(spec)))
    .map((spec) => `git send-pack ${remote} ${spec}`),
  fc.constantFrom('main', 'feature').map((ref) => `git subtree push -P sub origin ${ref}`),
);

test('each push that arrives at main is denied, or asks', () => {
  let arrived = 0;
  fc.assert(
    fc.property(pushes, (command) => {
      run(reset);
      run(command);
      const isChanged = run(`git -C ${remote} rev-parse main`).stdout !== first;
      arrived += isChanged ? 1 : 0;
      if (isChanged) expect(verdict(command), command).not.toBe('allowed');
      if (isChanged && !/ -c push/.test(command)) expect(verdict(command), command).toBe('denied');
    }),
    { numRuns: cases(1_000) },
  );
  expect(arrived).toBeGreaterThan(cases(1_000) / 20);
});

test('a push of another branch is allowed', () => {
  for (const command of [
    'git push origin feature',
    'git -C . push -u origin feature:other',
    'git push origin tag v1',
    'git status',
    'git log main',
  ])
    expect([command, verdict(command)]).toEqual([command, 'allowed']);
});

const LETTERS = [
  '-r',
  '-f',
  '-R',
  '-v',
  '-rf',
  '-fr',
  '-Rf',
  '-vrf',
  '--recursive',
  '--force',
  '--rec',
  '--fo',
  '-i -f',
  '-d',
  '--',
  '',
];

test('each rm that removes a folder and minds no missing name is denied', () => {
  let removed = 0;
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...LETTERS), { maxLength: 4 }),
      fc.nat({ max: 4 }),
      (words, at) => {
        const command = `rm ${[...words.slice(0, at), 'build', 'missing', ...words.slice(at)].join(' ')}`;
        mkdirSync(join(work, 'build'), { recursive: true });
        writeFileSync(join(work, 'build/a'), '');
        const { status } = run(`${command} < /dev/null`);
        if (existsSync(join(work, 'build')) || status !== 0) return;
        removed += 1;
        expect([command, verdict(command)]).toEqual([command, 'denied']);
      },
    ),
    { numRuns: cases(2_000) },
  );
  expect(removed).toBeGreaterThan(cases(2_000) / 20);
  for (const command of ['rm -r build', 'rm -f a', 'rm -- -rf'])
    expect(verdict(command)).toBe('allowed');
});
