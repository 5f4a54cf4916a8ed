import { arg, checkArgument, type Json } from 'assize/internal/base';
import { z } from 'zod';
import { callOf } from './answer-text.ts';
import type { ChatAnswer, ChatModel, ChatRequest, ChatTool } from './chat-model.ts';
import { checkedKey, endpointOf } from './endpoint.ts';
import { badOption } from './errors.ts';
import { endpoint, postJson, type TransportOptions } from './post-json.ts';
import { inForm } from './protocol-form.ts';

export interface OpenAiCompatibleOptions extends TransportOptions {
  /** The address of the API, such as `https://api.openai.com/v1` or `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string;
  readonly model: string;
  /** Sent as a bearer token. Default: none, as local servers want it. */
  readonly apiKey?: string;
  /**
   * `native`: the tools of the protocol. `text`: the tools are in the prompt, and the answer is
   * JSON in text, for servers and models without tools. Default: `native`.
   */
  readonly tools?: 'native' | 'text';
  /** Further members of each request, such as `{ max_completion_tokens: 500 }`. Never a secret. */
  readonly extra?: { readonly [member: string]: Json };
}

const OPTIONS = arg.options<OpenAiCompatibleOptions>({
  baseUrl: arg.any,
  model: arg.any,
  apiKey: arg.any,
  tools: arg.any,
  extra: arg.optional(arg.object),
  timeoutMs: arg.any,
  bytesMax: arg.any,
  retries: arg.any,
  retryWaitMaxMs: arg.any,
  pause: arg.any,
});

/**
 * A model behind the chat completions API of OpenAI. Many providers and local servers speak it.
 * Answers are not streamed.
 *
 * @throws ModelError `bad_argument`; ArgumentError `bad_argument`
 */
export function openAiCompatible(options: OpenAiCompatibleOptions): ChatModel {
  checkArgument(OPTIONS, options, 'options');
  const { baseUrl, model, tools = 'native', extra = {} } = options;
  if (typeof model !== 'string' || model === '')
    throw badOption('model', 'pass the name of the model');
  if (tools !== 'native' && tools !== 'text') throw badOption('tools', 'pass native or text');
  const key = checkedKey(options.apiKey);
  const headers: Readonly<Record<string, string>> =
    key === undefined ? {} : { authorization: `Bearer ${key}` };
  const url = endpointOf(baseUrl, '/chat/completions', key !== undefined);
  const to = endpoint(url, headers, key, options);
  const settings = { ...extra, model, stream: false };
  return Object.freeze({
    id: `openai:${model}`,
    ask: async (request: ChatRequest, signal?: AbortSignal) => {
      const body = tools === 'text' ? textBody(request) : nativeBody(request);
      return answerIn(await postJson(to, { ...body, ...limitsOf(request), ...settings }, signal));
    },
  });
}

function nativeBody(request: ChatRequest): { readonly [member: string]: Json } {
  const { tools } = request;
  const messages = messagesOf(request, request.system);
  if (tools.length === 0) return { messages };
  return {
    messages,
    tools: tools.map(({ name, description, input }) => ({
      type: 'function',
      function: { name, description, parameters: input },
    })),
    tool_choice: 'required',
    parallel_tool_calls: false,
  };
}

function textBody(request: ChatRequest): { readonly [member: string]: Json } {
  return { messages: messagesOf(request, systemWithTools(request)) };
}

function messagesOf({ messages }: ChatRequest, system: string): Json {
  const said = messages.map(({ from, text }) => ({
    role: from === 'user' ? 'user' : 'assistant',
    content: text,
  }));
  return system === '' ? said : [{ role: 'system', content: system }, ...said];
}

function limitsOf({ temperature, maxTokens }: ChatRequest): { readonly [member: string]: Json } {
  return {
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
  };
}

const PART = z.looseObject({ type: z.string().optional(), text: z.string().optional() });
const MESSAGE = z.looseObject({
  content: z.union([z.string(), z.array(PART), z.null()]).optional(),
  refusal: z.string().nullish(),
  tool_calls: z
    .array(
      z.looseObject({
        function: z.looseObject({ name: z.string(), arguments: z.unknown().optional() }),
      }),
    )
    .nullish(),
});
const COMPLETION = z.looseObject({
  choices: z.array(z.looseObject({ message: MESSAGE, finish_reason: z.string().nullish() })).min(1),
  usage: z.unknown().optional(),
});
const USAGE = z.looseObject({ prompt_tokens: z.int().min(0), completion_tokens: z.int().min(0) });

function answerIn(json: Json): ChatAnswer {
  const { choices, usage } = inForm(COMPLETION, json, 'OpenAI chat completions');
  const [{ message, finish_reason: reason }] = choices as [(typeof choices)[0]];
  const { content, refusal, tool_calls: calls } = message;
  const counted = USAGE.safeParse(usage);
  return {
    text: textIn(content).toWellFormed(),
    calls: (calls ?? []).map(({ function: { name, arguments: args } }) =>
      callOf(name.toWellFormed(), args),
    ),
    stop: stopOf(reason, refusal),
    ...(counted.success && {
      usage: { input: counted.data.prompt_tokens, output: counted.data.completion_tokens },
    }),
  };
}

function textIn(content: z.infer<typeof MESSAGE>['content']): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map(({ text = '' }) => text).join('');
}

function stopOf(
  reason: string | null | undefined,
  refusal: string | null | undefined,
): ChatAnswer['stop'] {
  if (reason === 'length') return 'length';
  return reason === 'content_filter' || (refusal ?? '') !== '' ? 'filter' : 'end';
}

/** The system text with the tools in it, for models that support no tools. */
function systemWithTools({ system, tools }: Pick<ChatRequest, 'system' | 'tools'>): string {
  if (tools.length === 0) return system;
  return [
    system,
    'Answer with one JSON object, {"action": NAME, "args": ARGUMENTS}, and with nothing else. The actions, each with the JSON Schema of its arguments:',
    ...tools.map(toolLine),
  ].join('\n\n');
}

function toolLine({ name, description, input }: ChatTool): string {
  return `${name}: ${description}\n${JSON.stringify(input)}`;
}
