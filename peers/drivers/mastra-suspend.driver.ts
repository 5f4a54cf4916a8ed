/**
 * Mastra with the other documented form of an approval: the tool calls `suspend` itself, and goes
 * on with `approved` in its `resumeData`. Calls of one message then wait side by side.
 */
import { serveDriver } from '@assize/testing/conformance';
import { NO_UNDO } from './support/free-tools.ts';
import { MASTRA_VERSIONS, mastraHandlers, NO_FORK } from './support/mastra.ts';

await serveDriver(async (setup) => {
  const asking = (tool: any): object => {
    const execute = async (args: unknown, context: any) => {
      const { resumeData, suspend } = context.agent;
      if (typeof resumeData?.approved !== 'boolean') return suspend({ tool: tool.id, args });
      if (!resumeData.approved) throw new Error('Tool call was not approved by the user');
      return tool.execute(args, context);
    };
    return Object.assign(Object.create(Object.getPrototypeOf(tool)), tool, { execute });
  };
  return {
    name: 'Mastra, suspend in the tool',
    versions: MASTRA_VERSIONS,
    cannot: {
      expiry: 'a question has no expiry',
      fork: NO_FORK,
      hook: 'the tool itself asks',
      person: 'an answer names no person',
      undo: NO_UNDO,
    },
    ...mastraHandlers(setup, {
      tools: ({ pay, refund, ...tools }: any) => ({
        ...tools,
        pay: asking(pay),
        refund: asking(refund),
      }),
      shownOf: ({ suspendPayload }) => suspendPayload as never,
      answer: (agent, { runId, toolCallId, answer }) => {
        const place = { runId, ...(toolCallId !== undefined && { toolCallId }) };
        const { decision } = answer ?? {};
        const approved =
          decision === 'approve' ? true : decision === 'reject' ? false : (decision ?? undefined);
        const given = answer === null ? null : { approved };
        return agent.resumeStream(given as never, place) as never;
      },
    }),
  };
});
