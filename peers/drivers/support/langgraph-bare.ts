import type { DriverHandlers, DriverSetup } from '@assize/testing/conformance';
import { humanInTheLoopMiddleware } from 'langchain';
import { NO_UNDO } from './free-tools.ts';
import { hookOr } from './hook.ts';
import { LANGGRAPH_VERSIONS, langGraphHandlers } from './langgraph.ts';

/** `createAgent` with `humanInTheLoopMiddleware` and a checkpointer in SQLite. */
export function bareLangGraph(
  setup: DriverSetup,
  isUnnamed: boolean,
): Omit<DriverHandlers, 'name'> {
  const when = hookOr<unknown>(setup, undefined);
  const asking = { allowedDecisions: ['approve', 'reject'], ...(when !== undefined && { when }) };
  const middleware = humanInTheLoopMiddleware({
    interruptOn: { pay: asking, refund: asking, note: false, get: false, set: false },
  } as never);
  return {
    versions: LANGGRAPH_VERSIONS,
    cannot: {
      expiry: 'a question has no expiry',
      person: 'an answer names no person',
      undo: NO_UNDO,
    },
    ...langGraphHandlers(setup, {
      middleware: middleware as never,
      callsOf: (_question, asking) => asking.map(({ id }) => id),
      answer: (_question, decisions) => ({ decisions }),
      isUnnamed,
    }),
  };
}
