import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { isRecord } from 'assize/internal/base';
import { unknownAgentTools } from '#gateway';

/** How an agent program is started so that it asks a model at an address for one message. */
export interface ProgramStart {
  readonly args: (url: string) => readonly string[];
  readonly env: (url: string) => Readonly<Record<string, string>>;
}

export const CLAUDE_CODE_START: ProgramStart = {
  args: () => ['-p', 'x'],
  env: (url) => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'none',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    // Otherwise the first request has only the names that the program loads immediately.
    ENABLE_TOOL_SEARCH: 'false',
  }),
};

export const CODEX_START: ProgramStart = {
  args: (url) => {
    const provider = `{name="x",base_url="${url}/v1",wire_api="responses",env_key="NO_KEY",request_max_retries=0,stream_max_retries=0}`;
    const settings = [
      'model_provider="x"',
      `model_providers.x=${provider}`,
      'check_for_update_on_startup=false',
      'analytics.enabled=false',
    ];
    return [
      'exec',
      '--skip-git-repo-check',
      ...settings.flatMap((setting) => ['-c', setting]),
      'x',
    ];
  },
  env: () => ({ NO_KEY: 'none' }),
};

const ANSWER_MS = 20_000;

/**
 * The names of the tools that a program offers to its model. The program is started in an empty
 * home, and its first request, to loopback, gets no message. Empty: it made no such request.
 */
export async function offeredTools(
  program: string,
  { args, env }: ProgramStart,
): Promise<readonly string[]> {
  const home = mkdtempSync(join(tmpdir(), 'assize-tools-'));
  const { promise, resolve } = Promise.withResolvers<readonly string[]>();
  const server = createServer(async (request, response) => {
    const names = namesIn(parsed(await text(request)));
    const error = { type: 'invalid_request_error', message: 'There is no model here.' };
    response
      .writeHead(400, { 'content-type': 'application/json' })
      .end(JSON.stringify({ type: 'error', error }));
    if (names.length > 0) resolve(names);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const child = spawn(program, args(url), {
    cwd: home,
    stdio: 'ignore',
    env: { PATH: process.env['PATH'], HOME: home, CODEX_HOME: home, ...env(url) },
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), ANSWER_MS);
  const ended = new Promise<void>((end) => child.once('close', end).once('error', end));
  void ended.then(() => resolve([]));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    child.kill('SIGKILL');
    await ended;
    server.closeAllConnections();
    server.close();
    rmSync(home, { recursive: true, force: true });
  }
}

/** The names of tools in a request to a model, as the hooks have them. */
function namesIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return [...new Set(value.flatMap(namesIn))];
  if (!isRecord(value)) return [];
  const { tools, ...others } = value;
  const own = Array.isArray(tools) ? tools.flatMap((tool) => namesOf(tool, '')) : [];
  return [...new Set([...own, ...namesIn(Object.values(others))])];
}

/** Namespaces of Codex that are not part of the names of their tools. */
const BARE: readonly string[] = ['functions', 'multi_agent_v1'];

/**
 * The names of a tool: those of a namespace begin with its name, and a tool that runs scripts
 * describes the tools that its scripts call.
 */
function namesOf(tool: unknown, space: string): readonly string[] {
  if (!isRecord(tool) || typeof tool['name'] !== 'string') return [];
  const { name, description, tools } = tool;
  const own = BARE.includes(name) ? '' : name;
  if (Array.isArray(tools)) return tools.flatMap((each) => namesOf(each, own));
  const called = [...String(description).matchAll(/^### `(\w+)`$/gm)];
  return called.length === 0
    ? [`${space}${name}`]
    : called.map(([, each = '']) => each.replace('__', ''));
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    // A request without a document has no tools.
    return undefined;
  }
}

/** Lines of `--check` for tools that Assize does not know. The check passes: their calls ask. */
export async function toolNotes(
  server: string,
  program: string,
  start: ProgramStart,
): Promise<string[]> {
  const unknown = unknownAgentTools(server, await offeredTools(program, start));
  if (unknown.length === 0) return [];
  const tools = unknown.map((name) => `${server}/${name}`).join(', ');
  return [`Tools that Assize does not know, so each call asks: ${tools}.`];
}
