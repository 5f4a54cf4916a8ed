/**
 * Models: adapters to language models, and agents that a model decides for.
 *
 * Guarantees: every question goes through the oracle log, so a replay asks no model. An answer is
 * data: a call of an unknown action, several calls or broken arguments make no proposal. A failure
 * has a stable code. An API key is in no record, error or URL.
 *
 * Never: streams, follows a redirection, reads an environment variable, or proposes anything
 * itself.
 */
export { type AiSdkLanguageModel, type AiSdkOptions, type AiSdkResult, aiSdk } from './ai-sdk.ts';
export { type AnthropicOptions, anthropic } from './anthropic.ts';
export type {
  ChatAnswer,
  ChatCall,
  ChatMessage,
  ChatModel,
  ChatRequest,
  ChatTool,
} from './chat-model.ts';
export { ModelError, type ModelErrorCode } from './errors.ts';
export { type ExtractionModelOptions, extractionModel } from './extraction-model.ts';
export { type ModelAgentOptions, modelAgent } from './model-agent.ts';
export { type OpenAiCompatibleOptions, openAiCompatible } from './open-ai.ts';
export type { TransportOptions } from './post-json.ts';
export type { RetryOptions } from './retries.ts';
export { type TurnView, turnPrompt } from './turn-prompt.ts';
