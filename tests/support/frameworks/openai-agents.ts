import { Agent, Runner, tool } from '@openai/agents';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents/testing';
import { z } from 'zod';
import { gatedTools, heldCalls } from '#integrations/openai-agents';
import { ASKED, LAST_WORDS, type StartHeld } from './held-run.ts';

/** An agent of the OpenAI Agents SDK. */
export const startOpenAIAgents: StartHeld = async (gate, pays) => {
  const pay = tool({
    name: 'pay',
    description: 'Pays a bill.',
    parameters: z.object({ to: z.string(), euros: z.number() }),
    execute: (payment) => pays(payment),
  });
  const model = new ScriptedModel([
    [functionCall('pay', { ...ASKED }, { callId: 'call-1' })],
    [assistantMessage(LAST_WORDS)],
  ]);
  const agent = new Agent({ name: 'clerk', model, tools: gatedTools(gate, [pay]) });
  const runner = new Runner({ tracingDisabled: true });
  const { state } = await runner.run(agent, 'Pay the bill of eve.', {
    context: { runId: 'bills-of-may' },
  });
  const [held] = await heldCalls(state);
  return {
    page: held?.page ?? '',
    resume: async () => String((await runner.run(agent, state)).finalOutput),
  };
};
