import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { cases } from '../../../../../tests/support/cases.ts';
import { type HookServer, startHookServer } from '../../../tests/support/agents/hook-server.ts';
import { type Agent, readAnswer } from './agent-answer.ts';
import { answerEvent, type HookEnd } from './answer-event.ts';

let folder: string;
let tokenFile: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assize-hook-'));
  tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, 'asz_1\n', { mode: 0o600 });
});
afterEach(() => rmSync(folder, { recursive: true }));

async function serving(answer: unknown): Promise<HookServer> {
  const server = await startHookServer(() => answer);
  onTestFinished(() => server.close());
  return server;
}

const asked = (
  hook_event_name: string,
  url: string,
  read?: () => Promise<string>,
  agent: Agent = 'codex',
): Promise<HookEnd> => {
  const event = JSON.stringify({ hook_event_name, session_id: 's1' });
  const options = { agent, url, tokenFile, trajectory: 'a b', wait: 3 };
  return answerEvent(read ?? (async () => event), options);
};

const tool = (permissionDecision: string, more: object = {}) => ({
  hookSpecificOutput: {
    hookEventName: 'PreToolUse',
    permissionDecision,
    permissionDecisionReason: 'why',
    ...more,
  },
});
const request = (behavior: string) => ({
  hookSpecificOutput: {
    hookEventName: 'PermissionRequest',
    decision: { behavior, message: 'why' },
  },
});

test('an event goes to the server, and an allowed call gets no answer', async () => {
  const { url, calls } = await serving(tool('allow'));
  expect(await asked('PreToolUse', url)).toEqual({ code: 0, out: '', err: '' });
  expect(calls).toMatchObject([
    {
      path: '/v1/trajectories/a%20b/hooks/codex?wait=3',
      headers: { authorization: 'Bearer asz_1' },
      input: { hook_event_name: 'PreToolUse', session_id: 's1' },
    },
  ]);
});

test('a refusal has exactly the members that Codex reads', async () => {
  const { url } = await serving({ ...tool('deny', { more: 1 }), systemMessage: 'x' });
  const { code, out } = await asked('PreToolUse', url);
  expect({ code, out: JSON.parse(out) }).toEqual({ code: 0, out: tool('deny') });
  const { url: other } = await serving(request('deny'));
  expect(JSON.parse((await asked('PermissionRequest', other)).out)).toEqual(request('deny'));
  const { url: open } = await serving({});
  expect(await asked('PermissionRequest', open)).toEqual({ code: 0, out: '', err: '' });
});

describe('a question that fails is refused, and says why', () => {
  test.each<[string, string, unknown]>([
    ['no answer to a call', 'PreToolUse', {}],
    ['an answer to another event', 'PreToolUse', request('deny')],
    ['a question back', 'PreToolUse', tool('ask')],
    ['no reason', 'PreToolUse', tool('deny', { permissionDecisionReason: ' ' })],
    ['a wider permission', 'PermissionRequest', request('allow')],
    ['a list', 'PermissionRequest', []],
  ])('%s', async (_, event, answer) => {
    const { url } = await serving(answer);
    expect(await asked(event, url)).toEqual({
      code: 2,
      out: '',
      err: expect.stringContaining('Assize did not send this answer'),
    });
  });

  test.each(['PreToolUse', 'PermissionRequest'])('no server for %s', async (event) => {
    for (const url of ['http://127.0.0.1:1', 'no address', 'file:///etc/hosts'])
      expect(await asked(event, url), url).toMatchObject({
        code: 2,
        out: '',
        err: expect.stringMatching(/\S/),
      });
  });

  test('no event, and an event that cannot be read', async () => {
    const { url } = await serving(tool('allow'));
    for (const text of ['', '[]', 'null', '{', '{"hook_event_name":""}', '{"hook_event_name":1}'])
      expect(await asked('', url, async () => text), text).toMatchObject({ code: 2, out: '' });
    expect(await asked('', url, () => Promise.reject(new Error('closed')))).toMatchObject({
      code: 2,
      out: '',
    });
  });

  test('a token that is gone, empty, or open to others', async () => {
    const { url, calls } = await serving(tool('allow'));
    chmodSync(tokenFile, 0o640);
    expect((await asked('PreToolUse', url)).err).toContain('chmod 600');
    writeFileSync(tokenFile, 'two words');
    chmodSync(tokenFile, 0o600);
    expect((await asked('PreToolUse', url)).err).toContain('has no token');
    rmSync(tokenFile);
    expect(await asked('PreToolUse', url)).toMatchObject({
      code: 2,
      err: expect.stringContaining('cannot be read'),
    });
    expect(calls).toEqual([]);
  });
});

test('an event that only informs stops nothing when it fails', async () => {
  for (const event of ['PostToolUse', 'Stop', 'SessionEnd', 'UserPromptSubmit', 'SomethingNew'])
    expect(await asked(event, 'http://127.0.0.1:1')).toMatchObject({
      code: 0,
      out: '',
      err: expect.stringMatching(/\S/),
    });
  const { url } = await serving({ systemMessage: 'look', decision: 'block', reason: 'no' });
  expect(await asked('SessionStart', url)).toEqual({
    code: 0,
    out: '{"systemMessage":"look"}',
    err: '',
  });
});

test('no answer but an exact permission is read as one', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('PreToolUse', 'PermissionRequest'),
      fc.constantFrom<Agent>('codex', 'claude-code'),
      fc.jsonValue(),
      (event, agent, answer) => {
        const isEmpty = event === 'PermissionRequest' && JSON.stringify(answer) === '{}';
        expect('fault' in readAnswer(agent, event, answer)).toBe(!isEmpty);
      },
    ),
    { numRuns: cases(500) },
  );
});

describe('Claude Code', () => {
  const ask = (event: string, url: string) => asked(event, url, undefined, 'claude-code');

  test('the answer has each decision with its reason', async () => {
    for (const decision of ['allow', 'deny', 'ask', 'defer']) {
      const { url, calls } = await serving(tool(decision, { more: 1 }));
      const { code, out } = await ask('PreToolUse', url);
      expect({ code, out: JSON.parse(out) }).toEqual({ code: 0, out: tool(decision) });
      expect(calls).toMatchObject([{ path: '/v1/trajectories/a%20b/hooks/claude-code?wait=3' }]);
    }
  });

  test.each<[string, string, unknown]>([
    ['no answer to a call', 'PreToolUse', {}],
    ['another decision', 'PreToolUse', tool('maybe')],
    ['a health check', 'PreToolUse', { status: 'ok' }],
    ['a change of settings that is not blocked', 'ConfigChange', {}],
    ['an answer to another event', 'Elicitation', request('deny')],
    ['a list', 'PermissionRequest', []],
  ])('%s refuses', async (_, event, answer) => {
    const { url } = await serving(answer);
    expect(await ask(event, url)).toMatchObject({ code: 2, out: '' });
  });

  test('settings that open its sandbox refuse a call before it is asked about', async () => {
    const { url, calls } = await serving(tool('allow'));
    const own = join(folder, 'settings.local.json');
    const event = JSON.stringify({ hook_event_name: 'PreToolUse' });
    const options = { agent: 'claude-code', url, tokenFile, trajectory: 'calls', wait: 1 } as const;
    const ask = () => answerEvent(async () => event, { ...options, sandbox: own });
    expect((await ask()).err).toContain('does not turn the sandbox on');
    expect(calls).toEqual([]);
  });

  test('other answers are passed on whole, and a lost report stops nothing', async () => {
    const told = { systemMessage: 'look', hookSpecificOutput: { additionalContext: 'x' } };
    const { url } = await serving(told);
    expect(JSON.parse((await ask('UserPromptSubmit', url)).out)).toEqual(told);
    const block = { decision: 'block', reason: 'changed' };
    const { url: other } = await serving(block);
    expect(JSON.parse((await ask('ConfigChange', other)).out)).toEqual(block);
    expect(await ask('PostToolUse', 'http://127.0.0.1:1')).toMatchObject({ code: 0, out: '' });
  });
});
