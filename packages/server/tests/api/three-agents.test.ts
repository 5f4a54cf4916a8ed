/** One rules file for a call of Claude Code, of Codex, and of a client of an MCP server. */
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { connected, served } from '../../../../tests/support/mcp/served-gateway.ts';
import { hooksOf } from '../support/agents/hooks.ts';

const RULES = `
id: coding
default: ask
trust: [notes]
tools:
  notes/write_file: { class: reversible, writes: [/path] }
rules:
  - { id: edit, allow: [files/write, notes/write_file], path: /repo }
  - { id: secrets, deny: '*', path: /repo/.env, because: Secrets stay where they are. }
`;

type Ruling = 'allowed' | 'denied' | 'held';

const rulingOf = ({
  permission,
  reason,
}: {
  readonly permission: string;
  readonly reason: string;
}): Ruling =>
  permission === 'allow'
    ? 'allowed'
    : reason.includes('a person has to approve')
      ? 'held'
      : 'denied';

async function byClaudeCode(path: string): Promise<Ruling> {
  const { ask } = await hooksOf('claude-code', RULES);
  return rulingOf(await ask('Write', { file_path: path, content: 'x' }));
}

async function byCodex(path: string): Promise<Ruling> {
  const { ask } = await hooksOf('codex', RULES);
  const command = `*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch`;
  return rulingOf(await ask('apply_patch', { command }));
}

async function byMcp(path: string): Promise<Ruling> {
  const written: string[] = [];
  const serve = (transport: never) =>
    serveStdio(
      () => {
        const server = new McpServer({ name: 'notes', version: '1' });
        server.registerTool(
          'write_file',
          { inputSchema: z.object({ path: z.string() }) },
          async (given) => {
            written.push(given.path);
            return { content: [] };
          },
        );
        return server;
      },
      { transport },
    );
  const { client, close } = await connected(await served(RULES), serve as never);
  const result: any = await client.callTool(
    { name: 'write_file', arguments: { path } } as never,
    { allowInputRequired: true } as never,
  );
  await close();
  if (written.length > 0) return 'allowed';
  return result.structuredContent?.approval === undefined ? 'denied' : 'held';
}

test.each<[string, Ruling]>([
  ['/repo/src/a.ts', 'allowed'],
  ['/repo/.env', 'denied'],
  ['/etc/hosts', 'held'],
])('the three write %s, and each is %s', async (path, ruling) => {
  const rulings = {
    claudeCode: await byClaudeCode(path),
    codex: await byCodex(path),
    mcp: await byMcp(path),
  };
  expect(rulings).toEqual({ claudeCode: ruling, codex: ruling, mcp: ruling });
});
