/** The hooks of Claude Code at the server: permissions, once each, and recorded outcomes. */
import { mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { configuration, readRules } from '@assize/gate/unstable/gateway';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { cases } from '../../../../tests/support/cases.ts';
import { callOperation, succeed } from '../../../../tests/support/server/calling.ts';
import { type Hooks, hooksOf } from '../support/agents/hooks.ts';

const RULES = `
id: repo
rules:
  - { id: look, allow: '*', class: read }
  - { id: edit, allow: [files/write, files/edit, shell/write], path: /repo }
  - { id: git, allow: shell/git }
  - { id: push, ask: shell/git, where: [{ path: /argv/0, is: push }] }
  - { id: no-rm, deny: shell/rm, because: Files are removed by hand. }
  - { id: notes, allow: 'notes/*' }
`;

const hooks = (rules = RULES): Promise<Hooks> => hooksOf('claude-code', rules);

const bash = (command: string) => ({ command });

test('the rules allow, deny and hold calls by what they do', async () => {
  const { ask, state } = await hooks();
  expect(await ask('Read', { file_path: 'src/a.ts' })).toMatchObject({ permission: 'allow' });
  expect((await ask('Write', { file_path: '/repo/a.ts', content: 'a' })).permission).toBe('allow');
  expect((await ask('Bash', bash('ls -l && git status'))).permission).toBe('allow');
  const removed = await ask('Bash', bash('git status; rm -rf build'));
  expect(removed).toMatchObject({
    permission: 'deny',
    reason: expect.stringContaining('Files are removed by hand'),
  });
  const outside = await ask('Write', { file_path: '/repo/../etc/passwd', content: 'x' });
  expect(outside).toMatchObject({
    permission: 'deny',
    reason: expect.stringContaining('a person has to approve'),
  });
  expect((await ask('Bash', bash('$(cat x)'))).permission).toBe('deny');
  const { calls, sessions } = await state();
  expect(Object.keys(calls)).toEqual(['s1.toolu_1', 's1.toolu_2', 's1.toolu_3']);
  expect(sessions).toMatchObject({ s1: { agent: 'coder' } });
});

test('an approval with another command does not let the asked one through', async () => {
  const { ask, server } = await hooks();
  const token = await server.tokenFor('human:grace');
  const amended = async (command: string) => {
    const asked = ask('Bash', bash('git push --force'), {}, 'wait=30');
    const list = async () => (await server.ask('GET', '/v1/approvals', { token })).body.approvals;
    await expect.poll(async () => (await list()).length).toBe(1);
    const [{ id, digest, action }] = await list();
    const [part] = action.args.parts;
    const [, ...argv] = command.split(' ');
    const args = {
      ...action.args,
      args: bash(command),
      parts: [{ ...part, args: { ...part.args, argv, flags: [] } }],
    };
    const body = { digest, reason: 'not by force', args };
    expect((await server.ask('POST', `/v1/approvals/${id}/approve`, { token, body })).status).toBe(
      200,
    );
    return asked;
  };
  const first = await amended('git push');
  expect(first).toMatchObject({
    permission: 'deny',
    reason: expect.stringContaining('with other arguments'),
  });
  expect((await ask('Bash', bash('git push'))).permission).toBe('allow');
  expect((await ask('Bash', bash('git push'))).permission).toBe('deny');
});

test('an approval ends when the rules change, and the call asks again', async () => {
  const { ask, approve, server } = await hooks();
  await ask('Bash', bash('git push'));
  await approve();
  const { assize, systemWrits, clock } = server.service;
  const stricter = readRules(`${RULES}  - { id: two, ask: shell/git, approvals: 2 }\n`).rules;
  const writ = systemWrits.forAction('admin:ann', 'configure', 'calls', clock.now());
  const put = { action: 'configure', role: 'admin', args: configuration(stricter), writ };
  expect((await (await assize.open('calls')).propose(put as never)).ruling).toBe('committed');
  expect((await ask('Bash', bash('git push'))).reason).toContain('[two]');
});

test('a link in a command counts under the name that it leads to', async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'assize-links-')));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  symlinkSync(join(folder, 'outside'), join(folder, 'link'));
  const { ask } = await hooks(`
id: links
rules:
  - { id: look, allow: 'shell/*', path: ${folder} }
  - { id: outside, deny: '*', path: ${folder}/outside }
`);
  expect((await ask('Bash', bash('cat here'), { cwd: folder })).permission).toBe('allow');
  expect((await ask('Bash', bash('ls'), { cwd: folder })).permission).toBe('allow');
  expect((await ask('Bash', bash('ls'), { cwd: '/srv' })).permission).toBe('deny');
  expect((await ask('Bash', bash('cat link'), { cwd: folder })).reason).toContain('[outside]');
  expect((await ask('Bash', bash('echo x > link'), { cwd: folder })).reason).toContain('[outside]');
});

test('a deferred call is allowed once after its approval, or stays refused', async () => {
  const { ask, approve, server } = await hooks();
  const same = { tool_use_id: 'toolu_d' };
  const asked = () => ask('Bash', bash('git push'), same, 'wait=0&pending=defer');
  expect((await asked()).permission).toBe('defer');
  expect((await asked()).permission).toBe('defer');
  await approve();
  expect((await asked()).permission).toBe('allow');
  expect((await asked()).permission).toBe('deny');
  const other = { tool_use_id: 'toolu_e' };
  const second = () => ask('Bash', bash('git push origin'), other, 'wait=0&pending=defer');
  expect((await second()).permission).toBe('defer');
  const token = await server.tokenFor('human:grace');
  const [{ id }] = (await server.ask('GET', '/v1/approvals', { token })).body.approvals;
  await server.ask('POST', `/v1/approvals/${id}/reject`, {
    token,
    body: { reason: 'not on a Friday' },
  });
  expect(await second()).toMatchObject({
    permission: 'deny',
    reason: expect.stringContaining('not on a Friday'),
  });
  expect((await second()).permission).toBe('deny');
  const inSubagent = await ask(
    'Bash',
    bash('git push x'),
    { agent_id: 'a1' },
    'wait=0&pending=defer',
  );
  expect(inSubagent.permission).toBe('deny');
});

test('calls that rules let through can be confirmed at the terminal too', async () => {
  const { ask } = await hooks();
  const run = async (confirm: string, command: string) =>
    (await ask('Bash', bash(command), {}, `wait=0&confirm=${confirm}`)).permission;
  expect(await run('irreversible', 'ls')).toBe('allow');
  expect(await run('irreversible', 'git branch -D x')).toBe('ask');
  expect(await run('changes', 'echo x > a')).toBe('ask');
  expect(await run('always', 'ls')).toBe('ask');
  expect(await run('always', 'rm x')).toBe('deny');
});

test('outcomes close calls, and a call without one is in doubt later', async () => {
  const { ask, send, state } = await hooks();
  const done = (hook_event_name: string, n: number, more: object) =>
    send({
      hook_event_name,
      tool_name: 'Bash',
      tool_input: bash('ls'),
      tool_use_id: `toolu_${n}`,
      ...more,
    });
  for (let n = 0; n < 6; n++) await ask('Bash', bash('ls'));
  await done('PostToolUse', 1, { tool_response: { stdout: 'a' } });
  await done('PostToolUseFailure', 2, { error: 'Exit code 1' });
  await done('PostToolUseFailure', 3, { error: 'stopped', is_interrupt: true });
  const refused = 'Permission to use Bash with command ls has been denied.';
  const turn = { toolu_1: 'a', toolu_4: refused, toolu_5: 'Exit code 1' };
  const tool_calls = Object.entries(turn).map(([tool_use_id, tool_response]) => ({
    tool_use_id,
    tool_response,
  }));
  await send({ hook_event_name: 'PostToolBatch', tool_calls });
  const outcomes = async () =>
    Object.values((await state()).calls).map(({ outcome }: any) => outcome ?? 'open');
  expect(await outcomes()).toEqual(['done', 'failed', 'unknown', 'failed', 'unknown', 'open']);
  await done('PostToolUse', 1, { tool_response: { stdout: 'other' } });
  expect((await outcomes())[0]).toBe('done');
  const prompt = (session_id: string) =>
    send({ hook_event_name: 'UserPromptSubmit', session_id, prompt: 'go on' });
  expect((await prompt('s2')).systemMessage).toContain('2 calls have no known outcome');
  expect((await prompt('s1')).systemMessage).toContain('3 calls have no known outcome');
  await send({ hook_event_name: 'SessionEnd', reason: 'other' });
  expect((await prompt('s2')).systemMessage).toContain('3 calls have no known outcome');
  expect((await state()).sessions).toMatchObject({ s1: { endedAt: expect.any(String) }, s2: {} });
});

test('a person settles a call without an outcome, and its agent does not', async () => {
  const { ask, send, server, state } = await hooks();
  await ask('Bash', bash('ls'));
  await ask('Bash', bash('ls'));
  const done = {
    hook_event_name: 'PostToolUseFailure',
    tool_name: 'Bash',
    tool_input: bash('ls'),
    is_interrupt: true,
  };
  await send({ ...done, tool_use_id: 'toolu_1' });
  const path = { trajectory: 'calls' };
  const [tokenOfGrace, tokenOfAgent] = [
    await server.tokenFor('human:grace'),
    await server.tokenFor('agent:coder'),
  ];
  const grace = { token: tokenOfGrace, path };
  const open = async () => (await succeed(server, 'calls.open', grace)).calls;
  expect(await open()).toMatchObject([
    { call: 's1.toolu_1', agent: 'coder', tool: 'claude-code/Bash', in_doubt: true, class: 'read' },
    { call: 's1.toolu_2', in_doubt: false },
  ]);
  expect(
    (await succeed(server, 'calls.open', { ...grace, query: { agent: 'other' } })).calls,
  ).toEqual([]);
  const settling = {
    path: { trajectory: 'calls', call: 's1.toolu_1' },
    body: { outcome: 'failed', evidence: 'no file' },
  };
  expect(
    (await callOperation(server, 'calls.settle', { token: tokenOfAgent, ...settling })).status,
  ).toBe(403);
  const { ruling } = await succeed(server, 'calls.settle', { token: tokenOfGrace, ...settling });
  expect(ruling.ruling).toBe('committed');
  expect((await state()).calls['s1.toolu_1'].outcome).toBe('failed');
  expect(await open()).toHaveLength(1);
  const again = await succeed(server, 'calls.settle', { token: tokenOfGrace, ...settling });
  expect(again.ruling).toMatchObject({
    ruling: 'rejected',
    detail: expect.stringContaining('closed: failed'),
  });
  const { body } = await server.ask('GET', `/v1/entries/${ruling.entry_id}?values=true`, {
    token: tokenOfGrace,
  });
  expect(JSON.stringify(body)).toContain('human:grace');
});

test('work in the background is recorded as started', async () => {
  const { ask, send, server } = await hooks();
  const tool_input = { ...bash('ls'), run_in_background: true };
  await ask('Bash', tool_input);
  const done = {
    hook_event_name: 'PostToolUse',
    tool_name: 'Bash',
    tool_input,
    tool_use_id: 'toolu_1',
  };
  await send({ ...done, tool_response: { stdout: '', backgroundTaskId: 'b1' } });
  const token = await server.tokenFor('human:grace');
  const { entries } = await succeed(server, 'entries.list', {
    token,
    path: { trajectory: 'calls' },
  });
  const report = entries.find(
    ({ action }: any) => action === 'report' || action?.name === 'report',
  );
  const { body } = await server.ask('GET', `/v1/entries/${report.id}?values=true`, { token });
  expect(JSON.stringify(body)).toContain('reports no end of it');
});

test('the entry of a call’s outcome has the text of a file before it', async () => {
  const { ask, send, server } = await hooks();
  const input = { file_path: '/repo/a', old_string: 'x', new_string: '$&y', replace_all: false };
  await ask('Edit', input);
  const tool_response = { filePath: '/repo/a', originalFile: 'axbx', replaceAll: false };
  await send({
    hook_event_name: 'PostToolUse',
    tool_name: 'Edit',
    tool_input: input,
    tool_use_id: 'toolu_1',
    tool_response,
  });
  const token = await server.tokenFor('human:grace');
  const { entries } = (await server.ask('GET', '/v1/trajectories/calls/entries', { token })).body;
  const report = entries.find(
    ({ action }: any) => action === 'report' || action?.name === 'report',
  );
  const { body } = await server.ask('GET', `/v1/entries/${report.id}?values=true`, { token });
  expect(JSON.stringify(body)).toContain('"before":"axbx"');
});

test('subagents are sessions with a parent', async () => {
  const { ask, send, state } = await hooks();
  await ask('Bash', bash('ls'), { agent_id: 'a1', agent_type: 'Explore' });
  expect((await state()).sessions).toMatchObject({
    s1: {},
    's1.a1': { parent: 's1', about: 'Explore' },
  });
  await send({ hook_event_name: 'SubagentStop', agent_id: 'a1' });
  expect((await state()).sessions['s1.a1'].endedAt).toEqual(expect.any(String));
});

test('an MCP server of a project or a plugin has no name of a trusted one', async () => {
  const { ask } = await hooks();
  const run = async (name: string, source: string) =>
    (await ask(`mcp__${name}__add`, { text: 'x' }, { mcp_server: { name, source } })).permission;
  const listed = await hooks(`${RULES}tools: { notes/add: { class: reversible } }\n`);
  const trusted = await listed.ask(
    'mcp__notes__add',
    { text: 'x' },
    { mcp_server: { name: 'notes', source: 'user' } },
  );
  expect(trusted.permission).toBe('allow');
  const pretended = await listed.ask(
    'mcp__notes__add',
    { text: 'x' },
    { mcp_server: { name: 'notes', source: 'project' } },
  );
  expect(pretended.permission).toBe('deny');
  expect((await listed.ask('mcp__notes__add', { text: 'x' })).permission).toBe('deny');
  expect(await run('shell', 'user')).toBe('deny');
  expect(await run('files', 'user')).toBe('deny');
});

test('settings of agents and of the server ask, whatever the rules allow', async () => {
  const { ask } = await hooks('{ id: wide, default: allow, rules: [{ id: all, allow: "*" }] }');
  for (const path of [
    ...[
      '.claude/settings.local.json',
      '/home/u/.claude.json',
      'assize.yaml',
      '/x/assize.db.root.key',
    ],
    ...['/home/u/.assize', '/home/u/.assize/assize.db-wal', '.git/config', '.git/hooks/pre-commit'],
  ]) {
    expect((await ask('Write', { file_path: path, content: '' })).permission).toBe('deny');
    expect((await ask('Bash', bash(`cat ${path}`))).permission).toBe('deny');
  }
  expect((await ask('Bash', bash('cat README.md'))).permission).toBe('allow');
});

test('requests for a permission are left to the person, or refused', async () => {
  const { ask, send } = await hooks();
  const input = bash('git status');
  const request = { hook_event_name: 'PermissionRequest', tool_name: 'Bash', tool_input: input };
  expect((await send(request)).hookSpecificOutput.decision.behavior).toBe('deny');
  await ask('Bash', input);
  expect(await send(request)).toEqual({});
  expect(
    (await send({ ...request, tool_input: bash('git log') })).hookSpecificOutput.decision.behavior,
  ).toBe('deny');
});

test('changed settings are kept out, and questions of servers are ruled on', async () => {
  const { server, send, state } = await hooks(
    `${RULES}  - { id: others, deny: claude-code/elicitation, where: [{ path: /server, is: other }] }
tools: { claude-code/elicitation: { class: read } }
`,
  );
  const change = {
    hook_event_name: 'ConfigChange',
    source: 'local_settings',
    file_path: '/repo/.claude/settings.local.json',
  };
  expect((await send(change)).decision).toBe('block');
  const token = await server.tokenFor('human:grace');
  const { entries } = (await server.ask('GET', '/v1/trajectories/calls/entries', { token })).body;
  const { body } = await server.ask('GET', `/v1/entries/${entries.at(-1).id}`, { token });
  const { hook_event_name: _, ...value } = change;
  expect(body.payload.observations).toEqual([{ name: 'refused_settings', value }]);
  const question = {
    hook_event_name: 'Elicitation',
    mcp_server_name: 'notes',
    message: 'Which?',
    mode: 'form',
  };
  for (let n = 0; n < 2; n++) expect(await send(question)).toEqual({});
  expect((await send({ ...question, mcp_server_name: 'other' })).hookSpecificOutput.action).toBe(
    'decline',
  );
  const asked = { tool: 'claude-code/elicitation', outcome: 'done' };
  expect(Object.values((await state()).calls)).toMatchObject([asked, asked]);
});

test('a command in a skill is ruled on like any other', async () => {
  const { send, state } = await hooks();
  const run = async (command: string, id: string, invoked_by = 'claude') => {
    const event = {
      hook_event_name: 'PreSkillShellCommand',
      tool_name: 'Bash',
      tool_input: { command },
      invoked_by,
    };
    const { hookSpecificOutput: said } = await send({ ...event, tool_use_id: id });
    return [said.hookEventName, said.permissionDecision];
  };
  expect(await run('git status', 'toolu_s:preamble-0')).toEqual(['PreSkillShellCommand', 'allow']);
  expect(await run('rm x', 'toolu_s:preamble-1')).toEqual(['PreSkillShellCommand', 'deny']);
  expect(await run('git log', 'uuid:inner:preamble-0', 'user')).toEqual([
    'PreSkillShellCommand',
    'allow',
  ]);
  await run('git diff', 'toolu_t:preamble-0');
  await run('git show', 'toolu_u:preamble-0');
  const outcomes = async () =>
    Object.values((await state()).calls).map(({ outcome }: any) => outcome ?? 'open');
  expect(await outcomes()).toEqual(['open', 'open', 'open', 'done']);
  const skill = { tool_name: 'Skill', tool_input: { skill: 'pls' } };
  await send({
    hook_event_name: 'PostToolUse',
    ...skill,
    tool_use_id: 'toolu_s',
    tool_response: { success: true },
  });
  await send({
    hook_event_name: 'PostToolUseFailure',
    ...skill,
    tool_use_id: 'toolu_t',
    error: 'failed',
  });
  expect(await outcomes()).toEqual(['done', 'unknown', 'open', 'done']);
});

const QUESTIONS = [
  'PreToolUse',
  'PreSkillShellCommand',
  'PermissionRequest',
  'ConfigChange',
  'Elicitation',
];

test('a malformed question is never a permission', async () => {
  const { server } = await hooks('{ id: none, default: deny }');
  const token = await server.tokenFor('agent:coder');
  const path = '/v1/trajectories/calls/hooks/claude-code?wait=0';
  const member = fc.constantFrom(
    'session_id',
    'cwd',
    'tool_name',
    'tool_input',
    'tool_use_id',
    'mcp_server',
    'source',
  );
  const value = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom('Bash', 'Read', { command: 'ls' }, '/repo', 's1', null),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...QUESTIONS),
      fc.dictionary(member, value),
      async (name, given) => {
        const { status, body } = await server.ask('POST', path, {
          token,
          body: { hook_event_name: name, ...given },
        });
        if (status >= 400) return;
        const said = body.hookSpecificOutput;
        const isRefused =
          said?.permissionDecision === 'deny' ||
          said?.decision?.behavior === 'deny' ||
          said?.action === 'decline' ||
          body.decision === 'block';
        expect({ name, given, body, isRefused }).toMatchObject({ isRefused: true });
      },
    ),
    { numRuns: cases(150) },
  );
});

test('an unknown event, a stranger and a wrong world get no permission', async () => {
  const { server, send } = await hooks();
  expect(await send({ hook_event_name: 'SomethingNew', tool_name: 'Bash' })).toEqual({});
  const path = '/v1/trajectories/calls/hooks/claude-code';
  expect((await server.ask('POST', path, { body: { hook_event_name: 'Stop' } })).status).toBe(401);
  const token = await server.tokenFor('human:grace');
  expect(
    (await server.ask('POST', path, { token, body: { hook_event_name: 'Stop' } })).status,
  ).toBe(403);
  const agent = await server.tokenFor('agent:coder');
  expect(
    (
      await server.ask('POST', '/v1/trajectories/nowhere/hooks/claude-code', {
        token: agent,
        body: { hook_event_name: 'Stop' },
      })
    ).status,
  ).toBe(404);
});
