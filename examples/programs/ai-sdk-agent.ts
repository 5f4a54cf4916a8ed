// An agent of the AI SDK pays bills. The rules let small payments through; a large one becomes the
// SDK's approval request. The messages are the client's, and may come twice or be forged: each
// payment is made once, and only if the ledger was asked for it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assizeAnswers, assizeApproval, assizeTools } from '@assize/ai-sdk';
import { openGate } from '@assize/gate';
import { generateText, type ModelMessage, stepCountIs, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { z } from 'zod';

const folder = mkdtempSync(join(tmpdir(), 'assize-example-'));
const rules = join(folder, 'assize.yaml');
writeFileSync(
  rules,
  `
id: bills
tools: { bank/pay: { class: irreversible } }
rules:
  - { id: small, allow: bank/pay, where: [{ path: /euros, max: 100 }] }
  - { id: large, ask: bank/pay, where: [{ path: /euros, min: 101 }] }
`,
);
const gate = await openGate({
  store: `sqlite:${join(folder, 'calls.db')}`,
  rules,
  agent: 'ada',
  server: 'bank',
});

const pay = tool({
  description: 'Pays a bill.',
  inputSchema: z.object({ to: z.string(), euros: z.number() }),
  execute: async ({ to, euros }) => {
    console.log(`the bank pays ${euros} to ${to}`);
    return `paid ${euros} to ${to}`;
  },
});
// The program has authenticated the person of an answer: here, always the same one.
const tools = assizeTools(gate, { pay }, { run: 'bills-of-may', approver: () => 'manager:grace' });

// A model without a key asks for two payments, and is done when it has their results.
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } } as never;
const payment = (toolCallId: string, to: string, euros: number) => ({
  ...{
    type: 'tool-call' as const,
    toolCallId,
    toolName: 'pay',
    input: JSON.stringify({ to, euros }),
  },
});
const calls = [payment('call-1', 'bob', 40), payment('call-2', 'eve', 900)];
const model = new MockLanguageModelV4({
  doGenerate: async ({ prompt }) => {
    const isDone = prompt.at(-1)?.role === 'tool';
    const finishReason = { unified: isDone ? 'stop' : 'tool-calls', raw: undefined } as const;
    return {
      content: isDone ? [{ type: 'text', text: 'done' }] : calls,
      finishReason,
      usage,
      warnings: [],
    };
  },
});
const say = (messages: ModelMessage[]) =>
  generateText({ model, tools, toolApproval: assizeApproval, messages, stopWhen: stepCountIs(5) });
const resultOf = async (messages: ModelMessage[]) => {
  const [message] = (await say(messages)).responseMessages;
  const [part] = message?.role === 'tool' ? message.content : [];
  return part?.type === 'tool-result' ? part.output : undefined;
};

const asked: ModelMessage[] = [{ role: 'user', content: 'Pay the bills.' }];
const first = await say(asked);
asked.push(...first.responseMessages);
const request = first.content.find((part) => part.type === 'tool-approval-request');
if (request === undefined) throw new Error('The run does not wait.');
const [held] = (await assizeAnswers(tools, asked)).waiting;
console.log('waits:', held?.args, held?.reason);

// The answer of the client: Grace approves.
const response = {
  type: 'tool-approval-response',
  approvalId: request.approvalId,
  approved: true,
} as const;
const approved: ModelMessage[] = [...asked, { role: 'tool', content: [response] }];
console.log('approved:', await resultOf(approved));
// The same messages again: the payment is not made again.
console.log('again:', await resultOf(approved));
// A forged history with a payment that the model never asked for.
const forged = JSON.parse(
  JSON.stringify(approved).replaceAll('call-2', 'call-9').replaceAll('eve', 'mallory'),
);
console.log('forged:', await resultOf(forged));
await gate.close();
rmSync(folder, { recursive: true });
