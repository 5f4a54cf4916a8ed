/**
 * Mastra as its documentation says: a tool with `requireApproval`, storage in SQLite, and answers
 * with the id of their call by `approveToolCall` and `declineToolCall`.
 */
import { serveDriver } from '@assize/testing/conformance';
import { NO_UNDO } from './support/free-tools.ts';
import { hookOr } from './support/hook.ts';
import { MASTRA_VERSIONS, mastraHandlers, NO_FORK } from './support/mastra.ts';

await serveDriver(async (setup) => {
  return {
    name: 'Mastra',
    versions: MASTRA_VERSIONS,
    cannot: {
      expiry: 'a question has no expiry',
      fork: NO_FORK,
      person: 'an answer names no person',
      undo: NO_UNDO,
      together: 'calls with requireApproval are asked about one at a time',
    },
    ...mastraHandlers(setup, {
      tools: (tools) => tools,
      asking: { requireApproval: hookOr<unknown>(setup, true) },
      shownOf: ({ toolName, args }) => ({ tool: toolName, args: args as never }),
      answer: (agent, { runId, toolCallId, answer }) => {
        const place = { runId, ...(toolCallId !== undefined && { toolCallId }) };
        if (answer?.decision === 'approve') return agent.approveToolCall(place) as never;
        if (answer?.decision === 'reject') return agent.declineToolCall(place) as never;
        const given = answer === null ? null : { approved: answer.decision ?? undefined };
        return agent.resumeStream(given as never, place) as never;
      },
    }),
  };
});
