/** The OpenAI Agents SDK with `gatedTools` in the place of its own approvals. */

import { gatedTools, heldCalls } from '@assize/openai-agents';
import { serveDriver } from '@assize/testing/conformance';
import { RunContext, RunState } from '@openai/agents';
import { endIn, gateFor } from './support/gate.ts';
import { hookOr } from './support/hook.ts';
import { OPENAI_AGENTS_VERSIONS, openAIAgentsHandlers } from './support/openai-agents.ts';
import { versionsOf } from './support/versions.ts';

await serveDriver(async (setup) => {
  const gate = await gateFor(setup, { result: '/result/output' });
  return {
    name: 'OpenAI Agents with Assize',
    versions: { ...versionsOf('assize'), ...OPENAI_AGENTS_VERSIONS },
    ...openAIAgentsHandlers(setup, {
      tools: (tools) =>
        gatedTools(gate, tools, {
          approver: hookOr(
            setup,
            (_answer: unknown, _held: unknown, { context }: any) => context.user,
          ),
        }),
      restore: async (agent, text, { run, user }) => {
        const context = new RunContext({ runId: run, user });
        const state = await RunState.fromStringWithContext(agent, text, context, {
          contextStrategy: 'replace',
        });
        await heldCalls(state);
        return state;
      },
      shown: async (state) =>
        (await heldCalls(state)).map(({ id, tool, args }) => ({ call: id, tool, args })),
    }),
    end: endIn(gate, setup),
  };
});
