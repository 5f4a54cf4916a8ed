import type { DriverHandlers, DriverSetup } from 'assize/conformance';
import { humanInTheLoopMiddleware } from 'langchain';
import { LANGGRAPH_VERSIONS, langGraphHandlers } from './langgraph.ts';

/** `createAgent` with `humanInTheLoopMiddleware` and a checkpointer in SQLite. */
export function bareLangGraph(setup: DriverSetup, isUnnamed: boolean): Omit<DriverHandlers, 'name'> {
  const never = () => new Promise<boolean>(() => undefined);
  const middleware = humanInTheLoopMiddleware({
    interruptOn: {
      pay: { allowedDecisions: ['approve', 'reject'], ...(setup.settings.hook === 'silent' && { when: never }) },
      note: false,
    },
  } as never);
  return {
    versions: LANGGRAPH_VERSIONS,
    cannot: { expiry: 'a question has no expiry' },
    ...langGraphHandlers(setup, {
      middleware: middleware as never,
      callsOf: (_question, asking) => asking.map(({ id }) => id),
      answer: (_question, decisions) => ({ decisions }),
      isUnnamed,
    }),
  };
}
