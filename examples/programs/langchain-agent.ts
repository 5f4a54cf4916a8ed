// An agent of LangChain pays bills. The rules let small payments through; a large one pauses the
// graph until a manager approves it. Each payment is made once, also in a fork of the thread.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openGate } from '@assize/gate';
import { answerTo, assizeMiddleware, type Paused } from '@assize/langchain';
import { AIMessage } from '@langchain/core/messages';
import { fakeModel } from '@langchain/core/testing';
import { Command, MemorySaver } from '@langchain/langgraph';
import { createAgent, tool } from 'langchain';
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

const pay = tool(
  async ({ to, euros }) => {
    console.log(`the bank pays ${euros} to ${to}`);
    return `paid ${euros} to ${to}`;
  },
  {
    name: 'pay',
    description: 'Pays a bill.',
    schema: z.object({ to: z.string(), euros: z.number() }),
  },
);

// A model without a key asks for two payments, and is done when it has their results.
const model = fakeModel();
for (let turn = 0; turn < 3; turn++)
  model.respond((messages) =>
    messages.at(-1)?.type === 'tool'
      ? new AIMessage('done')
      : new AIMessage({
          content: '',
          tool_calls: [
            { name: 'pay', args: { to: 'bob', euros: 40 }, id: 'call-1' },
            { name: 'pay', args: { to: 'eve', euros: 900 }, id: 'call-2' },
          ],
        }),
  );

const agent = createAgent({
  model,
  tools: [pay],
  // The program has authenticated the person of an answer: here, always the same one.
  middleware: [assizeMiddleware(gate, { approver: () => 'manager:grace' })],
  checkpointer: new MemorySaver(),
});
const config = { configurable: { thread_id: 'bills-of-may' } };

const first = await agent.invoke({ messages: 'Pay the bills.' }, config);
const [pause] = first.__interrupt__ as unknown as Paused[];
if (pause === undefined || !('assize' in pause.value)) throw new Error('The graph does not pause.');
console.log('waits:', pause.value.actionRequests[0]?.args, pause.value.assize.reason);

const told = ({ messages }: Pick<typeof first, 'messages'>) =>
  messages.flatMap(({ type, text }) => (type === 'tool' ? [text] : []));
const resumed = await agent.invoke(
  new Command({ resume: answerTo(pause, { type: 'approve' }) }),
  config,
);
console.log('resumed:', told(resumed));
// A fork from before the payments: both calls get their recorded results.
for await (const { config: earlier, next } of agent.graph.getStateHistory(config)) {
  if (!next.includes('tools')) continue;
  const forked = await agent.invoke(null, earlier as typeof config);
  console.log('forked:', told(forked));
  break;
}
await gate.close();
rmSync(folder, { recursive: true });
