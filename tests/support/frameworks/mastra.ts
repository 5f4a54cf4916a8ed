import { z } from 'zod';
import { type AssizeSuspension, gatedTools } from '#integrations/mastra';
import { type MastraAgent, mastraPackages } from '../mastra/packages.ts';
import { scriptedModel } from '../mastra/scripted-model.ts';
import { ASKED, LAST_WORDS, type Payment, type StartHeld } from './held-run.ts';

/** An agent of Mastra. Mastra is installed apart from the rest. */
export const startMastra: StartHeld = async (gate, pays) => {
  const packages = mastraPackages();
  const pay = packages.createTool({
    id: 'pay',
    description: 'Pays a bill.',
    inputSchema: z.object({ to: z.string(), euros: z.number() }),
    execute: async (payment: Payment) => ({ said: await pays(payment) }),
  });
  const model = scriptedModel(packages, [{ id: 'call-1', tool: 'pay', args: ASKED }], LAST_WORDS);
  const tools = gatedTools(gate, { pay } as never);
  const payer = new packages.Agent({
    id: 'payer',
    name: 'Payer',
    instructions: 'Pay.',
    model,
    tools,
  });
  const storage = new packages.LibSQLStore({ id: 'state', url: ':memory:' });
  const agent: MastraAgent = new packages.Mastra({
    agents: { payer },
    storage,
    logger: false,
  }).getAgent('payer');
  const { runId } = await agent.generate('Pay the bill of eve.', {});
  const { runs } = await agent.listSuspendedRuns();
  const suspension = runs[0]?.toolCalls[0]?.suspendPayload as AssizeSuspension;
  return {
    page: suspension.assize.page ?? '',
    resume: async () => {
      const { text } = (await agent.resumeGenerate({}, { runId })) as unknown as { text: string };
      return text;
    },
  };
};
