import { arg, checkArgument, isInstance, type Json, unlessAborted } from 'assize/internal/base';
import { callOf } from './answer-text.ts';
import type { ChatAnswer, ChatModel, ChatRequest } from './chat-model.ts';
import { badOption, ModelError } from './errors.ts';
import { statusError } from './http-status.ts';
import { type RetryOptions, retriesOf, retryAfterMs, withRetries } from './retries.ts';

/**
 * A language model of the AI SDK, of the specification `v2`, `v3` or `v4`. Only these members are
 * used.
 */
export interface AiSdkLanguageModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  doGenerate(options: any): PromiseLike<AiSdkResult>;
}

/** The part of a result that is read. */
export interface AiSdkResult {
  readonly content: readonly { readonly type: string }[];
  readonly finishReason: unknown;
  readonly usage?: unknown;
}

export interface AiSdkOptions extends RetryOptions {
  /** Time limit of one call. Default: 120,000. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 120_000;
const VERSIONS: ReadonlySet<unknown> = new Set(['v2', 'v3', 'v4']);
const MODEL = arg.members({ provider: arg.text, modelId: arg.text, doGenerate: arg.code });
const OPTIONS = arg.options<AiSdkOptions>({
  timeoutMs: arg.any,
  retries: arg.any,
  retryWaitMaxMs: arg.any,
  pause: arg.any,
});

/**
 * A model of any provider of the AI SDK. The package does not import the AI SDK: the caller passes
 * the model.
 *
 * @throws ModelError `bad_argument` for another specification; ArgumentError `bad_argument`
 */
export function aiSdk(model: AiSdkLanguageModel, options: AiSdkOptions = {}): ChatModel {
  checkArgument(MODEL, model, 'model');
  checkArgument(OPTIONS, options, 'options');
  const { specificationVersion, provider, modelId } = model;
  if (!VERSIONS.has(specificationVersion))
    throw badOption(
      'model',
      'its specification is not v2, v3 or v4; use a model of the AI SDK 5 or later',
    );
  const { timeoutMs = TIMEOUT_MS } = options;
  if (!Number.isSafeInteger(timeoutMs) || timeoutMs < 1 || timeoutMs >= 2 ** 31)
    throw badOption('timeoutMs', 'pass a whole number of milliseconds from 1');
  const retries = retriesOf(options);
  return Object.freeze({
    id: `${provider}:${modelId}`,
    ask: (request: ChatRequest, signal?: AbortSignal) =>
      withRetries(retries, signal, async () =>
        answerIn(await generated(model, request, timeoutMs, signal)),
      ),
  });
}

async function generated(
  model: AiSdkLanguageModel,
  request: ChatRequest,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<AiSdkResult> {
  const limit = AbortSignal.timeout(timeoutMs);
  const abortSignal = signal === undefined ? limit : AbortSignal.any([signal, limit]);
  try {
    // A provider may ignore the signal.
    return await unlessAborted(
      model.doGenerate({ ...callOptions(request), abortSignal }),
      abortSignal,
    );
  } catch (cause) {
    signal?.throwIfAborted();
    if (limit.aborted)
      throw new ModelError(
        'model_timeout',
        `${model.provider} did not answer within ${timeoutMs} ms. Run again, or raise timeoutMs.`,
        { evidence: { timeoutMs }, retryable: true },
      );
    throw isInstance(cause, ModelError) ? cause : errorOf(model, cause);
  }
}

function callOptions({ system, messages, tools, temperature, maxTokens }: ChatRequest): object {
  const said = messages.map(({ from, text }) => ({
    role: from === 'user' ? 'user' : 'assistant',
    content: [{ type: 'text', text }],
  }));
  return {
    prompt: system === '' ? said : [{ role: 'system', content: system }, ...said],
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, input }) => ({
        type: 'function',
        name,
        description,
        inputSchema: input,
      })),
      toolChoice: { type: 'required' },
    }),
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
  };
}

/** Reads an `APICallError` that a provider throws. Its message may quote a secret. */
function errorOf({ provider }: AiSdkLanguageModel, cause: unknown): ModelError {
  const { statusCode, responseHeaders } = (cause ?? {}) as {
    readonly statusCode?: unknown;
    readonly responseHeaders?: Readonly<Record<string, string>>;
  };
  if (typeof statusCode === 'number' && statusCode >= 300) {
    return statusError(statusCode, '', retryAfterMs(responseHeaders ?? {}));
  }
  if (typeof statusCode === 'number')
    return new ModelError(
      'bad_answer',
      `The provider ${provider} could not read the answer. Check the provider.`,
      {
        cause,
      },
    );
  return new ModelError(
    'unreachable',
    `The provider ${provider} failed before an answer. Check its settings.`,
    {
      cause,
      retryable: true,
    },
  );
}

function answerIn(result: AiSdkResult): ChatAnswer {
  const { content, finishReason, usage } = result ?? {};
  if (!Array.isArray(content))
    throw new ModelError(
      'bad_answer',
      'The result of the model has no list content. Check the provider.',
      {
        evidence: { pointer: '/content' },
      },
    );
  const reason = reasonOf(finishReason);
  if (reason === 'interrupted')
    throw new ModelError('unreachable', 'The answer of the provider ended too early. Run again.', {
      retryable: true,
    });
  if (reason === 'error')
    throw new ModelError('provider_failed', 'The provider failed in its answer. Run again later.', {
      retryable: true,
    });
  const parts = content as readonly { readonly [member: string]: unknown }[];
  const calls = parts.filter(
    ({ type, providerExecuted }) => type === 'tool-call' && providerExecuted !== true,
  );
  const texts = parts.filter(({ type }) => type === 'text').map(({ text }) => String(text ?? ''));
  const counted = usageIn(usage);
  return {
    text: texts.join('').toWellFormed(),
    calls: calls.map(({ toolName, input }) => callOf(String(toolName).toWellFormed(), input)),
    stop: STOPS[reason] ?? 'end',
    ...(counted !== undefined && { usage: counted }),
  };
}

/** A text in `v2`, an object since `v3`. */
function reasonOf(reason: unknown): string {
  if (typeof reason === 'string') return reason;
  return String(((reason ?? {}) as { readonly unified?: unknown }).unified);
}

const STOPS: Readonly<Record<string, ChatAnswer['stop'] | undefined>> = {
  length: 'length',
  'content-filter': 'filter',
};

function usageIn(usage: unknown): ChatAnswer['usage'] {
  const { inputTokens, outputTokens } = (usage ?? {}) as { readonly [member: string]: Json };
  const [input, output] = [inputTokens, outputTokens].map((count) =>
    typeof count === 'object' && count !== null && 'total' in count ? count.total : count,
  );
  if (!Number.isSafeInteger(input) || !Number.isSafeInteger(output)) return undefined;
  return { input: input as number, output: output as number };
}
