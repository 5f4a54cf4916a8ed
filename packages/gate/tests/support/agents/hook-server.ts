import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Listening, listenOnLoopback } from './loopback.ts';

/** The input of a hook: the members that every event has. */
export interface HookInput {
  readonly hook_event_name: string;
  readonly session_id: string;
  readonly tool_name?: string;
  readonly tool_use_id?: string;
  readonly tool_input?: Readonly<Record<string, unknown>>;
  readonly [name: string]: unknown;
}

export interface HookCall {
  readonly input: HookInput;
  readonly headers: IncomingHttpHeaders;
  readonly path: string;
  /** Calls that had no answer yet when this one came. */
  readonly beside: number;
}

export interface HookServer extends Listening {
  readonly calls: readonly HookCall[];
  /** The inputs of one event. */
  of(event: string): HookInput[];
}

/**
 * Answers a call: by an output as JSON, or, if it writes the response itself, by nothing. `{}` says
 * nothing about the call.
 */
export type HookAnswer = (call: HookCall, response: ServerResponse) => unknown;

/** A server of http hooks that records the calls. */
export async function startHookServer(answer: HookAnswer = () => ({})): Promise<HookServer> {
  const calls: HookCall[] = [];
  let open = 0;
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const call = {
      input: JSON.parse(body || '{}'),
      headers: request.headers,
      path: request.url ?? '/',
      beside: open,
    };
    calls.push(call);
    open += 1;
    response.once('close', () => (open -= 1));
    const output = await answer(call, response);
    if (output === undefined) return;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(output));
  });
  const listening = await listenOnLoopback(server);
  const of = (event: string) =>
    calls.map(({ input }) => input).filter(({ hook_event_name }) => hook_event_name === event);
  return { ...listening, calls, of };
}

/** The output that decides a PreToolUse. */
export function preToolUse(
  permissionDecision: 'allow' | 'deny' | 'ask' | 'defer',
  more: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  return { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision, ...more } };
}
