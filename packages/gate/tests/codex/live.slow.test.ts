/** The real Codex, whose calls a real server rules on. The model follows a script. */
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { linesIn } from '../../../../tests/support/agents/ruling.ts';
import { codexProgram } from '../../../../tests/support/codex/program.ts';
import { startDelayed } from '../support/agents/delayed.ts';
import { startDesk } from '../support/agents/desk.ts';
import { startHookServer } from '../support/agents/hook-server.ts';
import { notesServer } from '../support/claude-code/notes-server.ts';
import { runTurn } from '../support/codex/app-server.ts';
import { callFreeform, callTool, startResponsesApi } from '../support/codex/responses-api.ts';
import { append, exec, hookedStage, ruledCodex, writeHooks } from '../support/codex/ruled.ts';
import { runCodex, UNTRUSTED_HOOKS, WITH_PATCHES } from '../support/codex/run-codex.ts';

const PATCH_OF_CONFIG = `*** Begin Patch
*** Add File: ../home/.codex/config.toml
+model = "x"
*** End Patch`;

describe.skipIf(codexProgram() === undefined)(
  'Codex (absent without npm ci --prefix peers)',
  () => {
    test('a call that the rules allow runs once and is closed', async () => {
      const { run, story } = await ruledCodex({
        work: [[append('call_1', 'a')], [append('call_2', 'b')]],
      });
      const { code } = await run({});
      expect({ code, ...(await story()) }).toEqual({
        code: 0,
        lines: { open: ['a', 'b'] },
        calls: { call_1: 'done', call_2: 'done' },
        valid: true,
      });
    });

    test('a call that the rules deny does not run, and the model reads why', async () => {
      const { run, story, state, told } = await ruledCodex({
        work: [[append('call_1', 'a', 'closed')]],
      });
      const { threadId = '' } = await run({});
      expect(told('call_1')).toContain('It stays closed.');
      expect(await story()).toEqual({ lines: {}, calls: {}, valid: true });
      expect((await state()).sessions).toMatchObject({
        [threadId]: { about: 'Codex', endedAt: expect.any(String) },
      });
    });

    test('a held call is refused, and after its approval runs once', async () => {
      const call = (id: string) => [append(id, 'a', 'held')];
      const { run, story, decide, told } = await ruledCodex({
        'first time': [call('call_1'), call('call_2')],
        'next time': [call('call_3'), call('call_4')],
      });
      const { threadId: resume = '' } = await run({ prompt: 'first time' });
      expect([told('call_1'), told('call_2')]).toEqual(
        Array(2).fill(expect.stringContaining('a person has to approve')),
      );
      expect(await story()).toEqual({ lines: {}, calls: {}, valid: true });
      await decide('approve');
      await run({ prompt: 'next time', resume });
      expect(told('call_4')).toContain('a person has to approve');
      expect(await story()).toEqual({
        lines: { held: ['a'] },
        calls: { call_3: 'done' },
        valid: true,
      });
    });

    test('a held call runs when a person approves it in time', async () => {
      const { run, story, decide } = await ruledCodex(
        { work: [[append('call_1', 'a', 'held')]] },
        { wait: 25 },
      );
      const running = run({});
      const approved = () =>
        decide('approve')
          .then(() => true)
          .catch(() => false);
      await expect.poll(approved, { timeout: 20_000 }).toBe(true);
      await running;
      expect(await story()).toEqual({
        lines: { held: ['a'] },
        calls: { call_1: 'done' },
        valid: true,
      });
    });

    test('an approval is for no other call, and a rejected one does not run', async () => {
      const { run, story, decide, told } = await ruledCodex({
        'first time': [[append('call_1', 'a', 'held')]],
        'next time': [[append('call_2', 'b', 'held')], [append('call_3', 'a', 'open')]],
        'last time': [[append('call_4', 'b', 'held')]],
      });
      const { threadId: resume = '' } = await run({ prompt: 'first time' });
      await decide('approve');
      await run({ prompt: 'next time', resume });
      expect(told('call_2')).toContain('a person has to approve');
      await decide('reject');
      await run({ prompt: 'last time', resume });
      expect(told('call_4')).toContain('a person has to approve');
      expect(await story()).toMatchObject({
        lines: { open: ['a'] },
        calls: { call_3: 'done', call_1: 'to begin' },
      });
    });

    test('of two concurrent calls, the one that is held does not run', async () => {
      const { run, story, told } = await ruledCodex({
        work: [
          [append('call_1', 'a', 'held'), append('call_2', 'b'), append('call_3', 'c', 'closed')],
        ],
      });
      await run({});
      expect(told('call_1')).toContain('a person has to approve');
      expect(told('call_3')).toContain('It stays closed.');
      expect(await story()).toEqual({
        lines: { open: ['b'] },
        calls: { call_2: 'done' },
        valid: true,
      });
    });

    test('without the server nothing runs', async () => {
      const { run, stage, server, told } = await ruledCodex({ work: [[append('call_1', 'a')]] });
      await server.stop();
      await run({});
      expect(told('call_1')).toContain('No server answers');
      expect(linesIn(stage)).toEqual({});
    });

    test('an answer that comes too late blocks the call, and no permission is left', async () => {
      const { run, story, hooks, server, told } = await ruledCodex({
        work: [[append('call_1', 'a')], [append('call_2', 'a')]],
      });
      const slow = await startDelayed(server.url, 'PreToolUse', 12_000);
      hooks({ url: slow.url });
      await run({});
      expect([told('call_1'), told('call_2')]).toEqual(
        Array(2).fill(expect.stringContaining('did not answer in time')),
      );
      expect(slow.answered).toEqual(['allow', 'allow']);
      expect(await story()).toEqual({
        lines: {},
        calls: { call_1: 'open', call_2: 'open' },
        valid: true,
      });
    });

    test.each<[string, readonly string[]]>([
      ['is missing', ['/missing/assize']],
      ['is not a program', ['/etc/hostname']],
      ['exits with 1', ['/bin/sh', '-c', 'exit 1']],
      ['exits with 2 and says nothing', ['/bin/sh', '-c', 'exit 2']],
      ['is killed', ['/bin/sh', '-c', 'kill -9 $$']],
      ['ends by a signal', ['/bin/sh', '-c', 'kill -15 $$']],
      ['prints half of its answer and fails', ['/bin/sh', '-c', 'echo {; exit 1']],
      ['allows and fails', ['/bin/sh', '-c', 'echo "{}"; exit 3']],
      ['cannot load', [process.execPath, '/missing/main.js']],
    ])('a program of the hook that %s blocks the call', async (_, program) => {
      const { run, stage, hooks, told } = await ruledCodex({ work: [[append('call_1', 'a')]] });
      hooks({ program });
      await run({});
      expect(told('call_1')).toContain('the hook of this call failed');
      expect(linesIn(stage)).toEqual({});
    });

    test('an answer that Assize did not send blocks the call', async () => {
      const said = (fields: object) => ({
        hookSpecificOutput: { hookEventName: 'PreToolUse', ...fields },
      });
      const answers: readonly ((response: ServerResponse) => unknown)[] = [
        () => ({}),
        () => [],
        () => ({ permissionDecision: 'allow' }),
        () => ({ hookSpecificOutput: { permissionDecision: 'allow' } }),
        () => said({ permissionDecision: 'ask', permissionDecisionReason: 'x' }),
        () => said({ permissionDecision: 'deny' }),
        () => said({ permissionDecision: 'deny', permissionDecisionReason: 'no', more: 1 }),
        (response) => void response.writeHead(204).end(),
        (response) => void response.writeHead(500).end('{"detail":"it broke"}'),
        (response) => void response.writeHead(302, { location: '/' }).end(),
        (response) => void response.writeHead(200).end('{"hookSpecificOutput":'),
        (response) => void response.destroy(),
      ];
      const asked = new Map<string, number>();
      const odd = await startHookServer(({ input }, response) => {
        if (input.hook_event_name !== 'PreToolUse') return {};
        asked.set(input.tool_use_id ?? '', asked.size);
        return answers[asked.size - 1]?.(response);
      });
      onTestFinished(() => odd.close());
      const calls = answers.map((_, i) => [append(`call_${i}`, String(i))]);
      const { run, stage, hooks } = await ruledCodex({ work: calls });
      hooks({ url: odd.url });
      await run({});
      expect(asked.size).toBe(answers.length);
      expect(linesIn(stage)).toEqual({});
    });

    test('a token that others can read is not used', async () => {
      const { run, stage, told } = await ruledCodex({ work: [[append('call_1', 'a')]] });
      chmodSync(join(stage.home, 'token'), 0o644);
      await run({});
      expect(told('call_1')).toContain('Others can read the token');
      expect(linesIn(stage)).toEqual({});
    });

    test('two concurrent sessions share one approval', async () => {
      const { run, story, decide, state } = await ruledCodex({
        work: [[append('call_1', 'a')], [append('call_2', 'b', 'held')], [append('call_3', 'c')]],
      });
      await run({});
      await decide('approve');
      await Promise.all([run({}), run({})]);
      const { lines, valid } = await story();
      expect({ open: lines['open']?.toSorted(), held: lines['held'], valid }).toEqual({
        open: ['a', 'a', 'a', 'c', 'c', 'c'],
        held: ['b'],
        valid: true,
      });
      expect(Object.keys((await state()).sessions)).toHaveLength(3);
    });

    test('a call in which the server is killed is in doubt, and runs once', async () => {
      const pause = 'until test -e open/go; do sleep 0.1; done';
      const api = await startResponsesApi({
        work: [[exec('call_1', `echo a >> open/sink.txt; ${pause}; echo b >> open/sink.txt`)]],
        'go on': [[append('call_2', 'c')]],
      });
      onTestFinished(() => api.close());
      const stage = hookedStage(api);
      const desk = await startDesk(stage, 'codex');
      writeHooks(stage, api, { url: desk.url, token: desk.agentToken });
      const running = runCodex(stage, { prompt: 'work', args: [UNTRUSTED_HOOKS] });
      await expect.poll(() => linesIn(stage), { timeout: 20_000 }).toEqual({ open: ['a'] });
      await desk.kill();
      stage.write('project/open/go', '');
      const { threadId = '' } = await running;
      await desk.again();
      expect((await desk.story()).calls).toEqual({ call_1: 'open' });
      await runCodex(stage, { prompt: 'go on', resume: threadId, args: [UNTRUSTED_HOOKS] });
      expect(await desk.story()).toEqual({
        lines: { open: ['a', 'b', 'c'] },
        calls: { call_1: 'open', call_2: 'done' },
        valid: true,
      });
    });

    test('an agent cannot write its own configuration', async () => {
      const { run, story, stage, told } = await ruledCodex({
        work: [
          [exec('call_1', 'echo >> ../home/.codex/config.toml')],
          [exec('call_2', "sed -i '/hooks/d' ../home/.codex/config.toml")],
          [callFreeform('call_3', 'apply_patch', PATCH_OF_CONFIG)],
          [exec('call_4', 'cat ../home/token')],
          [append('call_5', 'a')],
        ],
      });
      const file = join(stage.home, '.codex/config.toml');
      const before = readFileSync(file, 'utf8');
      await run({ args: [UNTRUSTED_HOOKS, '-m', WITH_PATCHES] });
      for (const id of ['call_1', 'call_2', 'call_3'])
        expect(told(id), id).toContain('a person has to approve');
      expect(readFileSync(file, 'utf8')).toBe(before);
      expect(await story()).toMatchObject({ lines: { open: ['a'] }, valid: true });
    });

    test('a patch is ruled on by the files that it names', async () => {
      const patch = (file: string) => `*** Begin Patch\n*** Add File: ${file}\n+x\n*** End Patch`;
      const { run, story, stage, told } = await ruledCodex({
        work: [
          [callFreeform('call_1', 'apply_patch', patch('open/new.txt'))],
          [callFreeform('call_2', 'apply_patch', patch('other/new.txt'))],
          [exec('call_3', `apply_patch <<'EOF'\n${patch('open/more.txt')}\nEOF\n`)],
          [exec('call_4', `apply_patch <<'EOF'\n${patch('other/more.txt')}\nEOF\n`)],
        ],
      });
      await run({ args: [UNTRUSTED_HOOKS, '-m', WITH_PATCHES] });
      for (const id of ['call_2', 'call_4'])
        expect(told(id), id).toContain('a person has to approve');
      const there = ['open/new.txt', 'open/more.txt', 'other/new.txt', 'other/more.txt'];
      expect(there.filter((file) => existsSync(join(stage.project, file)))).toEqual(
        there.slice(0, 2),
      );
      // Codex reports no outcome of a patch in a command.
      expect((await story()).calls).toEqual({ call_1: 'done', call_3: 'open' });
    });

    test('a program that reads a terminal is held, for no hook sees its input', async () => {
      const { run, story, told, stage } = await ruledCodex(
        {
          work: [
            [callTool('call_1', 'exec_command', { cmd: 'bash', tty: true })],
            [callTool('call_2', 'write_stdin', { session_id: 1, chars: 'touch ran.txt\n' })],
          ],
        },
        { more: { rules: "  - { id: shells, allow: 'shell/*' }" } },
      );
      await run({});
      expect(told('call_1')).toContain('a person has to approve');
      expect(existsSync(join(stage.project, 'ran.txt'))).toBe(false);
      expect((await story()).calls).toEqual({});
    });

    test('a subagent is a session with a parent, and its calls are ruled on', async () => {
      const { run, story, state } = await ruledCodex({
        'look into it': [[append('call_2', 'a')], [append('call_3', 'b', 'closed')]],
        'hand it over': [
          [callTool('call_1', 'spawn_agent', { message: 'look into it' }, 'multi_agent_v1')],
          [exec('call_4', 'sleep 3')],
        ],
      });
      const { threadId = '' } = await run({ prompt: 'hand it over' });
      const { lines, calls } = await story();
      expect({ lines, calls }).toMatchObject({
        lines: { open: ['a'] },
        calls: { call_1: 'done', call_2: 'done' },
      });
      expect(calls['call_3']).toBeUndefined();
      expect(Object.values((await state()).sessions)).toContainEqual(
        expect.objectContaining({ parent: threadId }),
      );
    });

    test('a server over MCP is named as unknown, and ruled on as such', async () => {
      const script = { work: [[callTool('call_1', 'add', { text: 'a' }, 'mcp__notes')]] };
      for (const [name, runs] of [
        ['notes', false],
        ['unknown:notes', true],
      ] as const) {
        const { run, stage, hooks, story } = await ruledCodex(script, {
          more: { tools: `  ${name}/add: { class: read }` },
        });
        const { command, args } = notesServer(stage, 'open');
        const servers = `[mcp_servers.notes]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n`;
        hooks({ more: servers });
        await run({});
        expect({ name, lines: (await story()).lines }).toEqual({
          name,
          lines: runs ? { open: ['a'] } : {},
        });
      }
    });

    test('each call in a script of the model is ruled on', async () => {
      const nested = (tool: string, args: unknown) =>
        `try { text(String(await tools.${tool}(${JSON.stringify(args)}))); } catch (error) { text(String(error)); }`;
      const script = [
        nested('exec_command', { cmd: 'echo a >> open/sink.txt' }),
        nested('exec_command', { cmd: 'echo b >> closed/sink.txt' }),
        nested('exec_command', { cmd: 'echo c >> held/sink.txt' }),
        nested('apply_patch', PATCH_OF_CONFIG),
      ].join('\n');
      const { run, story, told, stage } = await ruledCodex({
        work: [[callFreeform('call_1', 'exec', script)]],
      });
      await run({ args: [UNTRUSTED_HOOKS, '-m', WITH_PATCHES] });
      expect(told('call_1')).toContain('It stays closed.');
      expect(told('call_1').match(/a person has to approve/g)).toHaveLength(2);
      const { lines, calls } = await story();
      expect({ lines, outcomes: Object.values(calls) }).toEqual({
        lines: { open: ['a'] },
        outcomes: ['done'],
      });
      expect(readFileSync(join(stage.home, '.codex/config.toml'), 'utf8')).toContain(
        '[[hooks.PreToolUse]]',
      );
    });

    test('a configuration that changes in a session leaves its hooks in force', async () => {
      const { run, story, told, stage } = await ruledCodex(
        {
          work: [
            [exec('call_1', "sed -i '/hooks/d' ../home/.codex/config.toml")],
            [exec('call_2', 'sleep 2')],
            [append('call_3', 'a', 'closed')],
          ],
        },
        {
          more: {
            tools: '  codex/settings: { class: reversible }',
            rules: "  - { id: wide, allow: '*' }",
          },
        },
      );
      await run({});
      expect(readFileSync(join(stage.home, '.codex/config.toml'), 'utf8')).not.toContain('hooks');
      expect(told('call_3')).toContain('It stays closed.');
      expect(await story()).toEqual({
        lines: {},
        calls: { call_1: 'done', call_2: 'done' },
        valid: true,
      });
    });

    test('a run that is killed in a call leaves the call open', async () => {
      const { run, stage, story } = await ruledCodex({
        work: [[exec('call_1', 'echo a >> open/sink.txt; sleep 30; echo b >> open/sink.txt')]],
        'go on': [[append('call_2', 'c')]],
      });
      let pid = 0;
      const running = run({ started: (started) => (pid = started) });
      await expect.poll(() => linesIn(stage), { timeout: 20_000 }).toEqual({ open: ['a'] });
      process.kill(-pid, 'SIGKILL');
      const { threadId: resume = '' } = await running;
      await run({ prompt: 'go on', resume });
      expect(await story()).toMatchObject({
        calls: { call_1: 'open', call_2: 'done' },
        valid: true,
      });
    });

    test('a request for a permission is refused, or left to the person', async () => {
      const escalated = (id: string, folder: string) =>
        callTool(id, 'exec_command', {
          cmd: `echo a >> ${folder}/sink.txt`,
          sandbox_permissions: 'require_escalated',
          justification: 'It writes.',
        });
      const { stage, story, hooks, told } = await ruledCodex({
        work: [[escalated('call_1', 'open')], [escalated('call_2', 'closed')]],
      });
      expect(await runTurn(stage, 'work')).toEqual(['item/commandExecution/requestApproval']);
      expect(await story()).toMatchObject({ lines: { open: ['a'] }, calls: { call_1: 'done' } });
      // A server that lets the call through, and knows nothing of it when Codex asks the person.
      const said = { hookEventName: 'PreToolUse', permissionDecision: 'allow' };
      const odd = await startHookServer(({ input }, response) =>
        input.hook_event_name === 'PreToolUse'
          ? { hookSpecificOutput: said }
          : void response.writeHead(500).end('{}'),
      );
      onTestFinished(() => odd.close());
      hooks({ url: odd.url });
      expect(await runTurn(stage, 'work')).toEqual([]);
      expect(told('call_1')).toContain('the hook of this call failed');
      expect((await story()).lines).toEqual({ open: ['a'] });
    });
  },
);
