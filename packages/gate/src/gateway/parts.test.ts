import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../tests/support/cases.ts';
import { desk, said } from '../../../../tests/support/domains/gateway/desk.ts';
import { readRules } from './index.ts';
import { CompiledRules } from './judge/compiled-rules.ts';

const RULES = `
id: parts
default: ask
rules:
  - { id: look, allow: [files/read, files/search, shell/*], class: read }
  - { id: git, allow: shell/git, where: [{ path: /argv/1, in: [status, commit] }] }
  - { id: repo, allow: [files/write, files/edit, shell/write], path: /repo }
  - { id: secrets, deny: '*', path: /repo/secrets }
  - { id: two, ask: shell/deploy, approvals: 2 }
  - { id: no-rm, deny: shell/rm }
limits:
  - { id: commits, tools: shell/git, per: day, max: 2 }
`;

interface Part {
  readonly server: string;
  readonly tool: string;
  readonly args: object;
}

const program = (tool: string, ...argv: string[]): Part => ({
  server: 'shell',
  tool,
  args: {
    argv: [tool, ...argv],
    paths: argv.filter((word) => word.startsWith('/')),
    class: /^(?:cat|ls)$/.test(tool) ? 'read' : 'irreversible',
  },
});
const file = (server: string, tool: string, path: string): Part => ({
  server,
  tool,
  args: { path },
});
const bash = (...parts: Part[]) => ({ parts, once: true });

test('a call is as strict as its strictest part', async () => {
  const { call } = await desk(RULES);
  const run = async (...parts: Part[]) =>
    said(await call('ada', 'claude-code/Bash', { command: 'x' }, bash(...parts)));
  expect(await run(program('cat', '/etc/hosts'))).toBe('committed');
  expect(await run(program('cat', '/etc/hosts'), program('git', 'commit'))).toBe('committed');
  expect(await run(program('cat'), program('npm', 'test'))).toBe('escalated default');
  expect(await run(program('cat'), program('rm', '/repo/a'), program('npm'))).toBe(
    'rejected no-rm',
  );
  expect(await run(program('cat', '/repo/secrets/key'))).toBe('rejected secrets');
  expect(await run(program('ls'), file('shell', 'write', '/repo/Secrets/key'))).toBe(
    'rejected secrets',
  );
  expect(await run(program('ls'), file('shell', 'write', '/repo/a'))).toBe('committed');
  expect(await run(program('ls'), file('shell', 'write', '/repo/../a'))).toBe('rejected repo');
  expect(await run(program('ls'), { server: 'shell', tool: 'dynamic', args: { text: '$x' } })).toBe(
    'escalated unknown-tool',
  );
});

test('an unknown part asks, even where a rule allows every program', async () => {
  const { call } = await desk('{ id: wide, default: allow, rules: [{ id: all, allow: "*" }] }');
  for (const tool of ['dynamic', 'unparsed', 'file'])
    expect(
      said(await call('ada', 'claude-code/Bash', {}, bash({ server: 'shell', tool, args: {} }))),
    ).toBe('escalated unknown-tool');
  expect(said(await call('ada', 'claude-code/Bash', {}, bash(program('git', 'push'))))).toBe(
    'committed',
  );
});

test('a rule about the whole call makes it stricter, and never wider', async () => {
  const { call } = await desk(`
id: whole
rules:
  - { id: bash, allow: claude-code/* }
  - { id: git, allow: shell/git }
  - { id: no-write, deny: claude-code/Write }
`);
  expect(said(await call('ada', 'claude-code/Bash', {}, bash(program('npm'))))).toBe(
    'escalated default',
  );
  expect(said(await call('ada', 'claude-code/Bash', {}, bash(program('git'))))).toBe('committed');
  expect(said(await call('ada', 'claude-code/Write', {}, bash(program('git'))))).toBe(
    'rejected no-write',
  );
});

test('a limit counts a call by its parts, once', async () => {
  const { call } = await desk(RULES);
  const twice = bash(program('git', 'commit'), program('git', 'status'));
  const rulings = [];
  for (let n = 0; n < 3; n++) rulings.push(said(await call('ada', 'claude-code/Bash', {}, twice)));
  expect(rulings).toEqual(['committed', 'committed', 'rejected commits']);
});

test('the approvals of a call are those of its most demanding part', async () => {
  const { call, approve } = await desk(RULES);
  const asked = await call('ada', 'claude-code/Bash', {}, bash(program('npm'), program('deploy')));
  const first = await approve(asked, 'human:grace');
  expect(said(first)).toMatch(/^escalated/);
  expect(said(await approve(first, 'human:otto'))).toBe('committed');
});

const TOOLS = [
  'files/read',
  'files/write',
  'shell/git',
  'shell/rm',
  'shell/cat',
  'shell/dynamic',
  'bank/pay',
];
const part = fc.record({
  tool: fc.constantFrom(...TOOLS),
  args: fc.record({
    path: fc.constantFrom('/repo/a', '/repo/secrets/a', '/repo/../a'),
    paths: fc.subarray(['/repo/a', '/repo/secrets/a', '/x']),
    argv: fc.constantFrom(['git', 'status'], ['git', 'push']),
  }),
});

test('the verdict is the strictest of those on each part alone', () => {
  const compiled = new CompiledRules(readRules(RULES).rules);
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), (parts) => {
      const alone = parts.map((each) => compiled.judge({ agent: 'ada', ...each }));
      const whole = compiled.judge({ agent: 'ada', tool: 'claude-code/Bash', args: {}, parts });
      expect(whole.denied !== undefined).toBe(alone.some(({ denied }) => denied !== undefined));
      expect(new Set(whole.asks.map(({ rule }) => rule))).toEqual(
        new Set(alone.flatMap(({ asks }) => asks.map(({ rule }) => rule))),
      );
      const asking = alone.filter(({ asks }) => asks.length > 0);
      expect(whole.approvals).toBe(Math.max(1, ...asking.map(({ approvals }) => approvals)));
      expect(whole.coverable).toBe(asking.every(({ coverable }) => coverable));
      const order = ['read', 'reversible', 'irreversible'];
      expect(order.indexOf(whole.class)).toBe(
        Math.max(...alone.map((each) => order.indexOf(each.class))),
      );
    }),
    { numRuns: cases(500) },
  );
});
