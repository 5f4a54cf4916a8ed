/**
 * LangGraph as its documentation says: `createAgent` with `humanInTheLoopMiddleware` and a checkpointer
 * in SQLite. Answers name their interrupt, which is the safer one of the two documented forms.
 */
import { serveDriver } from 'assize/conformance';
import { humanInTheLoopMiddleware } from 'langchain';
import { LANGGRAPH_VERSIONS, langGraphHandlers } from './support/langgraph.ts';

await serveDriver(async (setup) => {
  const never = () => new Promise<boolean>(() => undefined);
  const middleware = humanInTheLoopMiddleware({
    interruptOn: {
      pay: { allowedDecisions: ['approve', 'reject'], ...(setup.settings.hook === 'silent' && { when: never }) },
      note: false,
    },
  } as never);
  return {
    name: 'LangGraph',
    versions: LANGGRAPH_VERSIONS,
    cannot: { expiry: 'a question has no expiry' },
    ...langGraphHandlers(setup, {
      middleware: middleware as never,
      callsOf: (_question, asking) => asking.map(({ id }) => id),
      answer: (_question, decisions) => ({ decisions }),
    }),
  };
});
