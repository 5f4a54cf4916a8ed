import { arg, checkArgument } from 'assize/internal/base';
import type { Model } from '#agents';
import type { ChatModel } from './chat-model.ts';
import { ModelError } from './errors.ts';

/** Settings of each question. */
export interface ExtractionModelOptions {
  readonly temperature?: number;
  readonly maxTokens?: number;
  /** Ends a question in progress with the reason of the signal. */
  readonly signal?: AbortSignal;
}

const MODEL = arg.members({ id: arg.text, ask: arg.code });
const OPTIONS = arg.options<ExtractionModelOptions>({
  temperature: arg.optional(arg.number),
  maxTokens: arg.optional(arg.wholeFrom(1)),
  signal: arg.optional(arg.object),
});

/**
 * A model for `extractFacts` and `assertMessages`. They read the answer whatever is around its
 * object. Also pass `theta: { model_version: model.id }`.
 *
 * @throws ArgumentError `bad_argument`. The function: ModelError, also `token_limit` and
 * `content_filtered`
 */
export function extractionModel(model: ChatModel, options: ExtractionModelOptions = {}): Model {
  checkArgument(MODEL, model, 'model');
  checkArgument(OPTIONS, options, 'options');
  const { signal, ...settings } = options;
  return async (prompt) => {
    const messages = [{ from: 'user' as const, text: prompt }];
    const { text, stop } = await model.ask(
      { system: '', messages, tools: [], ...settings },
      signal,
    );
    if (stop === 'length')
      throw new ModelError(
        'token_limit',
        `The model ${model.id} stopped at its token limit. Pass fewer messages.`,
      );
    if (stop === 'filter')
      throw new ModelError(
        'content_filtered',
        `The model ${model.id} declined to answer. Pass other messages.`,
      );
    return text;
  };
}
