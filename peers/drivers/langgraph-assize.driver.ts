/** LangGraph with `assizeMiddleware` in the place of LangChain's own middleware for people. */
import { serveDriver } from 'assize/conformance';
import { type AssizeInterrupt, assizeMiddleware } from 'assize/integrations/langchain';
import { gateFor } from './support/gate.ts';
import { LANGGRAPH_VERSIONS, langGraphHandlers } from './support/langgraph.ts';
import { versionsOf } from './support/versions.ts';

await serveDriver(async (setup) => {
  const gate = await gateFor(setup);
  const never = () => new Promise<never>(() => undefined);
  const approver = (_answer: unknown, _held: unknown, { configurable }: { configurable: Record<string, unknown> }) =>
    setup.settings.hook === 'silent' ? never() : (configurable['user'] as string | undefined);
  return {
    name: 'LangGraph with Assize',
    versions: { ...versionsOf('assize'), ...LANGGRAPH_VERSIONS },
    ...langGraphHandlers(setup, {
      middleware: assizeMiddleware(gate, { approver: approver as never }) as never,
      callsOf: ({ value }, _asking, run) => [(value as AssizeInterrupt).assize.call.slice(run.length + 1)],
      answer: ({ value }, decisions) => ({ decisions, assize: (value as AssizeInterrupt).assize }),
    }),
  };
});
