import { join } from 'node:path';
import type { AgentStage } from '../../../../../tests/support/agents/stage.ts';

/** The command of an MCP server, as the files of Claude Code name it. */
export interface McpCommand {
  readonly command: string;
  readonly args: readonly string[];
}

/** An MCP server over stdio. `add` adds a line to a file, and `ask` asks the person. */
const SERVER = `
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [file] = process.argv.slice(2);
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const said = (text) => ({ content: [{ type: 'text', text }] });
const inputSchema = { type: 'object', properties: { text: { type: 'string' } } };
const requestedSchema = { type: 'object', properties: { colour: { type: 'string' } } };
let asking;

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params, result } = JSON.parse(line);
  if (method === 'initialize') {
    const { protocolVersion } = params;
    const serverInfo = { name: 'notes', version: '1.0.0' };
    send({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo } });
  } else if (method === 'tools/list') {
    send({ id, result: { tools: ['add', 'ask'].map((name) => ({ name, inputSchema })) } });
  } else if (method === 'tools/call' && params.name === 'add') {
    appendFileSync(file, params.arguments.text + '\\n');
    send({ id, result: said('added') });
  } else if (method === 'tools/call') {
    asking = id;
    send({ id: 'question', method: 'elicitation/create', params: { message: 'Which colour?', requestedSchema } });
  } else if (id === 'question') send({ id: asking, result: said('the answer: ' + JSON.stringify(result)) });
  else if (method !== undefined && id !== undefined) send({ id, result: {} });
});
`;

/** Writes the server. It adds its lines to `sink.txt` in a folder of the project. */
export function notesServer(stage: AgentStage, folder: string): McpCommand {
  const program = stage.write('notes-server.mjs', SERVER);
  return { command: process.execPath, args: [program, join(stage.project, folder, 'sink.txt')] };
}
