import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { BEGUN, BELIEVED_FIRST, judgeDrift, type MemoryContents, type Reviser } from './drift.ts';
import type { PeerFinding, PeerTask } from './peer.ts';

const AT_ONCE = 8;

/**
 * N1 to N3 of the MCP server for memory. The server writes its caller's statements to one file, and
 * asks no model.
 */
export async function judgeServerMemory({ folder, scratch }: PeerTask): Promise<PeerFinding> {
  const file = join(scratch, 'memory.jsonl');
  const server = await mcpServer(folder, file);
  try {
    const manager = { name: 'manager', entityType: 'role' };
    await server.call('create_entities', { entities: [{ ...manager, observations: ['is Bob'] }] });
    await server.call('create_entities', { entities: [{ ...manager, observations: ['is Dora'] }] });
    const isSecondKept = readFileSync(file, 'utf8').includes('Dora');
    await server.call('delete_observations', {
      deletions: [{ entityName: 'manager', observations: ['is Bob'] }],
    });
    await server.call('add_observations', {
      observations: [{ entityName: 'manager', contents: ['is Carol'] }],
    });
    const isKept = readFileSync(file, 'utf8').includes('Bob');
    const numbers = Array.from({ length: AT_ONCE }, (_, n) => `has the number ${n}`);
    await Promise.all(
      numbers.map((text) =>
        server.call('add_observations', {
          observations: [{ entityName: 'manager', contents: [text] }],
        }),
      ),
    );
    const written = readFileSync(file, 'utf8');
    const left = numbers.filter((text) => written.includes(text)).length;
    const { n2, seen } = await judgeRevisions(folder, scratch);
    return {
      n1: '-',
      n2,
      n3: isKept && isSecondKept ? 'X' : 'A',
      seen: [
        'No model is asked, so that N1 is of whoever calls it.',
        `What is deleted because something else is so is ${isKept ? 'kept' : 'nowhere'}; what is said of an entity that is there already is ${isSecondKept ? 'kept' : 'dropped'}.`,
        `Of ${AT_ONCE} observations that are added together ${left} are kept.`,
        seen,
      ],
    };
  } finally {
    await server.close();
  }
}

const ENTITY = 'manager';

/**
 * N2, by two servers over one file. A server stores only texts for an entity, so the texts contain
 * the confidences.
 */
async function judgeRevisions(folder: string, scratch: string): ReturnType<typeof judgeDrift> {
  const servers: McpServer[] = [];
  let made = 0;
  try {
    return await judgeDrift(async () => {
      const file = join(scratch, `drift-${++made}.jsonl`);
      const [one, other] = [await mcpServer(folder, file), await mcpServer(folder, file)];
      servers.push(one, other);
      const observations = [
        ...Object.entries(BEGUN).map(([who, sure]) => sureOf(who, sure)),
        believedOf(BELIEVED_FIRST),
      ];
      await one.call('create_entities', {
        entities: [{ name: ENTITY, entityType: 'role', observations }],
      });
      return [reviserOf(one), reviserOf(other)];
    });
  } finally {
    for (const server of servers) await server.close();
  }
}

function sureOf(who: string, confidence: number): string {
  return `${who} with confidence ${confidence}`;
}

function believedOf(who: string): string {
  return `believed: ${who}`;
}

function reviserOf(server: McpServer): Reviser {
  let texts: readonly string[] = [];
  const replace = async (isIt: (text: string) => boolean, by: string): Promise<void> => {
    await server.call('delete_observations', {
      deletions: [{ entityName: ENTITY, observations: texts.filter(isIt) }],
    });
    await server.call('add_observations', {
      observations: [{ entityName: ENTITY, contents: [by] }],
    });
  };
  return {
    read: async () => {
      texts = await observationsOf(server);
      return heldIn(texts);
    },
    revise: (who, confidence) =>
      replace((text) => text.startsWith(`${who} with`), sureOf(who, confidence)),
    believe: (who) => replace((text) => text.startsWith(believedOf('')), believedOf(who)),
  };
}

async function observationsOf(server: McpServer): Promise<readonly string[]> {
  const { entities = [] } = JSON.parse(textIn(await server.call('read_graph', {})) ?? '{}') as {
    readonly entities?: readonly Entity[];
  };
  return entities.find(({ name }) => name === ENTITY)?.observations ?? [];
}

/** The answer of an MCP tool. */
interface Answered {
  readonly content?: readonly { readonly text?: string }[];
  readonly isError?: boolean;
}

function textIn({ content }: Answered): string | undefined {
  return content?.[0]?.text;
}

interface Entity {
  readonly name: string;
  readonly observations: readonly string[];
}

function heldIn(texts: readonly string[]): MemoryContents {
  const sure = texts.flatMap((text): [string, number][] => {
    const [, who, confidence] = /^(.+) with confidence (.+)$/.exec(text) ?? [];
    return who === undefined ? [] : [[who, Number(confidence)]];
  });
  const believed = texts
    .find((text) => text.startsWith(believedOf('')))
    ?.slice(believedOf('').length);
  return {
    confidences: Object.fromEntries(sure.sort()),
    ...(believed !== undefined && { believed }),
  };
}

interface McpServer {
  /** @throws where the tool says that it did not do it */
  call(tool: string, args: object): Promise<Answered>;
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
    call: async (name, args) => {
      const answered = (await rpc.request('tools/call', { name, arguments: args })) as Answered;
      if (answered.isError === true) throw new Error(textIn(answered) ?? `${name} was refused`);
      return answered;
    },
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
