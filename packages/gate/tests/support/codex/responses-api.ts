import { createServer, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Listening, listenOnLoopback } from '../agents/loopback.ts';

/** An item of the output: a message, or a call of a tool. */
export interface OutputItem {
  readonly type: 'message' | 'function_call' | 'custom_tool_call';
  readonly call_id?: string;
  readonly [name: string]: unknown;
}

/**
 * By a text of the prompt: the turns that the model takes. A turn follows when the one before it
 * has the outputs of all its calls. After the last turn the model says "Done.".
 */
export type CodexScript = Readonly<Record<string, readonly (readonly OutputItem[])[]>>;

export interface ResponsesRequest {
  readonly tools?: readonly { readonly name?: string; readonly type: string }[];
  readonly input: readonly InputItem[];
}

export interface InputItem {
  readonly type: string;
  readonly role?: string;
  readonly call_id?: string;
  readonly content?: readonly { readonly text?: string }[];
  /** Of a call. */
  readonly output?: unknown;
}

export interface ResponsesApi extends Listening {
  readonly requests: readonly ResponsesRequest[];
  /** Other requests, as `METHOD /path`. */
  readonly others: readonly string[];
}

/** The OpenAI Responses API on loopback, with a model that follows a script. */
export async function startResponsesApi(script: CodexScript): Promise<ResponsesApi> {
  const requests: ResponsesRequest[] = [];
  const others: string[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const path = new URL(request.url ?? '/', 'http://loopback').pathname;
    if (request.method !== 'POST' || path !== '/v1/responses') {
      others.push(`${request.method} ${path}`);
      response.writeHead(404).end();
      return;
    }
    const asked = JSON.parse(body) as ResponsesRequest;
    requests.push(asked);
    stream(response, turnFor(asked, script));
  });
  return { ...(await listenOnLoopback(server)), requests, others };
}

/** A call of a tool with arguments as JSON. Tools of servers and of subagents have a namespace. */
export function callTool(
  callId: string,
  name: string,
  args: Readonly<Record<string, unknown>>,
  namespace?: string,
): OutputItem {
  const call = {
    type: 'function_call',
    call_id: callId,
    name,
    arguments: JSON.stringify(args),
  } as const;
  return namespace === undefined ? call : { ...call, namespace };
}

/** A call of a tool with a text, such as a patch. */
export function callFreeform(callId: string, name: string, input: string): OutputItem {
  return { type: 'custom_tool_call', call_id: callId, name, input };
}

function turnFor({ input }: ResponsesRequest, script: CodexScript): readonly OutputItem[] {
  const answered = new Set(
    input.filter(({ type }) => type.endsWith('_output')).map(({ call_id }) => call_id),
  );
  const due = turnsFor(input, script).find((turn) =>
    turn.some(({ call_id }) => call_id && !answered.has(call_id)),
  );
  return due ?? [message('Done.')];
}

/** By the last prompt that the script knows. */
function turnsFor(
  input: readonly InputItem[],
  script: CodexScript,
): readonly (readonly OutputItem[])[] {
  for (const { role, content } of input.toReversed()) {
    const said = role === 'user' ? (content ?? []).map((part) => part.text ?? '').join('\n') : '';
    const known = Object.keys(script).find((prompt) => said.includes(prompt));
    if (known !== undefined) return script[known] ?? [];
  }
  return [];
}

function message(said: string): OutputItem {
  return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: said }] };
}

let made = 0;

function stream(response: ServerResponse, items: readonly OutputItem[]): void {
  made += 1;
  const id = `resp_${made}`;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const event = (data: { readonly type: string; readonly [name: string]: unknown }) =>
    response.write(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`);
  event({ type: 'response.created', response: { id } });
  for (const item of items) event({ type: 'response.output_item.done', item });
  const usage = {
    input_tokens: 10,
    input_tokens_details: null,
    output_tokens: 10,
    output_tokens_details: null,
    total_tokens: 20,
  };
  event({ type: 'response.completed', response: { id, usage } });
  response.end();
}
