/** The real Claude Code, whose calls a real server rules on. The model follows a script. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { linesIn } from '../../../../tests/support/agents/ruling.ts';
import { claudeProgram } from '../../../../tests/support/claude-code/program.ts';
import { startDelayed } from '../support/agents/delayed.ts';
import { startDesk } from '../support/agents/desk.ts';
import { startMessagesApi, use } from '../support/claude-code/messages-api.ts';
import { notesServer } from '../support/claude-code/notes-server.ts';
import { append, hookSettings, ruledClaude, ruledStage } from '../support/claude-code/ruled.ts';
import { runClaude } from '../support/claude-code/run-claude.ts';

/** Rules that let an agent write its own settings. */
const WIDE = {
  tools: '  claude-code/settings: { class: reversible }\n  shell/dynamic: { class: reversible }',
  rules: "  - { id: wide, allow: '*' }",
};

const skillText = (commands: readonly string[]): string =>
  `---\nname: pls\ndescription: A skill.\n---\n${commands.map((command) => `!\`${command}\``).join('\n')}\n`;

const errorWith = (text: string) => ({ is_error: true, content: expect.stringContaining(text) });

describe.skipIf(claudeProgram() === undefined)(
  'Claude Code (absent without npm ci --prefix peers)',
  () => {
    test('a call that the rules allow runs once and is closed', async () => {
      const { run, story } = await ruledClaude({
        work: [[append('toolu_1', 'a')], [append('toolu_2', 'b')]],
      });
      const { told } = await run({ prompt: 'work' });
      expect(told).toMatchObject([{ is_error: false }, { is_error: false }]);
      expect(await story()).toEqual({
        lines: { open: ['a', 'b'] },
        calls: { toolu_1: 'done', toolu_2: 'done' },
        valid: true,
      });
    });

    test('a call that the rules deny does not run, and the model reads why', async () => {
      const { run, story, state } = await ruledClaude({
        work: [[append('toolu_1', 'a', 'closed')]],
      });
      const { told, sessionId = '' } = await run({ prompt: 'work' });
      expect(told).toMatchObject([errorWith('It stays closed.')]);
      expect(await story()).toEqual({ lines: {}, calls: {}, valid: true });
      expect((await state()).sessions).toMatchObject({
        [sessionId]: { endedAt: expect.any(String) },
      });
    });

    test('a held call runs when a person approves it in time', async () => {
      const { run, story, decide } = await ruledClaude(
        { work: [[append('toolu_1', 'a', 'held')]] },
        { query: 'wait=25' },
      );
      const running = run({ prompt: 'work' });
      await expect
        .poll(() =>
          decide('approve').then(
            () => true,
            () => false,
          ),
        )
        .toBe(true);
      expect((await running).told).toMatchObject([{ is_error: false }]);
      expect(await story()).toEqual({
        lines: { held: ['a'] },
        calls: { toolu_1: 'done' },
        valid: true,
      });
    });

    test('a held call is refused, and after its approval runs once', async () => {
      const call = (id: string) => [append(id, 'a', 'held')];
      const { run, story, decide } = await ruledClaude({
        'first time': [call('toolu_1'), call('toolu_2')],
        'next time': [call('toolu_3'), call('toolu_4')],
      });
      const first = await run({ prompt: 'first time' });
      expect(first.told).toMatchObject([
        errorWith('A person looks first.'),
        errorWith('a person has to approve'),
      ]);
      expect(await story()).toEqual({ lines: {}, calls: {}, valid: true });
      await decide('approve');
      const { told } = await run({ prompt: 'next time', resume: first.sessionId as string });
      expect(told).toMatchObject([{ is_error: false }, errorWith('a person has to approve')]);
      expect(await story()).toEqual({
        lines: { held: ['a'] },
        calls: { toolu_3: 'done' },
        valid: true,
      });
    });

    test('a deferred call runs once when it is resumed after its approval', async () => {
      const { run, story, decide } = await ruledClaude(
        { work: [[append('toolu_1', 'a', 'held')]] },
        { query: 'wait=0&pending=defer' },
      );
      const { sessionId: resume = '', result } = await run({ prompt: 'work' });
      expect(result).toMatchObject({
        stop_reason: 'tool_deferred',
        deferred_tool_use: { id: 'toolu_1' },
      });
      expect((await run({ resume })).result).toMatchObject({ stop_reason: 'tool_deferred' });
      await decide('approve');
      expect((await run({ resume })).told).toMatchObject([
        { tool_use_id: 'toolu_1', is_error: false },
      ]);
      expect(await run({ resume })).toMatchObject({ code: 1, told: [] });
      expect(await story()).toEqual({
        lines: { held: ['a'] },
        calls: { toolu_1: 'done' },
        valid: true,
      });
    });

    test('a call that a person has to confirm is refused without a terminal', async () => {
      const { run, story } = await ruledClaude(
        { work: [[append('toolu_1', 'a')]] },
        { query: 'wait=0&confirm=always' },
      );
      expect((await run({ prompt: 'work' })).told).toMatchObject([{ is_error: true }]);
      expect(await story()).toEqual({ lines: {}, calls: { toolu_1: 'failed' }, valid: true });
    });

    test('a rule of the user beats the permission, and the call is not made', async () => {
      const { run, story, settings } = await ruledClaude({
        work: [[append('toolu_1', 'a')], [append('toolu_2', 'b')]],
      });
      settings('wait=0', { permissions: { deny: ['Bash(echo a:*)'], ask: ['Bash(echo b:*)'] } });
      expect((await run({ prompt: 'work' })).told).toMatchObject([
        { is_error: true },
        { is_error: true },
      ]);
      expect(await story()).toEqual({
        lines: {},
        calls: { toolu_1: 'failed', toolu_2: 'failed' },
        valid: true,
      });
    });

    test('without the server nothing runs', async () => {
      const { run, stage, server } = await ruledClaude({ work: [[append('toolu_1', 'a')]] });
      await server.stop();
      expect((await run({ prompt: 'work' })).told).toMatchObject([errorWith('onFailure')]);
      expect(linesIn(stage)).toEqual({});
    });

    test('an answer that comes too late blocks the call, and no permission is left', async () => {
      const { run, story, settings, server } = await ruledClaude({
        work: [[append('toolu_1', 'a')]],
      });
      const slow = await startDelayed(server.url, 'PreToolUse', 3_000);
      settings('wait=0', {}, { url: slow.url, timeout: 1 });
      expect((await run({ prompt: 'work' })).told).toMatchObject([errorWith('timed out')]);
      expect(slow.answered).toEqual(['allow']);
      expect(await story()).toEqual({ lines: {}, calls: { toolu_1: 'failed' }, valid: true });
    });

    test('a question whose asker is gone takes no approval', async () => {
      const call = (id: string) => [append(id, 'a', 'held')];
      const { run, story, settings, decide } = await ruledClaude({
        'first time': [call('toolu_1')],
        'next time': [call('toolu_2')],
      });
      settings('wait=30', {}, { timeout: 1 });
      const { told, sessionId: resume = '' } = await run({ prompt: 'first time' });
      expect(told).toMatchObject([errorWith('timed out')]);
      await decide('approve');
      expect(await story()).toEqual({ lines: {}, calls: { toolu_1: 'to begin' }, valid: true });
      expect((await run({ prompt: 'next time', resume })).told).toMatchObject([
        { is_error: false },
      ]);
      expect(await story()).toEqual({
        lines: { held: ['a'] },
        calls: { toolu_2: 'done' },
        valid: true,
      });
    });

    test('a run that is killed in a call leaves it in doubt, and says so', async () => {
      const command = 'echo a >> open/sink.txt; sleep 30; echo b >> open/sink.txt';
      const { run, stage, story } = await ruledClaude({
        work: [[use('toolu_1', 'Bash', { command })]],
        'go on': [[append('toolu_2', 'c')]],
      });
      let pid = 0;
      const running = run({ prompt: 'work', started: (started) => (pid = started) });
      await expect.poll(() => linesIn(stage)).toEqual({ open: ['a'] });
      process.kill(-pid, 'SIGKILL');
      const { sessionId: resume = '' } = await running;
      expect((await story()).calls).toEqual({ toolu_1: 'open' });
      const next = await run({ prompt: 'go on', resume });
      expect(next.out).toContain('1 call has no known outcome: claude-code/Bash');
      expect(await story()).toEqual({
        lines: { open: ['a', 'c'] },
        calls: { toolu_1: 'open', toolu_2: 'done' },
        valid: true,
      });
    });

    test('two concurrent sessions share one approval', async () => {
      const { run, story, decide, state } = await ruledClaude({
        work: [
          [append('toolu_1', 'a')],
          [append('toolu_2', 'b', 'held')],
          [append('toolu_3', 'c')],
        ],
      });
      expect((await run({ prompt: 'work' })).told).toHaveLength(3);
      await decide('approve');
      const both = await Promise.all([run({ prompt: 'work' }), run({ prompt: 'work' })]);
      expect(
        both.flatMap(({ told }) => told).filter(({ is_error }) => is_error === true),
      ).toHaveLength(1);
      const { lines, valid } = await story();
      expect({ open: lines['open']?.toSorted(), held: lines['held'], valid }).toEqual({
        open: ['a', 'a', 'a', 'c', 'c', 'c'],
        held: ['b'],
        valid: true,
      });
      const { calls, sessions } = await state();
      expect(Object.keys(sessions)).toHaveLength(3);
      expect(Object.values(calls).map(({ outcome }: any) => outcome)).toEqual(
        Array(7).fill('done'),
      );
    });

    test('a call in which the server is killed is in doubt, and runs once', async () => {
      const stage = ruledStage();
      const desk = await startDesk(stage, 'claude-code');
      const address = { url: desk.url, token: desk.agentToken, query: 'wait=0' };
      stage.write('project/.claude/settings.local.json', hookSettings(address), 0o600);
      const pause = 'until test -e open/go; do sleep 0.1; done';
      const call = use('toolu_1', 'Bash', {
        command: `echo a >> open/sink.txt; ${pause}; echo b >> open/sink.txt`,
      });
      const api = await startMessagesApi({ work: [[call]], 'go on': [[append('toolu_2', 'c')]] });
      onTestFinished(() => api.close());
      const running = runClaude(stage, { api: api.url, prompt: 'work' });
      await expect.poll(() => linesIn(stage)).toEqual({ open: ['a'] });
      await desk.kill();
      stage.write('project/open/go', '');
      const { told, sessionId = '' } = await running;
      expect(told).toMatchObject([{ is_error: false }]);
      await desk.again();
      expect((await desk.story()).calls).toEqual({ toolu_1: 'open' });
      const next = await runClaude(stage, { api: api.url, prompt: 'go on', resume: sessionId });
      expect(next.out).toContain('1 call has no known outcome: claude-code/Bash');
      const input = {
        session_id: sessionId,
        cwd: stage.project,
        tool_name: 'Bash',
        tool_use_id: 'toolu_1',
      };
      const asked = { hook_event_name: 'PreToolUse', ...input, tool_input: call.input };
      expect(JSON.stringify(await desk.send(asked))).toContain('let through already');
      expect(await desk.story()).toEqual({
        lines: { open: ['a', 'b', 'c'] },
        calls: { toolu_1: 'open', toolu_2: 'done' },
        valid: true,
      });
    });

    test('an agent cannot write its own settings', async () => {
      const write = "open('.claude/settings.local.json', 'w').write('{}')";
      const { run, story, stage } = await ruledClaude({
        work: [
          [use('toolu_1', 'Write', { file_path: '.claude/settings.local.json', content: '{}' })],
          [use('toolu_2', 'Bash', { command: `python3 -c "${write}"` })],
          [use('toolu_3', 'Bash', { command: 'echo {} > .claude/settings.local.json' })],
          [use('toolu_4', 'Read', { file_path: '.claude/settings.local.json' })],
          [append('toolu_5', 'a')],
        ],
      });
      const { told } = await run({ prompt: 'work' });
      const held = errorWith('a person has to approve');
      expect(told).toMatchObject([held, held, held, held, { is_error: false }]);
      expect(readFileSync(join(stage.project, '.claude/settings.local.json'), 'utf8')).toContain(
        'PreToolUse',
      );
      expect(await story()).toEqual({
        lines: { open: ['a'] },
        calls: { toolu_5: 'done' },
        valid: true,
      });
    });

    test('settings that an agent could change take no effect in its session', async () => {
      const file = '.claude/settings.local.json';
      const script = `open('${file}', 'w').write('{}')`;
      const { run, story, stage } = await ruledClaude(
        {
          work: [
            [use('toolu_1', 'Write', { file_path: file, content: '{}' })],
            [use('toolu_2', 'Bash', { command: `python3 -c "${script}"` })],
            [use('toolu_3', 'Bash', { command: 'sleep 4' })],
            [append('toolu_4', 'a', 'closed')],
            [append('toolu_5', 'b')],
          ],
        },
        { more: WIDE, query: 'wait=0' },
      );
      const { told } = await run({ prompt: 'work' });
      expect(told).toMatchObject([
        { is_error: true },
        { is_error: false },
        { is_error: false },
        errorWith('It stays closed.'),
        { is_error: false },
      ]);
      expect(readFileSync(join(stage.project, file), 'utf8')).toBe('{}');
      expect(await story()).toEqual({
        lines: { open: ['b'] },
        calls: { toolu_1: 'failed', toolu_2: 'done', toolu_3: 'done', toolu_5: 'done' },
        valid: true,
      });
    });

    test('a subagent is a session with a parent, and its calls are ruled on', async () => {
      const { run, story, state } = await ruledClaude(
        {
          'hand it over': [
            [
              use('toolu_1', 'Agent', {
                description: 'a task',
                prompt: 'look into it',
                subagent_type: 'general-purpose',
                run_in_background: false,
              }),
            ],
          ],
          'look into it': [
            [append('toolu_2', 'a')],
            [append('toolu_3', 'b', 'closed')],
            [append('toolu_4', 'c', 'held')],
            [append('toolu_5', 'd')],
          ],
        },
        { query: 'wait=0&pending=defer' },
      );
      const { sessionId = '' } = await run({ prompt: 'hand it over' });
      expect(await story()).toEqual({
        lines: { open: ['a', 'd'] },
        calls: { toolu_1: 'done', toolu_2: 'done', toolu_5: 'done' },
        valid: true,
      });
      const { sessions, calls } = await state();
      expect(Object.values(sessions)).toMatchObject([
        { endedAt: expect.any(String) },
        { parent: sessionId, about: 'general-purpose', endedAt: expect.any(String) },
      ]);
      expect(calls[`${sessionId}.toolu_2`].session).toBe(Object.keys(sessions)[1]);
    });

    test('a command in a skill is ruled on', async () => {
      const { run, story, settings, stage } = await ruledClaude({
        work: [[use('toolu_1', 'Skill', { skill: 'pls' })]],
      });
      const commands = ['open', 'closed'].map((folder) => `echo a >> ${folder}/sink.txt`);
      stage.write('project/.claude/skills/pls/SKILL.md', skillText(commands));
      settings('wait=0', { permissions: { allow: ['Bash', 'Edit'] } });
      const { told } = await run({ prompt: 'work' });
      expect(told).toMatchObject([{ content: 'Launching skill: pls' }]);
      expect(await story()).toEqual({
        lines: { open: ['a'] },
        calls: { toolu_1: 'done', 'toolu_1:preamble-0': 'done' },
        valid: true,
      });
    });

    test('commands of a skill that failed are in doubt', async () => {
      const { run, story, settings, stage } = await ruledClaude({
        work: [[use('toolu_1', 'Skill', { skill: 'pls' })]],
      });
      stage.write(
        'project/.claude/skills/pls/SKILL.md',
        skillText(['echo a >> open/sink.txt; exit 3']),
      );
      settings('wait=0', { permissions: { allow: ['Bash', 'Edit'] } });
      expect((await run({ prompt: 'work' })).told).toMatchObject([errorWith('exit 3')]);
      expect(await story()).toEqual({
        lines: { open: ['a'] },
        calls: { toolu_1: 'failed', 'toolu_1:preamble-0': 'unknown' },
        valid: true,
      });
    });

    test('a server of the project has no permission of the user’s server', async () => {
      const add = (id: string, text: string) => [use(id, 'mcp__notes__add', { text })];
      const { run, story, settings, stage } = await ruledClaude(
        { 'first time': [add('toolu_1', 'a')], 'next time': [add('toolu_2', 'b')] },
        { more: { tools: '  notes/add: { class: read }' } },
      );
      const trust = { [stage.project]: { hasTrustDialogAccepted: true } };
      stage.write('home/.claude.json', {
        projects: trust,
        mcpServers: { notes: notesServer(stage, 'open') },
      });
      expect((await run({ prompt: 'first time' })).told).toMatchObject([
        { content: [{ text: 'added' }] },
      ]);
      stage.write('project/.mcp.json', { mcpServers: { notes: notesServer(stage, 'closed') } });
      settings('wait=0', { enableAllProjectMcpServers: true });
      expect((await run({ prompt: 'next time' })).told).toMatchObject([
        errorWith('a person has to approve'),
      ]);
      expect(await story()).toEqual({
        lines: { open: ['a'] },
        calls: { toolu_1: 'done' },
        valid: true,
      });
    });

    test('a question of an MCP server is ruled on, and left to the person', async () => {
      const script = { work: [[use('toolu_1', 'mcp__notes__ask', {})]] };
      const tools = '  notes/ask: { class: read }';
      for (const [more, calls] of [
        [tools, ['toolu_1']],
        [`${tools}\n  claude-code/elicitation: { class: read }`, ['elicitation', 'toolu_1']],
      ] as const) {
        const { run, story, stage } = await ruledClaude(script, { more: { tools: more } });
        const trust = { [stage.project]: { hasTrustDialogAccepted: true } };
        stage.write('home/.claude.json', {
          projects: trust,
          mcpServers: { notes: notesServer(stage, 'open') },
        });
        const { told } = await run({ prompt: 'work' });
        expect(JSON.stringify(told)).toMatch(/the answer: .*(decline|cancel)/);
        const recorded = (await story()).calls;
        expect(Object.keys(recorded).map((id) => id.replace(/-[0-9a-f-]{36}$/, ''))).toEqual(calls);
        expect(new Set(Object.values(recorded))).toEqual(new Set(['done']));
      }
    });

    test('the outcome of a call that wrote a large file is recorded', async () => {
      const [before, after] = ['before', 'after'].map((word) =>
        `${word} one line of a large file\n`.repeat(20_000),
      );
      const file_path = 'open/large.txt';
      const { run, story, stage } = await ruledClaude({
        work: [
          [use('toolu_1', 'Read', { file_path, limit: 1 })],
          [use('toolu_2', 'Write', { file_path, content: after })],
        ],
      });
      stage.write(`project/${file_path}`, before);
      const { told } = await run({ prompt: 'work' });
      expect(told).toMatchObject([
        {},
        { content: expect.stringContaining('updated successfully') },
      ]);
      expect(await story()).toEqual({
        lines: {},
        calls: { toolu_1: 'done', toolu_2: 'done' },
        valid: true,
      });
    });
  },
);
