// An agent of the OpenAI Agents SDK pays bills. The rules let small payments through; a large one
// interrupts the run until a manager approves it. The client of the run carries a token.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openGate } from '@assize/gate';
import { gatedTools, heldCalls, runStateVault } from '@assize/openai-agents';
import { Agent, RunContext, Runner, RunState, tool } from '@openai/agents';
import {
  assistantMessage,
  functionCall,
  modelResponder,
  ScriptedModel,
} from '@openai/agents/testing';
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
const vault = runStateVault({ folder: join(folder, 'runs') });

const pay = tool({
  name: 'pay',
  description: 'Pays a bill.',
  parameters: z.object({ to: z.string(), euros: z.number() }),
  execute: async ({ to, euros }) => {
    console.log(`the bank pays ${euros} to ${to}`);
    return `paid ${euros} to ${to}`;
  },
});

// A model without a key asks for two payments, and is done when it has their results.
const model = new ScriptedModel([
  [
    functionCall('pay', { to: 'bob', euros: 40 }, { callId: 'call-1' }),
    functionCall('pay', { to: 'eve', euros: 900 }, { callId: 'call-2' }),
  ],
  ...Array.from({ length: 2 }, () =>
    modelResponder(() => [assistantMessage('The bills are paid.')]),
  ),
]);
// The program has authenticated the person of an answer, and puts the person into the context.
const tools = gatedTools(gate, [pay], { approver: (_answer, _held, { context }) => context.user });
const agent = new Agent({ name: 'clerk', model, tools });
const runner = new Runner({ tracingDisabled: true });

const first = await runner.run(agent, 'Pay the bills.', { context: { runId: 'bills-of-may' } });
for (const { args, reason } of await heldCalls(first.state)) console.log('waits:', args, reason);
const kept = first.state.toString();
const token = await vault.put(first.state);

// Another request, by a manager who has signed in.
const context = new RunContext({ runId: 'bills-of-may', user: 'manager:grace' });
const state = await vault.take<{ runId: string }, typeof agent>(agent, token, { context });
for (const item of state.getInterruptions()) state.approve(item);
const resumed = await runner.run(agent, state);
console.log('resumed:', resumed.finalOutput);

await vault.take(agent, token).catch(({ code }) => console.log('the token again:', code));
// A copy of the state that never was in the vault: the call gets its recorded result.
const copied = await runner.run(agent, await RunState.fromString(agent, kept));
console.log('copied:', copied.finalOutput);
await gate.close();
rmSync(folder, { recursive: true });
