import { tool } from 'ai';
import { z } from 'zod';
import { connectGate } from '#calls';
import * as ai from '#integrations/ai';
import type { Case, Exempt } from './case.ts';
import { MADE, PORT, takes } from './table.ts';

const gate = () => connectGate({ url: 'http://127.0.0.1:9', token: 't', server: 'shop' });
const tools = () => ({ pay: tool({ inputSchema: z.object({}), execute: () => 'paid' }) });
const options = () => ({
  run: 'r1',
  approver: () => 'manager:grace',
  idempotent: ['look'],
  streaming: ['look'],
  waitMs: 10,
});
const oracle = () => ({ ask: () => null, consult: () => null });
const asked = () => ({
  toolCall: { toolName: 'look', toolCallId: 'c1', input: {} },
  tools: {},
  toolsContext: {},
  messages: [{ role: 'user', content: 'go' }],
});

export const AI_SDK: Readonly<Record<string, Case | Exempt>> = {
  assizeTools: takes(ai.assizeTools as never, () => [gate(), tools(), options()], {
    0: MADE,
    1: PORT,
  }),
  'undoTools of the AI SDK': takes(ai.undoTools as never, () => [tools()], { 0: PORT }),
  assizeApproval: takes(ai.assizeApproval as never, () => [asked()]),
  assizeAnswers: takes(
    ai.assizeAnswers as never,
    () => [{}, [{ role: 'user', content: 'go' }], {}],
    { 0: PORT },
  ),
  recordedModel: takes(
    ai.recordedModel as never,
    () => [oracle(), { run: 'r1', trajectory: 't', agent: 'a' }],
    {
      0: PORT,
    },
  ),
};
