/** Hooks whose server does not answer, with a rules file of this machine. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { startHookServer } from '../../../tests/support/agents/hook-server.ts';
import { firstRules } from '../init/server-files.ts';
import type { Agent } from './agent-answer.ts';
import { answerEvent, type HookEnd } from './answer-event.ts';

const NOBODY = 'http://127.0.0.1:1';
const AGENTS: readonly Agent[] = ['codex', 'claude-code'];

let folder: string;
let project: string;
let rules: string;
let noted: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'assize-alone-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  project = join(folder, 'project');
  mkdirSync(join(project, '.git'), { recursive: true });
  writeFileSync(join(project, '.env'), 'KEY=1');
  writeFileSync(join(folder, 'token'), 'asz_1', { mode: 0o600 });
  rules = join(folder, 'assize.yaml');
  noted = join(folder, 'assize.unrecorded.jsonl');
  writeFileSync(rules, firstRules('${project}', { until: '2099-01-01' }), { mode: 0o600 });
});

function asked(
  agent: Agent,
  command: string,
  { url = NOBODY, name = 'PreToolUse', cwd = project } = {},
): Promise<HookEnd> {
  const event = {
    ...{ hook_event_name: name, session_id: 's1', tool_use_id: 't1', cwd },
    ...{ tool_name: 'Bash', tool_input: { command } },
  };
  const place = { url, tokenFile: join(folder, 'token'), trajectory: 'calls', wait: 0, rules };
  return answerEvent(async () => JSON.stringify(event), { agent, ...place });
}

const lines = (): string[] =>
  existsSync(noted) ? readFileSync(noted, 'utf8').split('\n').filter(Boolean) : [];

test.each(AGENTS)('a call of %s that rules only observe goes on, and is noted', async (agent) => {
  const end = await asked(agent, 'rm -r build && npm test');
  expect(end).toMatchObject({ code: 0, err: '' });
  expect(end.out).toMatch(agent === 'codex' ? /^$/ : /"permissionDecision":"allow"/);
  expect(lines().map((line) => JSON.parse(line))).toEqual([
    { at: expect.stringMatching(/Z$/), agent, call: 's1.t1', tool: `${agent}/Bash` },
  ]);
  expect(await asked(agent, 'ls', { name: 'PermissionRequest' })).toEqual({
    ...{ code: 0, out: '', err: '' },
  });
  expect(lines()).toHaveLength(1);
});

test.each(AGENTS)('what holds from the first minute is refused, of %s', async (agent) => {
  const commands = [
    'cat .env',
    'grep -r KEY .',
    `cd /tmp && cat ${project}/.env`,
    'echo {} > .claude/settings.json',
    `echo x > ${rules}`,
    `rm ${noted}`,
    'echo x > .git/hooks/pre-commit',
  ];
  for (const command of commands)
    expect(await asked(agent, command), command).toMatchObject({ code: 2, out: '' });
  expect(await asked(agent, `cat ${project}/.env`, { cwd: '/tmp' })).toMatchObject({ code: 2 });
  expect(await asked(agent, 'ls', { name: 'ConfigChange' })).toMatchObject({ code: 2 });
  expect(lines()).toEqual([]);
});

test('the settings hold although no rule of the file says so', async () => {
  writeFileSync(rules, 'id: x\nmode: observe\nuntil: 2099-01-01\ndefault: allow\n');
  expect(await asked('codex', 'echo x > .codex/config.toml')).toMatchObject({ code: 2 });
  expect(await asked('codex', 'ls')).toMatchObject({ code: 0 });
});

test('a rule that counts calls is refused where it is enforced', async () => {
  const limit = '{ id: few, tools: shell/rm, per: day, max: 3';
  const file = (mode: string) =>
    `id: x\nmode: observe\nuntil: 2099-01-01\nlimits:\n  - ${limit}${mode} }\n`;
  writeFileSync(rules, file(', mode: enforce'));
  expect((await asked('codex', 'rm a')).err).toContain('[few] the rule needs the calls of before');
  expect(await asked('codex', 'ls')).toMatchObject({ code: 0 });
  writeFileSync(rules, file(''));
  expect(await asked('codex', 'rm a')).toMatchObject({ code: 0 });
});

test.each<[string, () => void]>([
  ['holds', () => writeFileSync(rules, firstRules('${project}'))],
  [
    'observes no longer',
    () => writeFileSync(rules, firstRules('${project}', { until: '2020-01-01' })),
  ],
  ['observes other agents', () => rewrite((text) => text.replace('until', 'agents: [ada]\nuntil'))],
  [
    'observes one rule alone',
    () =>
      writeFileSync(
        rules,
        'id: x\nrules: [{ id: a, ask: shell/rm, mode: observe, until: 2099-01-01 }]',
      ),
  ],
  ['is missing', () => rmSync(rules)],
  ['is a folder', () => [rmSync(rules), mkdirSync(rules)]],
  ['has a fault', () => rewrite((text) => `${text}\n- x`)],
  ['can be written by others', () => chmodSync(rules, 0o646)],
  ['can be written by the group', () => chmodSync(rules, 0o660)],
])('a rules file that %s refuses every call', async (_, change) => {
  change();
  for (const agent of AGENTS) {
    const end = await asked(agent, 'ls');
    expect(end).toMatchObject({ code: 2, out: '' });
    expect(end.err).toMatch(/No server answers .*\. \S/);
  }
  expect(lines()).toEqual([]);
});

function rewrite(change: (text: string) => string): void {
  writeFileSync(rules, change(readFileSync(rules, 'utf8')));
}

test('a server that refuses is obeyed, and one in trouble counts as down', async () => {
  const answered = (status: number) =>
    startHookServer((_, response) => {
      response.writeHead(status, { 'content-type': 'application/problem+json' });
      response.end(JSON.stringify({ detail: 'The token is revoked.' }));
    });
  for (const [status, code] of [
    [401, 2],
    [403, 2],
    [409, 2],
    [503, 0],
  ] as const) {
    const server = await answered(status);
    for (const agent of AGENTS)
      expect(await asked(agent, 'ls', { url: server.url }), String(status)).toMatchObject({ code });
    await server.close();
  }
  expect(lines()).toHaveLength(AGENTS.length);
  rmSync(join(folder, 'token'));
  expect(await asked('codex', 'ls')).toMatchObject({ code: 2 });
});

test('only answers of Assize count, not those of another program there', async () => {
  for (const answer of [{}, { status: 'ok' }, [], 'x']) {
    const foreign = await startHookServer(() => answer as never);
    expect(await asked('claude-code', 'ls', { url: foreign.url })).toMatchObject({ code: 0 });
    await foreign.close();
  }
  expect(lines()).toHaveLength(4);
  const server = await startHookServer(() => ({
    hookSpecificOutput: {
      ...{ hookEventName: 'PreToolUse', permissionDecision: 'deny' },
      permissionDecisionReason: 'no',
    },
  }));
  expect((await asked('claude-code', 'ls', { url: server.url })).out).toContain('"deny"');
  await server.close();
  expect(lines()).toHaveLength(4);
});
