import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Found, PeerTask } from './peer.ts';

const AT_ONCE = 8;

/** N1 to N3 of the MCP server for memory: it writes what its caller says, in one file, and asks no model. */
export async function judgeServerMemory({ folder, scratch }: PeerTask): Promise<Found> {
  const file = join(scratch, 'memory.jsonl');
  const server = await mcpServer(folder, file);
  try {
    const manager = { name: 'manager', entityType: 'role' };
    await server.call('create_entities', { entities: [{ ...manager, observations: ['is Bob'] }] });
    await server.call('create_entities', { entities: [{ ...manager, observations: ['is Dora'] }] });
    const isSecondKept = readFileSync(file, 'utf8').includes('Dora');
    await server.call('delete_observations', { deletions: [{ entityName: 'manager', observations: ['is Bob'] }] });
    await server.call('add_observations', { observations: [{ entityName: 'manager', contents: ['is Carol'] }] });
    const isKept = readFileSync(file, 'utf8').includes('Bob');
    const numbers = Array.from({ length: AT_ONCE }, (_, n) => `has the number ${n}`);
    await Promise.all(
      numbers.map((text) =>
        server.call('add_observations', { observations: [{ entityName: 'manager', contents: [text] }] }),
      ),
    );
    const written = readFileSync(file, 'utf8');
    const left = numbers.filter((text) => written.includes(text)).length;
    return {
      n1: '-',
      n2: '-',
      n3: isKept && isSecondKept ? 'X' : 'A',
      seen: [
        'No model is asked, so that N1 is of whoever calls it; there is no confidence that N2 could be about.',
        `What is deleted because something else is so is ${isKept ? 'kept' : 'nowhere'}; what is said of an entity that is there already is ${isSecondKept ? 'kept' : 'dropped'}.`,
        `Of ${AT_ONCE} observations that are added at once ${left} are kept.`,
      ],
    };
  } finally {
    await server.close();
  }
}

interface McpServer {
  call(tool: string, args: object): Promise<unknown>;
  close(): Promise<void>;
}

async function mcpServer(folder: string, file: string): Promise<McpServer> {
  const require = createRequire(join(folder, 'package.json'));
  const manifest = require.resolve('@modelcontextprotocol/server-memory/package.json');
  const { bin } = require(manifest) as { readonly bin: Readonly<Record<string, string>> };
  const program = join(dirname(manifest), Object.values(bin)[0] as string);
  const child = spawn(process.execPath, [program], {
    env: { MEMORY_FILE_PATH: file },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const rpc = jsonRpc(child);
  await rpc.request('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'assize', version: '1' },
  });
  rpc.notify('notifications/initialized');
  return {
    call: (name, args) => rpc.request('tools/call', { name, arguments: args }),
    close: async () => {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    },
  };
}

/** One JSON a line, as MCP has it over standard input and output. */
function jsonRpc(child: ChildProcess) {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  const output = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  output.on('line', (line) => {
    const { id, result, error } = JSON.parse(line);
    const asked = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) asked?.resolve(result);
    else asked?.reject(new Error(error.message));
  });
  child.on('exit', () => {
    for (const { reject } of waiting.values()) reject(new Error('The server has ended.'));
  });
  let ids = 0;
  const send = (message: object): void =>
    void child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  return {
    notify: (method: string): void => send({ method }),
    request: (method: string, params: object): Promise<unknown> => {
      const id = ++ids;
      const asked = Promise.withResolvers<unknown>();
      waiting.set(id, asked);
      send({ id, method, params });
      return asked.promise;
    },
  };
}
