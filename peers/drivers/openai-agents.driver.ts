/**
 * The OpenAI Agents SDK as its guide to people in the loop says: `needsApproval`, and the state of the
 * run in a file, from which it is restored, answered and run. The file has the newest state.
 */

import { serveDriver } from '@assize/testing/conformance';
import { RunState } from '@openai/agents';
import { NO_UNDO } from './support/free-tools.ts';
import { hookOr } from './support/hook.ts';
import {
  interruptionsOf,
  OPENAI_AGENTS_VERSIONS,
  openAIAgentsHandlers,
} from './support/openai-agents.ts';

await serveDriver(async (setup) => {
  return {
    name: 'OpenAI Agents',
    versions: OPENAI_AGENTS_VERSIONS,
    cannot: {
      expiry: 'a question has no expiry',
      person: 'an answer names no person',
      undo: NO_UNDO,
    },
    ...openAIAgentsHandlers(setup, {
      tools: (tools) => tools,
      needsApproval: hookOr(setup, async () => true),
      restore: (agent, text) => RunState.fromString(agent, text),
      shown: interruptionsOf,
    }),
  };
});
