import { expect, test } from 'vitest';
import { readRules } from '#gateway';
import { CompiledRules } from '../../gateway/judge/compiled-rules.ts';
import { commandParts } from '../../hooks/calls/shell-command.ts';
import { firstRules } from './server-files.ts';

test('the first rules hold in each project that a session begins in', () => {
  const rules = new CompiledRules(readRules(firstRules('${project}', { home: '/home/ada' })).rules);
  const answer = (project: string, path: string): string => {
    const parts = [{ tool: 'files/edit', args: { path } }];
    const call = { agent: 'coder', tool: 'claude-code/Edit', args: {}, project, parts };
    const { denied, asks } = rules.judge(call);
    return denied === undefined ? (asks.length === 0 ? 'allow' : 'ask') : 'deny';
  };
  for (const [here, there] of [
    ['/one', '/two'],
    ['/two', '/one'],
  ] as const) {
    expect(answer(here, `${here}/src/a.ts`)).toBe('allow');
    expect(answer(here, `${there}/src/a.ts`)).toBe('ask');
    expect(answer(here, `${here}/.env`)).toBe('deny');
    expect(answer(here, `${here}/pkg/a/.env.local`)).toBe('deny');
    expect(answer(here, `${here}/pkg/a/.env.example`)).toBe('allow');
    expect(answer(here, `${there}/keys/id_rsa`)).toBe('deny');
    expect(answer(here, '/home/ada/.ssh/config')).toBe('deny');
  }
});

test('outside of any project calls are asked about, and secrets refused', () => {
  const rules = new CompiledRules(readRules(firstRules('${project}', { home: '/home/ada' })).rules);
  const answer = (path: string): string | undefined => {
    const parts = [{ tool: 'files/edit', args: { path } }];
    const { denied, asks } = rules.judge({
      ...{ agent: 'coder', tool: 'claude-code/Edit', args: {}, parts },
    });
    return denied?.rule ?? asks[0]?.rule;
  };
  expect(answer('/home/ada/notes.md')).toBe('default');
  expect(answer('/home/ada/a/.env')).toBe('secrets');
  expect(answer('/home/ada/.ssh/config')).toBe('secrets');
  expect(rules.placesFor({ agent: 'coder', tool: 'files/edit' })).toContain('/**/.env');
});

/** The answer of the first rules of /repo to a command. */
function answered(command: string, until?: string): string {
  const options = { home: '/home/ada', ...(until !== undefined && { until }) };
  const rules = new CompiledRules(readRules(firstRules('/repo', options)).rules);
  const parts = commandParts(command, { cwd: '/repo', home: '/home/ada' });
  const { denied, asks } = rules.judge({
    ...{ agent: 'coder', tool: 'claude-code/Bash', args: {}, project: '/repo' },
    parts: parts.map(({ server, tool, args }) => {
      const paths = (args['paths'] as string[] | undefined) ?? [];
      return { tool: `${server}/${tool}`, args: { ...args, paths: [...paths, '/repo'] } };
    }),
  });
  return denied?.rule ?? (asks.length > 0 ? 'ask' : 'allow');
}

test.each(['cat .env', 'cat ~/.ssh/id_rsa', 'cp ~/.aws/credentials x', 'cat a/b.pem'])(
  'a secret is refused from the first minute: %s',
  (command) => expect(answered(command, '2030-01-01')).toBe('secrets'),
);

test.each<[string, string]>([
  ['mkdir -p a && touch a/b && sed -i s/x/y/ a/b && rm a/b', 'allow'],
  ['tee a < b', 'allow'],
  ['ln -s b a', 'allow'],
  ['ln -s ../b a', 'ask'],
  ['tar czf a.tgz b', 'allow'],
  ['tar xzf a.tgz', 'ask'],
  ['rm -r a', 'ask'],
  ['git switch -c a && git commit -m x', 'allow'],
  ['git branch -D a', 'ask'],
  ['git switch -f a', 'ask'],
  ['git reset --hard', 'ask'],
  ['git reset --keep HEAD~2', 'ask'],
  ['git switch -C main HEAD~2', 'ask'],
  ['git checkout -B main HEAD~2', 'ask'],
  ['git switch --orphan x', 'ask'],
  ['git fetch . +HEAD~2:feature', 'ask'],
  ['git fetch origin main', 'allow'],
  ['find src -delete', 'ask'],
  ['tar --remove-files -cf a.tar src', 'ask'],
  ['git stash drop', 'ask'],
  ['git push', 'ask'],
  ['ls /tmp ~', 'allow'],
  ['cat /etc/os-release', 'allow'],
  ['cat /etc/passwd', 'ask'],
  ['node a.js', 'ask'],
])('under the first rules, %s: %s', (command, expected) => {
  expect(answered(command)).toBe(expected);
});
