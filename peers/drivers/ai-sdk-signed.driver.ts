/**
 * The AI SDK with signed approvals, as its documentation says for tools with effects: the driver of
 * `ai-sdk.driver.ts`, with `experimental_toolApprovalSecret`.
 */
import { serveDriver } from '@assize/testing/conformance';
import { AI_SDK_VERSIONS, aiSdkHandlers } from './support/ai-sdk.ts';
import { NO_UNDO } from './support/free-tools.ts';
import { hookOr } from './support/hook.ts';

await serveDriver(async (setup) => {
  const toolApproval = hookOr<unknown>(setup, 'user-approval');
  return {
    name: 'AI SDK, signed',
    versions: AI_SDK_VERSIONS,
    cannot: {
      expiry: 'a question has no expiry',
      person: 'an answer names no person',
      undo: NO_UNDO,
    },
    ...aiSdkHandlers(setup, {
      toolsOf: (_run, tools) => tools,
      secret: 'the same in every process of the program',
      toolApproval: { pay: toolApproval, refund: toolApproval },
    }),
  };
});
