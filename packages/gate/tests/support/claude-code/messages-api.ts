import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listenOnLoopback } from '../agents/loopback.ts';

export interface Said {
  readonly type: 'text';
  readonly text: string;
}

export interface ToolUse {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** One message of the model. */
export type Turn = readonly (Said | ToolUse)[];

/**
 * By a text of the prompt: the turns that the model takes. A turn follows when the one before it
 * has the results of all its tool uses. So a script needs no memory, and serves any number of
 * sessions. After the last turn the model says "Done.".
 */
export type Script = Readonly<Record<string, readonly Turn[]>>;

export interface MessagesRequest {
  readonly model: string;
  readonly stream?: boolean;
  readonly system?: unknown;
  readonly tools?: readonly { readonly name: string }[];
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}

export interface MessagesApi {
  readonly url: string;
  /** The requests for a message, as they came. */
  readonly requests: readonly MessagesRequest[];
  /** Requests that do not belong to the Messages API, as `METHOD /path`. */
  readonly others: readonly string[];
  close(): Promise<void>;
}

/** The Anthropic Messages API on loopback, with a model that follows a script. */
export async function startMessagesApi(script: Script): Promise<MessagesApi> {
  const requests: MessagesRequest[] = [];
  const others: string[] = [];
  const server = createServer(async (request, response) => {
    const path = new URL(request.url ?? '/', 'http://loopback').pathname;
    const body = await textOf(request);
    if (request.method === 'POST' && path === '/v1/messages') {
      const asked = JSON.parse(body) as MessagesRequest;
      requests.push(asked);
      answer(response, asked, script);
    } else if (request.method === 'POST' && path === '/v1/messages/count_tokens') {
      send(response, 200, { input_tokens: 10 });
    } else {
      others.push(`${request.method} ${path}`);
      send(response, 404, { type: 'error', error: { type: 'not_found_error', message: path } });
    }
  });
  const listening = await listenOnLoopback(server);
  return { ...listening, requests, others };
}

/** The tool uses of a turn are written as `use('call-1', 'Bash', { command: 'ls' })`. */
export function use(id: string, name: string, input: Readonly<Record<string, unknown>>): ToolUse {
  return { type: 'tool_use', id, name, input };
}

export function say(text: string): Said {
  return { type: 'text', text };
}

function answer(response: ServerResponse, asked: MessagesRequest, script: Script): void {
  const turn = turnFor(asked, script);
  if (turn === undefined) {
    const message = 'The script has no turns for this prompt.';
    send(response, 400, { type: 'error', error: { type: 'invalid_request_error', message } });
  } else if (asked.stream === true) stream(response, asked.model, turn);
  else send(response, 200, { ...messageOf(asked.model, turn), content: turn });
}

/** Undefined: the script does not know the prompt. */
function turnFor(asked: MessagesRequest, script: Script): Turn | undefined {
  // A request without tools is one aside, such as for the title of a session.
  if ((asked.tools ?? []).length === 0) return [say('Noted.')];
  const turns = turnsFor(asked, script);
  const answered = new Set(blocksOf(asked).flatMap(({ tool_use_id }) => tool_use_id ?? []));
  const due = turns?.find((turn) =>
    turn.some((block) => block.type === 'tool_use' && !answered.has(block.id)),
  );
  if (due !== undefined) return due;
  const last = turns?.at(-1);
  if (last === undefined) return undefined;
  return last.some(({ type }) => type === 'tool_use') ? [say('Done.')] : last;
}

/** By the last prompt that the script knows. */
function turnsFor(asked: MessagesRequest, script: Script): readonly Turn[] | undefined {
  const prompts = asked.messages.filter(({ role }) => role === 'user').reverse();
  for (const { content } of prompts) {
    const text = typeof content === 'string' ? content : texts(content);
    const known = Object.keys(script).find((prompt) => text.includes(prompt));
    if (known !== undefined) return script[known];
  }
  return undefined;
}

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly tool_use_id?: string;
}

function texts(content: unknown): string {
  return (content as readonly Block[]).map(({ text }) => text ?? '').join('\n');
}

function blocksOf({ messages }: MessagesRequest): Block[] {
  return messages.flatMap(({ content }) => (Array.isArray(content) ? (content as Block[]) : []));
}

let made = 0;

function messageOf(model: string, turn: Turn): Readonly<Record<string, unknown>> {
  made += 1;
  return {
    id: `msg_${made}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: turn.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 10 },
  };
}

function stream(response: ServerResponse, model: string, turn: Turn): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  const event = (data: { readonly type: string; readonly [name: string]: unknown }) =>
    response.write(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`);
  const message = messageOf(model, turn);
  event({ type: 'message_start', message: { ...message, stop_reason: null } });
  for (const [index, block] of turn.entries()) {
    event({ type: 'content_block_start', index, content_block: startOf(block) });
    event({ type: 'content_block_delta', index, delta: deltaOf(block) });
    event({ type: 'content_block_stop', index });
  }
  const delta = { stop_reason: message['stop_reason'], stop_sequence: null };
  event({ type: 'message_delta', delta, usage: { output_tokens: 10 } });
  event({ type: 'message_stop' });
  response.end();
}

function startOf(block: Said | ToolUse): Said | ToolUse {
  return block.type === 'text' ? { ...block, text: '' } : { ...block, input: {} };
}

function deltaOf(block: Said | ToolUse): Readonly<Record<string, unknown>> {
  return block.type === 'text'
    ? { type: 'text_delta', text: block.text }
    : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
