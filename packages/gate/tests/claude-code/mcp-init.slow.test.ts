/** `assize init mcp`, with a real MCP server and a real Claude Code that follows a script. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { AgentStage } from '../../../../tests/support/agents/stage.ts';
import { claudeProgram } from '../../../../tests/support/claude-code/program.ts';
import { startServer } from '../../../../tests/support/process/listening-server.ts';
import { startMessagesApi, use } from '../support/claude-code/messages-api.ts';
import { claudeStage, runClaude } from '../support/claude-code/run-claude.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const SERVER = join(
  ROOT,
  'peers/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js',
);
const PROMPT = 'write the file';

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { readonly port: number };
  server.close();
  return port;
}

function assizeIn({ project, home }: AgentStage, ...args: readonly string[]): string {
  const { ASSIZE_STORE: _, ...env } = process.env;
  return execFileSync(process.execPath, [join(ROOT, 'packages/cli/src/main.ts'), ...args], {
    cwd: project,
    env: { ...env, HOME: home, NO_COLOR: '1' },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

describe.skipIf(claudeProgram() === undefined)(
  'Claude Code (absent without npm ci --prefix peers)',
  () => {
    test('a server of its own gets the gateway: held, approved, made once', async () => {
      const stage = claudeStage();
      onTestFinished(() => stage.remove());
      const target = join(stage.project, 'out.txt');
      const call = (id: string) => [
        use(id, 'mcp__fs__write_file', { path: target, content: 'written' }),
      ];
      const api = await startMessagesApi({ [PROMPT]: [call('toolu_1'), call('toolu_2')] });
      onTestFinished(() => api.close());
      const entry = {
        command: process.execPath,
        args: [SERVER, stage.project],
        env: { LEFT: 'secret-text' },
      };
      const file = stage.write('project/.mcp.json', { mcpServers: { fs: entry } }, 0o640);
      const original = readFileSync(file);
      stage.write('project/.claude/settings.local.json', { enableAllProjectMcpServers: true });
      const url = `http://127.0.0.1:${await freePort()}`;
      const printed = assizeIn(stage, 'init', 'mcp', '--yes', '--url', url);
      expect(printed).toContain('fs: is behind Assize now');
      expect(printed).not.toContain('secret-text');
      expect(statSync(file).mode & 0o777).toBe(0o640);
      const own = join(stage.home, '.assize');
      const [token] = readdirSync(own).filter((name) => /^mcp-.*token$/.test(name));
      expect(statSync(join(own, token as string)).mode & 0o777).toBe(0o600);
      const config = join(own, 'assize.config.json');
      const rules = join(own, 'assize.yaml');
      const enforced = readFileSync(rules, 'utf8').replace(/^(?:mode|until):.*\n/gm, '');
      writeFileSync(rules, `trust: [fs]\n${enforced}`);
      const server = await startServer(stage.project, [
        '--config',
        config,
        '--port',
        new URL(url).port,
      ]);
      onTestFinished(async () => void (await server.end('SIGKILL')));
      expect(assizeIn(stage, 'init', 'mcp', '--check', '--url', url)).toMatch(
        /fs: answers, and shows .*write_file/,
      );

      const principals = Object.keys(JSON.parse(readFileSync(config, 'utf8')).principals);
      const person = principals.find((name) => name.startsWith('human:')) as string;
      const personal = assizeIn(stage, 'token', 'create', person, '--config', config).trim();
      const headers = { authorization: `Bearer ${personal}`, 'content-type': 'application/json' };
      const pending = async (): Promise<any[]> =>
        ((await (await fetch(`${url}/v1/approvals`, { headers })).json()) as { approvals: any[] })
          .approvals;
      // Claude Code starts the gateway with a PATH that does not have `assize`.
      const args = ['--allowedTools', 'mcp__fs__write_file'];
      const running = runClaude(stage, {
        api: api.url,
        prompt: PROMPT,
        args,
        env: { PATH: '/usr/bin:/bin' },
      });
      await expect.poll(async () => (await pending()).length, { timeout: 90_000 }).toBe(1);
      expect(existsSync(target)).toBe(false);
      const [{ id, digest, action }] = await pending();
      expect(action.args).toMatchObject({
        server: 'fs',
        tool: 'write_file',
        args: { path: target },
      });
      await fetch(`${url}/v1/approvals/${id}/approve`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ digest }),
      });
      await expect.poll(() => existsSync(target), { timeout: 20_000 }).toBe(true);
      // The approval was for one call: the second one waits for another decision.
      writeFileSync(target, 'mine');
      await expect.poll(async () => (await pending()).length, { timeout: 20_000 }).toBe(1);
      const [second] = await pending();
      const body = JSON.stringify({ digest: second.digest, reason: 'once is enough' });
      await fetch(`${url}/v1/approvals/${second.id}/reject`, { method: 'POST', headers, body });
      const { told } = await running;
      expect(JSON.stringify(told[0])).toContain('Successfully wrote');
      expect(JSON.stringify(told[1])).toContain('once is enough');
      expect(readFileSync(target, 'utf8')).toBe('mine');
      expect(assizeIn(stage, 'verify', '--config', config)).toContain('valid');

      expect(assizeIn(stage, 'init', 'mcp', '--undo', '--yes')).toContain('fs: is as it was');
      expect(readFileSync(file)).toEqual(original);
      expect(existsSync(join(own, token as string))).toBe(false);
    });
  },
);
