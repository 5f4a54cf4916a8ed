/**
 * `@assize/agents/models`: adapters to language models, and agents that a model decides for.
 *
 * Guarantees: every question of an agent goes through the oracle log, so a replay asks no model. An
 * answer is data, and no answer acts without a ruling. An API key is in no record, error or URL.
 */
export {
  type AiSdkLanguageModel,
  type AiSdkOptions,
  type AiSdkResult,
  type AnthropicOptions,
  aiSdk,
  anthropic,
  type ChatAnswer,
  type ChatCall,
  type ChatMessage,
  type ChatModel,
  type ChatRequest,
  type ChatTool,
  type ExtractionModelOptions,
  extractionModel,
  type ModelAgentOptions,
  ModelError,
  type ModelErrorCode,
  modelAgent,
  type OpenAiCompatibleOptions,
  openAiCompatible,
  type RetryOptions,
  type TransportOptions,
  type TurnView,
  turnPrompt,
} from '#models';
