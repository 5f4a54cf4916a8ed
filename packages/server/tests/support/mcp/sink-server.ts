/**
 * An MCP server over pipes, whose effects are lines of a file. `node sink-server.ts FILE`. The text
 * of `add` chooses what goes wrong: `die-before`, `die-after`, `never`, `refuse`.
 */
import { appendFileSync } from 'node:fs';
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const file = process.argv[2] as string;

serveStdio(() => {
  const server = new McpServer({ name: 'sink', version: '1' });
  server.registerTool('add', { inputSchema: z.object({ text: z.string() }) }, async ({ text }) => {
    if (text.startsWith('die-before')) process.exit(9);
    if (text.startsWith('refuse')) throw new Error('no');
    appendFileSync(file, `${text}\n`);
    if (text.startsWith('die-after')) process.exit(9);
    if (text.startsWith('never')) await new Promise(() => undefined);
    return { content: [{ type: 'text', text: `added ${text}` }] };
  });
  return server;
});
