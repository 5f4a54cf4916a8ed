import * as models from '#models';
import { newsroom } from '../../support/ledger/newsroom.ts';
import { writFor } from '../../support/ledger/runtime.ts';
import type { Case, Exempt } from './case.ts';
import { PORT, takes } from './table.ts';

const transport = () => ({
  timeoutMs: 1_000,
  bytesMax: 1_000,
  retries: 1,
  retryWaitMaxMs: 1_000,
  pause: async () => undefined,
});
const chat = () => ({ id: 'x', ask: async () => ({ text: '', calls: [], stop: 'end' }) });
const sdk = () => ({
  specificationVersion: 'v4',
  provider: 'p',
  modelId: 'm',
  doGenerate: async () => ({}),
});

const view = () => ({
  role: { name: 'writer', params: {} },
  state: { drafts: {} },
  ruling: { ruling: 'rejected', action: 'write', args: {}, reason: 'type_mismatch', findings: [] },
  calls: [],
});

export const MODELS: Readonly<Record<string, Case | Exempt>> = {
  openAiCompatible: takes(models.openAiCompatible as never, () => [
    {
      baseUrl: 'https://h.example/v1',
      model: 'm',
      apiKey: 'sk',
      tools: 'native',
      extra: { seed: 1 },
      ...transport(),
    },
  ]),
  anthropic: takes(models.anthropic as never, () => [
    { baseUrl: 'https://h.example', model: 'm', apiKey: 'sk', ...transport() },
  ]),
  aiSdk: takes(
    models.aiSdk as never,
    () => [
      sdk(),
      { timeoutMs: 1_000, retries: 1, retryWaitMaxMs: 1_000, pause: async () => undefined },
    ],
    { 0: PORT },
  ),
  modelAgent: takes(
    models.modelAgent as never,
    () => [
      {
        name: 'ada',
        role: { name: 'writer', params: {} },
        writ: writFor('ada'),
        domain: newsroom,
        instructions: 'Write.',
        model: chat(),
        attempts: 2,
        temperature: 0,
        maxTokens: 10,
        prompt: () => 'Decide.',
        signal: new AbortController().signal,
      },
    ],
    { '0.model': PORT, '0.domain': 'made by defineDomain; that refused what was wrong with it' },
  ),
  extractionModel: takes(
    models.extractionModel as never,
    () => [chat(), { temperature: 0, maxTokens: 10, signal: new AbortController().signal }],
    { 0: PORT },
  ),
  turnPrompt: takes(models.turnPrompt as never, () => [view()]),
};
