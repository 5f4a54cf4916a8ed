/**
 * The AI SDK as its documentation says: `toolApproval` with `user-approval`, responses that are added
 * to the messages, and messages that are stored.
 */
import { serveDriver } from 'assize/conformance';
import { AI_SDK_VERSIONS, aiSdkHandlers } from './support/ai-sdk.ts';

await serveDriver(async (setup) => {
  const never = () => new Promise<never>(() => undefined);
  return {
    name: 'AI SDK',
    versions: AI_SDK_VERSIONS,
    cannot: { expiry: 'a question has no expiry' },
    ...aiSdkHandlers(setup, {
      toolsOf: (_run, tools) => tools,
      toolApproval: { pay: setup.settings.hook === 'silent' ? never : 'user-approval' },
    }),
  };
});
