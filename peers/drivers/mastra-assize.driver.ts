/** Mastra with `gatedTools` in the place of `requireApproval`. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type AssizeSuspension, gatedTools, type ToolContext } from '@assize/mastra';
import { serveDriver } from '@assize/testing/conformance';
import { endIn, gateFor } from './support/gate.ts';
import { hookOr } from './support/hook.ts';
import { MASTRA_VERSIONS, mastraHandlers, NO_FORK } from './support/mastra.ts';
import { versionsOf } from './support/versions.ts';

await serveDriver(async (setup) => {
  const gate = await gateFor(setup, { result: '/result/value' });
  const deciding = new AsyncLocalStorage<unknown>();
  const approver = hookOr(setup, () => deciding.getStore() as string | undefined);
  const pauseOf = (payload: unknown) => payload as AssizeSuspension;
  return {
    name: 'Mastra with Assize',
    versions: { ...versionsOf('assize'), ...MASTRA_VERSIONS },
    cannot: { fork: NO_FORK },
    ...mastraHandlers(setup, {
      // A run of Mastra is one message.
      tools: (tools, run) => {
        const identity = (_: unknown, { agent }: ToolContext) => ({
          run,
          id: agent?.toolCallId ?? '',
        });
        return gatedTools(gate, tools as never, { approver, identity }) as never;
      },
      shownOf: ({ suspendPayload }) => pauseOf(suspendPayload),
      answer: (agent, { runId, toolCallId, answer, shown }) => {
        const assize =
          shown === undefined ? undefined : pauseOf(shown.listed.suspendPayload).assize;
        const given = answer === null ? null : { decision: answer.decision, assize };
        const place = { runId, ...(toolCallId !== undefined && { toolCallId }) };
        return deciding.run(answer?.person, () =>
          agent.resumeStream(given as never, place),
        ) as never;
      },
      goOn: (agent, runId) => agent.resumeStream({}, { runId }) as never,
    }),
    end: endIn(gate, setup),
  };
});
