/**
 * The AI SDK as its documentation says: `toolApproval` with `user-approval`, responses that are added
 * to the messages, and messages that are stored.
 */
import { serveDriver } from '@assize/testing/conformance';
import { AI_SDK_VERSIONS, aiSdkHandlers } from './support/ai-sdk.ts';
import { NO_UNDO } from './support/free-tools.ts';
import { hookOr } from './support/hook.ts';

await serveDriver(async (setup) => {
  const toolApproval = hookOr<unknown>(setup, 'user-approval');
  return {
    name: 'AI SDK',
    versions: AI_SDK_VERSIONS,
    cannot: {
      expiry: 'a question has no expiry',
      person: 'an answer names no person',
      undo: NO_UNDO,
    },
    ...aiSdkHandlers(setup, {
      toolsOf: (_run, tools) => tools,
      toolApproval: { pay: toolApproval, refund: toolApproval },
    }),
  };
});
