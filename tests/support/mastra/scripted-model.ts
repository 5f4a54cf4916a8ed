import type { MastraPackages } from './packages.ts';

export interface ModelCall {
  readonly id: string;
  readonly tool: string;
  readonly args: object;
}

type Prompt = readonly { readonly role: string }[];

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

/** A model that asks for the calls, and says goodbye when it has their results. */
export function scriptedModel(
  { MockModel }: MastraPackages,
  calls: readonly ModelCall[],
  lastWords = 'bye',
): object {
  const answer = (prompt: Prompt): { content: object[]; finishReason: string } =>
    prompt.at(-1)?.role === 'tool'
      ? { content: [{ type: 'text', text: lastWords }], finishReason: 'stop' }
      : { content: calls.map(toolCall), finishReason: 'tool-calls' };
  return new MockModel({
    doGenerate: async ({ prompt }: { prompt: Prompt }) => ({
      ...answer(prompt),
      usage,
      warnings: [],
    }),
    doStream: async ({ prompt }: { prompt: Prompt }) => {
      const { content, finishReason } = answer(prompt);
      const parts = content.flatMap(streamed);
      const chunks = [
        { type: 'stream-start', warnings: [] },
        ...parts,
        { type: 'finish', finishReason, usage },
      ];
      return { stream: ReadableStream.from(chunks) };
    },
  });
}

function toolCall({ id, tool, args }: ModelCall): object {
  return { type: 'tool-call', toolCallId: id, toolName: tool, input: JSON.stringify(args) };
}

function streamed(part: { type?: string; text?: string }): object[] {
  if (part.type !== 'text') return [part];
  const id = 'text';
  return [
    { type: 'text-start', id },
    { type: 'text-delta', id, delta: part.text },
    { type: 'text-end', id },
  ];
}
