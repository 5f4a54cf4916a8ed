/** `assize blast undo`: files that a session of a coding agent changed get their text back. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { gateway, readRules } from '@assize/gate/unstable/gateway';
import type { Domain } from 'assize/internal/kernel';
import { openStore } from 'assize/internal/stores';
import { expect, onTestFinished, test } from 'vitest';
import { runCommand } from '../../../tests/support/process/command.ts';
import { start } from '../../../tests/support/server/serving.ts';

const RULES = readRules("{ id: open, default: allow, rules: [{ id: all, allow: '*' }] }").rules;

test('files get the text back that they had before a session', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assize-undo-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const url = `sqlite:${join(folder, 'assize.db')}`;
  const store = await openStore(url);
  const server = await start({
    ...{ store, rules: RULES, domains: [gateway({ rules: RULES }) as unknown as Domain] },
    config: { worlds: { calls: { domain: 'gateway' } }, tools: [] },
    principals: {
      'agent:claude': {
        kinds: ['agent'],
        grants: [{ actions: ['call', 'begin', 'report', 'session'] }],
      },
    },
  });
  const token = await server.tokenFor('agent:claude');
  let calls = 0;
  const send = async (event: object) => {
    const base = { session_id: 's1', cwd: folder, ...event };
    const answer = await server.ask('POST', '/v1/trajectories/calls/hooks/claude-code', {
      token,
      body: base,
    });
    expect(answer.status).toBe(200);
    return answer.body;
  };
  const write = async (name: string, content: string, more: object = {}) => {
    const path = join(folder, name);
    const originalFile = existsSync(path) ? readFileSync(path, 'utf8') : null;
    const event = {
      tool_name: 'Write',
      tool_input: { file_path: path, content },
      tool_use_id: `t${++calls}`,
      ...more,
    };
    const { hookSpecificOutput } = await send({ hook_event_name: 'PreToolUse', ...event });
    expect(hookSpecificOutput.permissionDecision).toBe('allow');
    writeFileSync(path, content);
    await send({
      hook_event_name: 'PostToolUse',
      ...event,
      tool_response: { originalFile, content },
    });
  };
  const text = (name: string) =>
    existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : undefined;
  for (const name of ['twice', 'since', 'between', 'other'])
    writeFileSync(join(folder, name), 'old');
  await write('twice', 'one');
  await write('twice', 'two', { agent_id: 'a1' });
  await write('new', 'made');
  await write('since', 'agent');
  writeFileSync(join(folder, 'since'), 'person');
  await write('between', 'agent');
  writeFileSync(join(folder, 'between'), 'person');
  await write('between', 'again');
  writeFileSync(join(folder, 'large'), 'x'.repeat(300_000));
  await write('large', 'small');
  await write('large', 'again');
  await write('other', 'of another session', { session_id: 's2' });
  // A report of a path that its call was not about, as an agent with its token could send it.
  const read = {
    tool_name: 'Read',
    tool_input: { file_path: '/etc/hosts' },
    tool_use_id: 'forged',
  };
  await send({ hook_event_name: 'PreToolUse', ...read });
  const path = join(folder, 'other');
  const forged = { ...read, tool_name: 'Write', tool_input: { file_path: path, content: 'x' } };
  await send({
    hook_event_name: 'PostToolUse',
    ...forged,
    tool_response: { originalFile: 'evil', content: text('other') },
  });
  await server.stop();
  await store.close();

  const undone = await runCommand(folder, url, 'blast', 'undo', 's1', '--yes', '--json');
  expect(undone.code).toBe(1);
  const { restored, left } = JSON.parse(undone.out);
  expect(restored.toSorted()).toEqual([join(folder, 'new'), join(folder, 'twice')]);
  expect(left.map(({ path }: { path: string }) => basename(path)).toSorted()).toEqual([
    'between',
    'large',
    'since',
  ]);
  expect(['twice', 'new', 'since', 'between', 'large', 'other'].map(text)).toEqual([
    'old',
    undefined,
    'person',
    'again',
    'again',
    'of another session',
  ]);
  expect(await runCommand(folder, url, 'blast', 'undo', 's9', '--yes')).toMatchObject({ code: 2 });
  expect(await runCommand(folder, url, 'blast', 'undo', 's2')).toMatchObject({
    code: 2,
    err: expect.stringContaining('--yes'),
  });
});
