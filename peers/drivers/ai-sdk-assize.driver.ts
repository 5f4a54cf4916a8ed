/** The AI SDK with `assizeTools`, `assizeApproval` and `assizeAnswers`. */

import { assizeAnswers, assizeApproval, assizeTools } from '@assize/ai-sdk';
import { serveDriver } from '@assize/testing/conformance';
import { AI_SDK_VERSIONS, aiSdkHandlers } from './support/ai-sdk.ts';
import { endIn, gateFor } from './support/gate.ts';
import { hookOr } from './support/hook.ts';
import { versionsOf } from './support/versions.ts';

await serveDriver(async (setup) => {
  const gate = await gateFor(setup);
  return {
    name: 'AI SDK with Assize',
    versions: { ...versionsOf('assize'), ...AI_SDK_VERSIONS },
    ...aiSdkHandlers(setup, {
      toolsOf: (run, tools, person) =>
        assizeTools(gate, tools, { run, approver: hookOr(setup, () => person as string) }),
      toolApproval: assizeApproval,
      answered: async (tools, messages) => {
        const { waiting, messages: next } = await assizeAnswers(tools, messages);
        return waiting.length > 0 ? undefined : next;
      },
    }),
    end: endIn(gate, setup),
  };
});
