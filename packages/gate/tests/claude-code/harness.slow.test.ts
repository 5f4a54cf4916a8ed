import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AgentStage } from '../../../../tests/support/agents/stage.ts';
import { claudeProgram } from '../../../../tests/support/claude-code/program.ts';
import {
  type HookAnswer,
  type HookServer,
  preToolUse,
  startHookServer,
} from '../support/agents/hook-server.ts';
import { type MessagesApi, startMessagesApi, use } from '../support/claude-code/messages-api.ts';
import { type ClaudeRun, claudeStage, runClaude } from '../support/claude-code/run-claude.ts';

const COMMAND = 'touch ran.txt';
const SCRIPT = { 'make a file': [[use('toolu_1', 'Bash', { command: COMMAND })]] };
/** Without a hook, the command runs. */
const ALLOWED = { permissions: { allow: ['Bash(touch *)'] } };

let stage: AgentStage;
let api: MessagesApi;
let hooks: HookServer;
let decide: HookAnswer;

beforeEach(async () => {
  stage = claudeStage();
  api = await startMessagesApi(SCRIPT);
  decide = () => ({});
  hooks = await startHookServer((call, response) =>
    call.input.hook_event_name === 'PreToolUse' ? decide(call, response) : {},
  );
});
afterEach(async () => {
  await Promise.all([api.close(), hooks.close()]);
  stage.remove();
});

function settings(url: string, more: Readonly<Record<string, unknown>> = {}): void {
  const hook = { type: 'http', url, timeout: 5, onFailure: 'block' };
  const events = ['PreToolUse', 'PostToolUse', 'PostToolBatch'];
  stage.write('project/.claude/settings.json', {
    ...more,
    hooks: Object.fromEntries(events.map((event) => [event, [{ hooks: [hook] }]])),
  });
}

const started = (): Promise<ClaudeRun> => runClaude(stage, { api: api.url, prompt: 'make a file' });
const ran = (): boolean => existsSync(join(stage.project, 'ran.txt'));

describe.skipIf(claudeProgram() === undefined)(
  'Claude Code (absent without npm ci --prefix peers)',
  () => {
    test('a call that the hook allows runs, and its result reaches the model', async () => {
      decide = () => preToolUse('allow');
      settings(hooks.url);
      const { code, told, result } = await started();
      expect(told).toMatchObject([{ tool_use_id: 'toolu_1', is_error: false }]);
      expect({ code, ran: ran(), says: result?.['result'] }).toEqual({
        code: 0,
        ran: true,
        says: 'Done.',
      });
      expect(JSON.stringify(api.requests.at(-1)?.messages)).toContain('"tool_use_id":"toolu_1"');
      expect(hooks.of('PreToolUse')).toMatchObject([
        { tool_name: 'Bash', tool_use_id: 'toolu_1', tool_input: { command: COMMAND } },
      ]);
      expect(hooks.of('PostToolUse')).toMatchObject([{ tool_use_id: 'toolu_1' }]);
      expect(api.others).toEqual([]);
    });

    test('a call that the hook denies does not run, and the model learns it', async () => {
      decide = () => preToolUse('deny', { permissionDecisionReason: 'not on a Sunday' });
      settings(hooks.url, ALLOWED);
      const { told, result } = await started();
      expect(told).toMatchObject([
        { is_error: true, content: expect.stringContaining('not on a Sunday') },
      ]);
      expect(result?.['permission_denials']).toMatchObject([{ tool_use_id: 'toolu_1' }]);
      expect(ran()).toBe(false);
      expect(hooks.of('PostToolUse')).toEqual([]);
      expect(hooks.of('PostToolBatch')).toMatchObject([
        { tool_calls: [{ tool_use_id: 'toolu_1' }] },
      ]);
    });

    test('a hook without an opinion leaves the call to the rules of the user', async () => {
      settings(hooks.url, ALLOWED);
      await started();
      expect(ran()).toBe(true);
    });

    test('a hook that nothing listens to blocks the call', async () => {
      settings(hooks.url, ALLOWED);
      await hooks.close();
      const { told } = await started();
      expect(told).toMatchObject([
        { is_error: true, content: expect.stringContaining('onFailure') },
      ]);
      expect(ran()).toBe(false);
    });

    test.each([
      ['takes too long', 'sleep 30'],
      ['fails', 'exit 1'],
      ['is killed', 'kill -9 $$'],
      ['is missing', '/gone/assize'],
    ])('a command hook that %s blocks the call', async (_, command) => {
      const hook = { type: 'command', command, timeout: 2, onFailure: 'block' };
      stage.write('project/.claude/settings.json', {
        ...ALLOWED,
        hooks: { PreToolUse: [{ hooks: [hook] }] },
      });
      const { told } = await started();
      expect(told).toMatchObject([{ is_error: true }]);
      expect(ran()).toBe(false);
    });

    test('a deferred call of a command hook runs once when its session is resumed', async () => {
      const answer = (decision: string): void =>
        stage.write('project/.claude/settings.json', {
          hooks: {
            PreToolUse: [
              {
                hooks: [
                  {
                    type: 'command',
                    command: `cat > /dev/null; echo '${JSON.stringify(preToolUse(decision as never))}'`,
                    onFailure: 'block',
                  },
                ],
              },
            ],
          },
        }) as never;
      answer('defer');
      const { sessionId = '', result } = await started();
      expect(result).toMatchObject({ stop_reason: 'tool_deferred' });
      expect(ran()).toBe(false);
      answer('allow');
      await runClaude(stage, { api: api.url, resume: sessionId });
      expect(ran()).toBe(true);
    });

    test('a deferred call runs once when its session is resumed', async () => {
      decide = () => preToolUse('defer');
      settings(hooks.url);
      const { sessionId = '', result } = await started();
      expect(result).toMatchObject({
        stop_reason: 'tool_deferred',
        deferred_tool_use: { id: 'toolu_1' },
      });
      expect(ran()).toBe(false);
      decide = () => preToolUse('allow');
      const resumed = await runClaude(stage, { api: api.url, resume: sessionId });
      expect(resumed.told).toMatchObject([{ tool_use_id: 'toolu_1', is_error: false }]);
      const again = await runClaude(stage, { api: api.url, resume: sessionId });
      expect(again).toMatchObject({ code: 1, told: [] });
      expect(hooks.of('PreToolUse').map(({ tool_use_id }) => tool_use_id)).toEqual([
        'toolu_1',
        'toolu_1',
      ]);
      expect(hooks.of('PostToolUse')).toHaveLength(1);
    });

    test('a run that takes too long is ended', async () => {
      decide = () => new Promise(() => {});
      settings(hooks.url);
      const run = await runClaude(stage, { api: api.url, prompt: 'make a file', timeoutMs: 2000 });
      expect(run).toMatchObject({ timedOut: true, told: [], result: undefined });
    });
  },
);
