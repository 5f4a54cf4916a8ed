import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { listenOnLoopback } from '../../../tests/support/agents/loopback.ts';
import { refusing } from '../init/agents/hook-command.ts';
import { guardClaudeCode } from './claude-code.ts';

const EVENT = JSON.stringify({
  hook_event_name: 'PreToolUse',
  tool_name: 'Bash',
  tool_input: { command: 'ls' },
});
const read = async () => EVENT;

/** A program at an address, which answers everything in one way. */
async function answering(status: number, body?: string): Promise<string> {
  const server = createServer((_, response) => response.writeHead(status).end(body));
  const { url, close } = await listenOnLoopback(server);
  onTestFinished(close);
  return url;
}

test('a call goes on where Assize answers', async () => {
  expect(
    await guardClaudeCode(read, await answering(200, '{"status":"ok","server":"assize"}')),
  ).toEqual({
    code: 0,
    out: '',
    err: '',
  });
});

test.each([
  ['an empty object', 200, '{}'],
  ['no body', 200, undefined],
  ['no content', 204, undefined],
  ['a healthy other program', 200, '{"status":"ok"}'],
  ['null', 200, 'null'],
  ['a page', 200, '<html></html>'],
  [
    'a decision',
    200,
    '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}',
  ],
  ['an error', 500, '{"server":"assize"}'],
])('another program at the address refuses the call: %s', async (_, status, body) => {
  const end = await guardClaudeCode(read, await answering(status, body));
  expect(end).toMatchObject({
    code: 2,
    out: '',
    err: expect.stringContaining('Assize refused the call'),
  });
});

test('no server, no address, and no event refuse the call', async () => {
  for (const url of ['http://127.0.0.1:1', 'no address', 'file:///etc/hosts'])
    expect(await guardClaudeCode(read, url), url).toMatchObject({
      code: 2,
      err: expect.stringMatching(/\S/),
    });
  const url = await answering(200, '{"server":"assize"}');
  expect(await guardClaudeCode(() => Promise.reject(new Error('closed')), url)).toMatchObject({
    code: 2,
  });
});

test('the installed command ends with 0 at Assize, and else with 2', async () => {
  const main = join(import.meta.dirname, '../../../../cli/src/main.ts');
  const run = (line: string): Promise<number | null> => {
    const shell = spawn('sh', ['-c', refusing(line, 'claude-code')], {
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    // A command that ends early reads nothing.
    shell.stdin.on('error', () => undefined).end(EVENT);
    return new Promise((ended) => shell.once('close', ended));
  };
  const hook = `${process.execPath} ${main} hook claude-code`;
  expect(await run(`${hook} --url ${await answering(200, '{"server":"assize"}')}`)).toBe(0);
  for (const line of [
    `${hook} --url ${await answering(200, '{}')}`,
    hook,
    `${hook} --url`,
    '/gone/node x',
    "sh -c 'kill -9 $$'",
  ])
    expect(await run(line), line).toBe(2);
});
