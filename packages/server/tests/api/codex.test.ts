/** The hooks of Codex at the server: permissions, once each, and recorded outcomes. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../tests/support/cases.ts';
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
tools: { notes/add: { class: reversible } }
`;

const hooks = (rules = RULES): Promise<Hooks> => hooksOf('codex', rules);
const bash = (command: string) => ({ command });
const patch = (...lines: readonly string[]) => ({
  command: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n'),
});

test('the rules allow, deny and hold calls of Codex by their parts', async () => {
  const { ask, state } = await hooks();
  expect((await ask('Bash', bash('ls -l && git status'))).permission).toBe('allow');
  expect(await ask('Bash', bash('git status; rm -rf build'))).toMatchObject({
    permission: 'deny',
    reason: expect.stringContaining('Files are removed by hand'),
  });
  expect((await ask('apply_patch', patch('*** Add File: a', '+x'))).permission).toBe('allow');
  expect((await ask('apply_patch', patch('*** Update File: a', '@@', '-x', '+y'))).permission).toBe(
    'allow',
  );
  expect(
    (await ask('apply_patch', patch('*** Add File: a', '+x', '*** Delete File: b'))).reason,
  ).toContain('[no-rm]');
  expect(
    (await ask('apply_patch', patch('*** Update File: a', '*** Move to: ../etc/b'))).permission,
  ).toBe('deny');
  expect((await ask('apply_patch', patch('*** Add File: /etc/a', '+x'))).reason).toContain(
    'a person has to approve',
  );
  expect((await ask('apply_patch', bash('no patch'))).permission).toBe('deny');
  expect((await ask('view_image', { path: 'a.png' })).permission).toBe('allow');
  expect((await ask('view_image', { path: '~/a.png' })).permission).toBe('deny');
  expect((await ask('Bash', bash('bash'))).permission).toBe('deny');
  const { calls, sessions } = await state();
  expect(Object.values<any>(calls).map(({ tool }) => tool)).toEqual([
    ...['codex/Bash', 'codex/apply_patch', 'codex/apply_patch', 'codex/view_image'],
  ]);
  expect(sessions).toMatchObject({ s1: { agent: 'coder', about: 'Codex' } });
});

test('a patch in a command counts as its files', async () => {
  const { ask } = await hooks();
  const { command } = patch('*** Add File: a', '+x');
  const run = async (text: string) => (await ask('Bash', bash(text))).permission;
  expect(await run(`apply_patch <<'EOF'\n${command}\nEOF\n`)).toBe('allow');
  expect(await run(`apply_patch <<'EOF'\n${command.replace(': a', ': /etc/a')}\nEOF\n`)).toBe(
    'deny',
  );
  expect(await run(`cd /etc && apply_patch <<'EOF'\n${command}\nEOF\n`)).toBe('deny');
  const wide = await hooks(
    '{ id: wide, default: deny, rules: [{ id: all, allow: ["shell/apply_patch", "shell/cd"] }] }',
  );
  expect(
    (await wide.ask('Bash', bash(`cd a && apply_patch <<'EOF'\n${command}\nEOF`))).permission,
  ).toBe('deny');
});

test('no server over MCP is trusted by its name', async () => {
  const { ask } = await hooks();
  for (const name of [
    'mcp__notes__add',
    'mcp__unknown_notes__add',
    'mcp__notes___add',
    'mcp__shell__ls',
    'mcp__codex__x',
  ])
    expect((await ask(name, { text: 'x' })).permission, name).toBe('deny');
});

test('a rejected question of Codex stays refused, and a new one is asked', async () => {
  const { ask, server } = await hooks();
  const same = { tool_use_id: 'call_1' };
  const push = () => ask('Bash', bash('git push'), same);
  expect((await push()).reason).toContain('a person has to approve');
  const token = await server.tokenFor('human:grace');
  const list = async () => (await server.ask('GET', '/v1/approvals', { token })).body.approvals;
  const [{ id }] = await list();
  await server.ask('POST', `/v1/approvals/${id}/reject`, {
    token,
    body: { reason: 'not on a Friday' },
  });
  expect((await push()).reason).toContain('not on a Friday');
  expect((await ask('Bash', bash('git push'))).reason).toContain('a person has to approve');
});

test('siblings go on while one of them waits for a person', async () => {
  const { ask } = await hooks();
  const commands = ['git status', 'git push', 'git log'];
  const all = await Promise.all(commands.map((command) => ask('Bash', bash(command))));
  expect(all.map(({ permission }) => permission)).toEqual(['allow', 'deny', 'allow']);
});

test.each(['codex', 'claude-code'] as const)(
  'rules that observe tell %s the ruling',
  async (of) => {
    const observing = `{ id: repo, mode: observe, until: 2099-01-01, rules: [
    { id: no-rm, deny: shell/rm, because: Files are removed by hand. },
    { id: push, ask: shell/git, where: [{ path: /command, is: push }] },
    { id: look, allow: '*', class: read } ] }`;
    const { ask } = await hooksOf(of, observing);
    const reasonOf = async (command: string) => {
      const { permission, reason } = await ask('Bash', bash(command));
      expect(permission).toBe('allow');
      return reason;
    };
    expect(await reasonOf('rm -rf build')).toContain(
      'Enforced, it is refused ([no-rm] Files are removed by hand',
    );
    expect(await reasonOf('git push')).toContain('Enforced, a person has to approve it ([push]');
    expect(await reasonOf('ls')).toBe('Assize: the rules let the call through.');
  },
);

test('requests for a permission of Codex are left to the person, or refused', async () => {
  const { ask, send } = await hooks();
  const input = bash('git status');
  const request = { hook_event_name: 'PermissionRequest', tool_name: 'Bash', tool_input: input };
  const refused = {
    hookEventName: 'PermissionRequest',
    decision: { behavior: 'deny', message: expect.any(String) },
  };
  expect(await send(request)).toEqual({ hookSpecificOutput: refused });
  await ask('Bash', input);
  expect(await send(request)).toEqual({});
  expect(
    await send({ ...request, tool_input: { ...input, description: 'It needs the network.' } }),
  ).toEqual({});
  expect(await send({ ...request, tool_input: bash('git log') })).toEqual({
    hookSpecificOutput: refused,
  });
  expect(await send({ ...request, session_id: 's2' })).toEqual({ hookSpecificOutput: refused });
});

test('outcomes close calls of Codex; changing ones without are reported', async () => {
  const { ask, send, state } = await hooks();
  const done = (n: number, more: object) =>
    send({ hook_event_name: 'PostToolUse', tool_name: 'Bash', tool_use_id: `toolu_${n}`, ...more });
  await ask('Bash', bash('git status'));
  await ask('Bash', bash('git add a'));
  await ask('Bash', bash('ls'));
  expect(await done(1, { tool_response: 'On branch main' })).toEqual({});
  await done(9, { tool_response: '' });
  const outcomes = async () =>
    Object.values((await state()).calls).map(({ outcome }: any) => outcome ?? 'open');
  expect(await outcomes()).toEqual(['done', 'open', 'open']);
  const start = (session_id: string) =>
    send({ hook_event_name: 'SessionStart', session_id, source: 'resume' });
  expect(await start('s2')).toEqual({});
  expect((await start('s1')).systemMessage).toContain('1 call has no known outcome: codex/Bash');
  expect(await send({ hook_event_name: 'PostToolUse', session_id: 's1' })).toEqual({
    systemMessage: expect.stringContaining('could not read'),
  });
  await send({ hook_event_name: 'SessionEnd', reason: 'other' });
  expect((await start('s2')).systemMessage).toContain('1 call');
  expect((await state()).sessions).toMatchObject({ s1: { endedAt: expect.any(String) }, s2: {} });
});

test('subagents of Codex are sessions with a parent', async () => {
  const { ask, send, state } = await hooks();
  await send({ hook_event_name: 'SubagentStart', agent_id: 'a1', agent_type: 'default' });
  await ask('Bash', bash('ls'), { agent_id: 'a1', agent_type: 'default' });
  expect((await state()).sessions).toMatchObject({
    s1: {},
    's1.a1': { parent: 's1', about: 'default' },
  });
  await send({ hook_event_name: 'SubagentStop', agent_id: 'a1' });
  expect((await state()).sessions['s1.a1'].endedAt).toEqual(expect.any(String));
});

test('the settings of Codex ask, whatever the rules allow', async () => {
  const { ask } = await hooks('{ id: wide, default: allow, rules: [{ id: all, allow: "*" }] }');
  for (const path of [
    ...['/home/u/.codex/config.toml', '.codex/config.toml', '.codex/hooks.json', '/home/u/.codex'],
    ...['/home/u/.codex/auth.json', '/x/codex.token', 'node_modules/assize/src/cli/main.js'],
  ]) {
    expect((await ask('apply_patch', patch(`*** Add File: ${path}`, '+x'))).permission, path).toBe(
      'deny',
    );
    expect((await ask('Bash', bash(`echo x >> ${path}`))).permission, path).toBe('deny');
  }
  expect((await ask('Bash', bash('echo x >> README.md'))).permission).toBe('allow');
});

test('a malformed question of Codex is never a permission', async () => {
  const { server } = await hooks('{ id: none, default: deny }');
  const token = await server.tokenFor('agent:coder');
  const path = '/v1/trajectories/calls/hooks/codex?wait=0';
  const member = fc.constantFrom(
    'session_id',
    'cwd',
    'tool_name',
    'tool_input',
    'tool_use_id',
    'agent_id',
  );
  const value = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom('Bash', 'apply_patch', { command: 'ls' }, '/repo', 's1', null),
  );
  const event = fc.constantFrom('PreToolUse', 'PermissionRequest');
  await fc.assert(
    fc.asyncProperty(event, fc.dictionary(member, value), async (name, given) => {
      const { status, body } = await server.ask('POST', path, {
        token,
        body: { hook_event_name: name, ...given },
      });
      if (status >= 400) return;
      const said = body.hookSpecificOutput;
      const reason = said?.permissionDecisionReason ?? said?.decision?.message;
      const isRefused = said?.permissionDecision === 'deny' || said?.decision?.behavior === 'deny';
      expect({ name, given, body, isRefused, hasReason: reason !== '' }).toMatchObject({
        isRefused: true,
        hasReason: true,
      });
    }),
    { numRuns: cases(150) },
  );
});

test('an unknown event of Codex and a wrong world get no permission', async () => {
  const { server, send } = await hooks();
  expect(await send({ hook_event_name: 'SomethingNew', tool_name: 'Bash' })).toEqual({});
  const path = '/v1/trajectories/nowhere/hooks/codex';
  const body = { hook_event_name: 'PreToolUse' };
  expect(
    (await server.ask('POST', path, { token: await server.tokenFor('agent:coder'), body })).status,
  ).toBe(404);
});
