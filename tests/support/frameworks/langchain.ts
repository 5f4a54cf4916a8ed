import { AIMessage } from '@langchain/core/messages';
import { fakeModel } from '@langchain/core/testing';
import { Command, MemorySaver } from '@langchain/langgraph';
import { createAgent, tool } from 'langchain';
import { z } from 'zod';
import { assizeMiddleware, type Paused } from '#integrations/langchain';
import { ASKED, LAST_WORDS, type StartHeld } from './held-run.ts';

/** An agent of LangChain. */
export const startLangChain: StartHeld = async (gate, pays) => {
  const pay = tool((payment: { to: string; euros: number }) => pays(payment), {
    name: 'pay',
    description: 'Pays a bill.',
    schema: z.object({ to: z.string(), euros: z.number() }),
  });
  const model = fakeModel()
    .respondWithTools([{ name: 'pay', args: { ...ASKED }, id: 'call-1' }])
    .respond(new AIMessage(LAST_WORDS));
  const agent = createAgent({
    ...{ model, tools: [pay], middleware: [assizeMiddleware(gate)] },
    checkpointer: new MemorySaver(),
  });
  const config = { configurable: { thread_id: 'bills-of-may' } };
  const { __interrupt__ } = await agent.invoke({ messages: 'Pay the bill of eve.' }, config);
  const [pause] = __interrupt__ as unknown as Paused[];
  const value = pause?.value as { assize: { page: string } };
  return {
    page: value.assize.page,
    resume: async () => {
      const { messages } = await agent.invoke(
        new Command({ resume: { [pause!.id]: { decisions: [] } } }),
        config,
      );
      return messages.at(-1)?.text ?? '';
    },
  };
};
