import { generateText, type ModelMessage, stepCountIs, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { z } from 'zod';
import { assizeAnswers, assizeApproval, assizeTools } from '#integrations/ai';
import { ASKED, LAST_WORDS, type StartHeld } from './held-run.ts';

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } } as never;

/** An agent of the AI SDK. */
export const startAiSdk: StartHeld = async (gate, pays) => {
  const pay = tool({
    description: 'Pays a bill.',
    inputSchema: z.object({ to: z.string(), euros: z.number() }),
    execute: (payment) => pays(payment),
  });
  const tools = assizeTools(gate, { pay }, { run: 'bills-of-may' });
  const call = {
    type: 'tool-call',
    toolCallId: 'call-1',
    toolName: 'pay',
    input: JSON.stringify(ASKED),
  } as const;
  const model = new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      const isPaid = prompt.at(-1)?.role === 'tool';
      const content = isPaid ? [{ type: 'text' as const, text: LAST_WORDS }] : [call];
      const finishReason = {
        unified: isPaid ? ('stop' as const) : ('tool-calls' as const),
        raw: undefined,
      };
      return { content, finishReason, usage, warnings: [] };
    },
  });
  const say = (messages: ModelMessage[]) =>
    generateText({
      model,
      tools,
      toolApproval: assizeApproval,
      messages,
      stopWhen: stepCountIs(5),
    });
  const asked: ModelMessage[] = [{ role: 'user', content: 'Pay the bill of eve.' }];
  asked.push(...(await say(asked)).responseMessages);
  const { waiting } = await assizeAnswers(tools, asked);
  return {
    page: waiting[0]?.page ?? '',
    resume: async () => (await say((await assizeAnswers(tools, asked)).messages)).text,
  };
};
