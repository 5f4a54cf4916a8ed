import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AgentStage } from '../../../../tests/support/agents/stage.ts';
import { codexProgram } from '../../../../tests/support/codex/program.ts';
import { callTool, type ResponsesApi, startResponsesApi } from '../support/codex/responses-api.ts';
import {
  type CodexRun,
  codexHook,
  codexStage,
  runCodex,
  UNTRUSTED_HOOKS,
} from '../support/codex/run-codex.ts';

const SCRIPT = { 'make a file': [[callTool('call_1', 'exec_command', { cmd: 'touch ran.txt' })]] };

let api: ResponsesApi;
let stage: AgentStage | undefined;

beforeEach(async () => {
  api = await startResponsesApi(SCRIPT);
});
afterEach(async () => {
  await api.close();
  stage?.remove();
});

interface Tried {
  readonly run: CodexRun;
  readonly ran: boolean;
  /** The output of the call, as the model was given it. */
  readonly told: string;
}

/** Runs the command behind a hook that is a line of the shell. */
async function tried(
  hook: string,
  args: readonly string[] = [UNTRUSTED_HOOKS],
  timeout = 10,
): Promise<Tried> {
  stage = codexStage(api.url, codexHook('PreToolUse', hook, timeout));
  const run = await runCodex(stage, { prompt: 'make a file', args });
  const output = api.requests
    .at(-1)
    ?.input.find(({ type }) => type === 'function_call_output')?.output;
  return { run, ran: existsSync(join(stage.project, 'ran.txt')), told: JSON.stringify(output) };
}

function decision(fields: Readonly<Record<string, unknown>>): string {
  return `echo '${JSON.stringify({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...fields } })}'`;
}

const DENY = { permissionDecision: 'deny', permissionDecisionReason: 'not on a Sunday' };

describe.skipIf(codexProgram() === undefined)(
  'Codex (absent without npm ci --prefix peers)',
  () => {
    test('a hook is given the call, and without an opinion the command runs', async () => {
      const { run, ran } = await tried('cat > seen.json');
      expect({ code: run.code, ran, others: api.others }).toEqual({
        code: 0,
        ran: true,
        others: [],
      });
      expect(
        JSON.parse(readFileSync(join(stage?.project ?? '', 'seen.json'), 'utf8')),
      ).toMatchObject({
        hook_event_name: 'PreToolUse',
        tool_name: 'Bash',
        tool_input: { command: 'touch ran.txt' },
        tool_use_id: 'call_1',
        session_id: run.threadId,
      });
    });

    test.each([
      ['denies with a reason', decision(DENY), 'not on a Sunday'],
      [
        'blocks with a reason',
        `echo '{"decision":"block","reason":"not on a Sunday"}'`,
        'not on a Sunday',
      ],
      ['exits with 2 and says why', 'echo the server is down >&2; exit 2', 'the server is down'],
      [
        'is missing, behind a guard',
        '/missing/hook || { echo the hook failed >&2; exit 2; }',
        'the hook failed',
      ],
    ])('a hook that %s blocks the command', async (_, hook, reason) => {
      const { ran, told } = await tried(hook);
      expect({ ran, told }).toEqual({ ran: false, told: expect.stringContaining(reason) });
    });

    // The cases that a hook of Assize has to avoid.
    test.each([
      ['is missing', '/missing/hook'],
      ['exits with 2 and says nothing', 'exit 2'],
      ['exits with 1', 'echo failed >&2; exit 1'],
      ['denies and exits with 1', `${decision(DENY)}; exit 1`],
      ['is killed', 'kill -9 $$'],
      ['denies without a reason', decision({ permissionDecision: 'deny' })],
      ['denies with an unknown field', decision({ ...DENY, more: 1 })],
      ['asks', decision({ ...DENY, permissionDecision: 'ask' })],
      ['defers', decision({ ...DENY, permissionDecision: 'defer' })],
      ['prints half of its JSON', `echo '{"hookSpecificOutput":'`],
      ['says not to continue', `echo '{"continue":false,"stopReason":"no"}'`],
    ])('a hook that %s lets the command run', async (_, hook) => {
      expect(await tried(hook)).toMatchObject({ ran: true });
    });

    test('a hook that takes too long lets the command run', async () => {
      expect(await tried('sleep 3; echo late >&2; exit 2', [UNTRUSTED_HOOKS], 1)).toMatchObject({
        ran: true,
      });
    });

    test('a hook that the user has not trusted is not run', async () => {
      expect(await tried('echo no >&2; exit 2', [])).toMatchObject({ ran: true });
    });
  },
);
