/**
 * Types of the tools of the AI SDK behind the gate. `tsc --noEmit` checks this file: a line under
 * `@ts-expect-error` that compiles is an error.
 */

import { assizeAnswers, assizeApproval, assizeTools, recordedModel } from '@assize/ai-sdk';
import type { Gate } from '@assize/gate';
import { generateText, type LanguageModel, streamText, ToolLoopAgent, tool, wrapLanguageModel } from 'ai';
import type { Oracle } from 'assize';
import { z } from 'zod';

declare const gate: Gate;
declare const oracle: Oracle;
declare const model: Exclude<LanguageModel, string>;

const pay = tool({
  inputSchema: z.object({ to: z.string() }),
  execute: async ({ to }) => ({ paid: to }),
});
const { pay: gated } = assizeTools(gate, { pay }, { run: 'r1' });
export const same: typeof pay = gated;
export const tools = assizeTools(gate, { pay }, { run: ({ context }) => String(context), approver: () => undefined });

const made = await generateText({ model, tools, toolApproval: assizeApproval, prompt: 'p' });
export const input: string | undefined = made.staticToolCalls[0]?.input.to;
export const output: string | undefined = made.staticToolResults[0]?.output.paid;
// @ts-expect-error the output has another member
export const wrong: unknown = made.staticToolResults[0]?.output.amount;

streamText({ model, tools, toolApproval: assizeApproval, prompt: 'p' });
export const agent: object = new ToolLoopAgent({ model, tools, toolApproval: assizeApproval });
export const answered: Promise<{ messages: unknown[] }> = assizeAnswers(tools, made.responseMessages);
export const recorded: object = wrapLanguageModel({ model, middleware: recordedModel(oracle, { run: 'r1' }) });

// @ts-expect-error a run has a name
assizeTools(gate, { pay }, {});
// @ts-expect-error a tool is an object
assizeTools(gate, { pay: 5 }, { run: 'r1' });
