import type { Json } from 'assize/internal/base';

/** A language model behind one question, as plain data. The oracle log records its answers. */
export interface ChatModel {
  /** Provider and model, such as `openai:gpt-5`. A part of each recorded question. */
  readonly id: string;
  /**
   * Asks once. Retries of the transport are the model's own. Rejects with the reason of the signal
   * after an abort.
   *
   * @throws ModelError
   */
  ask(request: ChatRequest, signal?: AbortSignal): Promise<ChatAnswer>;
}

/** A question to a model: JSON. */
export interface ChatRequest {
  readonly system: string;
  readonly messages: readonly ChatMessage[];
  /** The model must call one of them. */
  readonly tools: readonly ChatTool[];
  readonly temperature?: number;
  readonly maxTokens?: number;
}

export interface ChatMessage {
  readonly from: 'user' | 'model';
  readonly text: string;
}

export interface ChatTool {
  /** 1 to 64 letters, digits, `_` and `-`. */
  readonly name: string;
  readonly description: string;
  /** A JSON Schema of an object. */
  readonly input: Json;
}

/** The answer of a model: JSON, without the model's reasoning. */
export interface ChatAnswer {
  readonly text: string;
  readonly calls: readonly ChatCall[];
  /** `length`: the token limit cut the answer. `filter`: the model or the provider declined. */
  readonly stop: 'end' | 'length' | 'filter';
  /** Tokens, if the provider counted them. */
  readonly usage?: { readonly input: number; readonly output: number };
}

/** A tool call. It has `unreadable` instead of `input` if its arguments are not JSON. */
export interface ChatCall {
  readonly name: string;
  readonly input?: Json;
  readonly unreadable?: string;
}
