// An agent of Mastra pays bills. The rules let small payments through; a large one suspends the run
// until a manager approves it. Each payment is made once, also if the same state is resumed twice.
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openGate } from '@assize/gate';
import { type AssizeSuspension, answerTo, gatedTools } from '@assize/mastra';
import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { MastraLanguageModelV2Mock } from '@mastra/core/test-utils/llm-mock';
import { createTool } from '@mastra/core/tools';
import { LibSQLStore } from '@mastra/libsql';
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

const pay = createTool({
  id: 'pay',
  description: 'Pays a bill.',
  inputSchema: z.object({ to: z.string(), euros: z.number() }),
  outputSchema: z.object({ paid: z.number() }),
  execute: async ({ to, euros }) => {
    console.log(`the bank pays ${euros} to ${to}`);
    return { paid: euros };
  },
});
// The program has authenticated the person of an answer: here, always the same one.
const tools = gatedTools(gate, { pay }, { approver: () => 'manager:grace' });

// A model without a key asks for two payments, and is done when it has their results.
const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const asked = (toolCallId: string, input: object) =>
  ({ type: 'tool-call', toolName: 'pay', toolCallId, input: JSON.stringify(input) }) as const;
const calls = [
  asked('call-1', { to: 'bob', euros: 40 }),
  asked('call-2', { to: 'eve', euros: 900 }),
];
const model = new MastraLanguageModelV2Mock({
  doGenerate: async ({ prompt }) =>
    prompt.at(-1)?.role === 'tool'
      ? { content: [{ type: 'text', text: 'done' }], finishReason: 'stop', usage, warnings: [] }
      : { content: calls, finishReason: 'tool-calls', usage, warnings: [] },
});

/** The agent of a process that keeps its state in a file. */
function agentOver(file: string) {
  const payer = new Agent({
    id: 'payer',
    name: 'Payer',
    instructions: 'Pay bills.',
    model: model as never,
    tools,
  });
  const storage = new LibSQLStore({ id: 'state', url: `file:${join(folder, file)}` });
  return new Mastra({ agents: { payer }, storage, logger: false }).getAgent('payer');
}

const runId = 'bills-of-may';
await agentOver('state.db').generate('Pay the bills.', { runId });
const { runs } = await agentOver('state.db').listSuspendedRuns();
const pause = runs[0]?.toolCalls[0]?.suspendPayload as AssizeSuspension;
console.log('waits:', pause.args, pause.assize.reason);
for (const end of ['', '-wal'])
  cpSync(join(folder, `state.db${end}`), join(folder, `copy.db${end}`));

// The second process has the state from before the payment: it gets the recorded result.
for (const file of ['state.db', 'copy.db']) {
  const { toolResults } = await agentOver(file).resumeGenerate(
    answerTo(pause, { decision: 'approve' }),
    { runId },
  );
  console.log(
    `resumed ${file}:`,
    toolResults.map(({ payload }) => payload.result),
  );
}
await gate.close();
rmSync(folder, { recursive: true });
