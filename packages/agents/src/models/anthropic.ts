import { arg, checkArgument, type Json } from 'assize/internal/base';
import { z } from 'zod';
import { callOf } from './answer-text.ts';
import type { ChatAnswer, ChatModel, ChatRequest } from './chat-model.ts';
import { checkedKey, endpointOf } from './endpoint.ts';
import { badOption } from './errors.ts';
import { endpoint, postJson, type TransportOptions } from './post-json.ts';
import { inForm } from './protocol-form.ts';

export interface AnthropicOptions extends TransportOptions {
  readonly model: string;
  readonly apiKey: string;
  /** Default: `https://api.anthropic.com`. */
  readonly baseUrl?: string;
}

const OPTIONS = arg.options<AnthropicOptions>({
  model: arg.any,
  apiKey: arg.any,
  baseUrl: arg.any,
  timeoutMs: arg.any,
  bytesMax: arg.any,
  retries: arg.any,
  retryWaitMaxMs: arg.any,
  pause: arg.any,
});

const BASE_URL = 'https://api.anthropic.com';
const VERSION = '2023-06-01';
/** The protocol requires a limit. */
const TOKENS_MAX = 4_096;

/**
 * A model behind the Messages API of Anthropic. Answers are not streamed.
 *
 * @throws ModelError `bad_argument`; ArgumentError `bad_argument`
 */
export function anthropic(options: AnthropicOptions): ChatModel {
  checkArgument(OPTIONS, options, 'options');
  const { model, baseUrl = BASE_URL } = options;
  if (typeof model !== 'string' || model === '')
    throw badOption('model', 'pass the name of the model');
  const key = checkedKey(options.apiKey);
  if (key === undefined) throw badOption('apiKey', 'pass the key of the API');
  const url = endpointOf(baseUrl, '/v1/messages', true);
  const to = endpoint(url, { 'x-api-key': key, 'anthropic-version': VERSION }, key, options);
  return Object.freeze({
    id: `anthropic:${model}`,
    ask: async (request: ChatRequest, signal?: AbortSignal) =>
      answerIn(await postJson(to, { model, ...bodyOf(request) }, signal)),
  });
}

function bodyOf({ system, messages, tools, temperature, maxTokens = TOKENS_MAX }: ChatRequest): {
  readonly [member: string]: Json;
} {
  return {
    max_tokens: maxTokens,
    messages: messages.map(({ from, text }) => ({
      role: from === 'user' ? 'user' : 'assistant',
      content: text,
    })),
    ...(system !== '' && { system }),
    ...(temperature !== undefined && { temperature }),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, input }) => ({
        name,
        description,
        input_schema: input,
      })),
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
    }),
  };
}

const BLOCK = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  name: z.string().optional(),
  input: z.unknown().optional(),
});
const MESSAGE = z.looseObject({
  type: z.literal('message'),
  content: z.array(BLOCK),
  stop_reason: z.string().nullish(),
  usage: z.unknown().optional(),
});
const USAGE = z.looseObject({ input_tokens: z.int().min(0), output_tokens: z.int().min(0) });

function answerIn(json: Json): ChatAnswer {
  const { content, stop_reason: reason, usage } = inForm(MESSAGE, json, 'Anthropic messages');
  const counted = USAGE.safeParse(usage);
  const texts = content.filter(({ type }) => type === 'text').map(({ text = '' }) => text);
  return {
    text: texts.join('').toWellFormed(),
    calls: content
      .filter(({ type }) => type === 'tool_use')
      .map(({ name = '', input }) => callOf(name.toWellFormed(), input)),
    stop: STOPS[reason ?? ''] ?? 'end',
    ...(counted.success && {
      usage: { input: counted.data.input_tokens, output: counted.data.output_tokens },
    }),
  };
}

const STOPS: Readonly<Record<string, ChatAnswer['stop'] | undefined>> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'filter',
};
