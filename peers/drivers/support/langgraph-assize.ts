import { type AssizeInterrupt, assizeMiddleware } from '@assize/langchain';
import type { DriverHandlers, DriverSetup } from '@assize/testing/conformance';
import { endIn, gateFor } from './gate.ts';
import { hookOr } from './hook.ts';
import { LANGGRAPH_VERSIONS, langGraphHandlers } from './langgraph.ts';
import { versionsOf } from './versions.ts';

type Config = { readonly configurable: Readonly<Record<string, unknown>> };

/** `createAgent` with `assizeMiddleware` and a checkpointer in SQLite. */
export async function gatedLangGraph(
  setup: DriverSetup,
  isUnnamed: boolean,
): Promise<Omit<DriverHandlers, 'name'>> {
  const gate = await gateFor(setup, { result: '/result/message/content' });
  const user = (_answer: unknown, _held: unknown, { configurable }: Config) => configurable['user'];
  return {
    versions: { ...versionsOf('assize'), ...LANGGRAPH_VERSIONS },
    ...langGraphHandlers(setup, {
      middleware: assizeMiddleware(gate, { approver: hookOr(setup, user) as never }) as never,
      callsOf: ({ value }, _asking, run) => [
        (value as AssizeInterrupt).assize.call.slice(run.length + 1),
      ],
      answer: ({ value }, decisions) => ({ decisions, assize: (value as AssizeInterrupt).assize }),
      isUnnamed,
    }),
    end: endIn(gate, setup),
  };
}
