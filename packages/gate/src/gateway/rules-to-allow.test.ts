import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../tests/support/cases.ts';
import { readRules, rulesIn, rulesToAllow, SECRETS } from './index.ts';
import { CompiledRules } from './judge/compiled-rules.ts';
import { flowText } from './rules/flow-text.ts';

const FILE = `
id: shop
rules:
  - { id: look, allow: 'shell/*', class: read, path: /repo }
  - { id: remove, ask: shell/rm, because: Look first. }
  - { id: secrets, deny: ['files/*', 'shell/*'], path: /repo/.env }
`;
const { rules } = readRules(FILE);

const program = (tool: string, argv: readonly string[], paths: readonly string[]) => ({
  server: 'shell',
  tool,
  args: { argv, paths, cwd: '/repo' },
});
const part = fc.oneof(
  fc
    .record({
      tool: fc.constantFrom('npm', 'make', 'rm', 'ls'),
      argv: fc.array(fc.oneof(fc.constantFrom('test', '[look] x', '; [a] b'), fc.string())),
      paths: fc.array(fc.constantFrom('/repo', '/repo/a', '/tmp/x', '/repo/.env')),
    })
    .map(({ tool, argv, paths }) => program(tool, argv, paths)),
  fc.record({
    server: fc.constant('files'),
    tool: fc.constantFrom('read', 'edit'),
    args: fc.record({ path: fc.constantFrom('/repo/a', '/home/a b', '/repo/.env') }),
  }),
  fc.constantFrom(
    { server: 'web', tool: 'fetch', args: { url: 'https://a.example:8443/x' } },
    { server: 'shell', tool: 'dynamic', args: { text: '[remove] $(x)' } },
  ),
);

const judged = (file: string, parts: readonly { server: string; tool: string; args: object }[]) =>
  new CompiledRules(readRules(file).rules).judge({
    ...{ agent: 'coder', tool: 'claude-code/Bash', args: {}, project: '/repo' },
    parts: parts.map(({ server, tool, args }) => ({
      tool: `${server}/${tool}`,
      args: args as never,
    })),
  });

test('the added rules let this call through, and no other use of its program', () => {
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), (parts) => {
      const args = { server: 'claude-code', tool: 'Bash', args: {}, parts };
      const found = rulesToAllow(rules, { agent: 'coder', args });
      const { denied, asks } = judged(FILE, parts);
      for (const each of denied === undefined ? asks : [denied]) {
        expect(each.why).not.toMatch(/\[[a-z0-9-]+\] /);
        expect(rulesIn(`[${each.rule}] ${each.why}`)).toEqual([each.rule]);
      }
      if ('problem' in found) {
        const isLeft = denied ?? asks.find(({ rule }) => rule !== 'default');
        expect(found.problem).toContain(isLeft === undefined ? 'already' : `[${isLeft.rule}]`);
        return;
      }
      const lines = found.rules.map(
        (rule, i) => `  - ${flowText({ id: `n-${i}`, ...rule } as never)}\n`,
      );
      const after = FILE + lines.join('');
      expect(judged(after, parts)).toMatchObject({ denied: undefined, asks: [] });
      for (const one of parts)
        if (one.server === 'shell' && 'argv' in one.args && one.tool !== 'ls')
          expect(
            judged(after, [program(one.tool, [...one.args.argv, '--more'], ['/repo'])]).asks,
          ).not.toEqual([]);
    }),
    { numRuns: cases(4_000) },
  );
});

test('rules of the project of a call are judged for it, too', () => {
  const text = `id: own\nrules:\n  - { id: secrets, deny: 'files/*', path: '\${project}/.env' }\n`;
  const parts = [{ server: 'files', tool: 'read', args: { path: '/repo/a' } }];
  const args = { server: 'claude-code', tool: 'Read', args: {}, project: '/repo', parts };
  expect(rulesToAllow(readRules(text).rules, { agent: 'coder', args })).toEqual({
    rules: [{ allow: 'files/read', path: '/repo/a' }],
  });
});

test.each([
  ['all keys are refused', SECRETS.map((name) => `**/${name}`), '', '${project}'],
  ['only some keys are', ['**/.env'], '', '/repo/a'],
  ['only those at the top are', SECRETS.map((name) => `/repo/${name}`), '', '/repo/a'],
  ['only writing them is', SECRETS.map((name) => `**/${name}`), ', class: reversible', '/repo/a'],
])('readings of the project are free if %s', (_, places, more, expected) => {
  const text = `id: own\nrules:\n  - { id: keys, deny: 'files/*', path: ${JSON.stringify(places)}${more} }\n`;
  const parts = [{ server: 'files', tool: 'read', args: { path: '/repo/a' } }];
  const args = { server: 'claude-code', tool: 'Read', args: {}, project: '/repo', parts };
  const found = rulesToAllow(readRules(text).rules, { agent: 'coder', args }, {}, false);
  expect(found).toMatchObject({ rules: [{ allow: 'files/read', path: expected }] });
});

test('a rule for the tests of a project lets no other words through', () => {
  const text = `id: own\nrules:\n  - { id: keys, deny: 'files/*', path: ${JSON.stringify(SECRETS.map((name) => `**/${name}`))} }\n`;
  const npm = (...argv: string[]) => ({
    ...{ server: 'shell', tool: 'npm' },
    args: { argv, paths: ['/repo'], cwd: '/repo', command: 'test', class: 'irreversible' },
  });
  const args = { server: 'claude-code', tool: 'Bash', args: {}, project: '/repo' };
  const call = { agent: 'coder', args: { ...args, parts: [npm('test')] } };
  const found = rulesToAllow(readRules(text).rules, call, {}, false);
  const [rule] = 'rules' in found ? found.rules : [];
  const after = `${text}  - ${flowText({ id: 'new', ...rule } as never)}\n`;
  for (const more of [[], ['--script-shell', 'a'], ['-w', 'a'], ['--', '--import', 'a']])
    expect(judged(after, [npm('test', ...more)]).asks).toHaveLength(more.length === 0 ? 0 : 1);
});

test('a reason names the part, and the rule that would let it through', () => {
  const parts = [
    program('npm', ['test'], ['/repo']),
    program('rm', ['-r', 'build'], ['/repo/build']),
  ];
  expect(judged(FILE, parts).asks).toEqual([
    {
      rule: 'default',
      why: 'no rule applies to `npm test`; this one would: { allow: shell/npm, path: /repo, where: [{ path: /argv, is: [test]}]}',
    },
    { rule: 'remove', why: 'Look first. (`rm -r build`)' },
  ]);
  const dynamic = { server: 'shell', tool: 'dynamic', args: { text: 'sh -c "$X"' } };
  expect(judged(FILE, [dynamic]).asks).toEqual([
    { rule: 'unknown-tool', why: 'what `sh -c "$X"` does is known only when it runs' },
  ]);
  const merged = (text: string) =>
    judged(FILE, [{ server: 'shell', tool: 'dynamic', args: { text } }]).asks[0]?.why;
  expect(merged('git merge topic')).toMatch(/; --no-edit keeps git from opening an editor$/);
  expect(merged('git pull')).toContain('--no-edit');
  expect(merged('git merge $X')).not.toContain('--no-edit');
  const many = Array.from({ length: 40 }, (_, i) => program(`p${i}`, [], ['/repo']));
  const { asks } = judged(FILE, many);
  expect(asks.map(({ why }) => why.slice(0, 24))).toHaveLength(4);
  expect(asks.at(-1)?.why).toMatch(/, and more$/);
});
