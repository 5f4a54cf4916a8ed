/**
 * Mastra with the other documented form of an approval: the tool calls `suspend` itself, and goes
 * on with `approved` in its `resumeData`. Calls of one message then wait side by side.
 */
import { serveDriver } from 'assize/conformance';
import { MASTRA_VERSIONS, mastraHandlers, NO_FORK } from './support/mastra.ts';

await serveDriver(async (setup) => {
  const never = () => new Promise<never>(() => undefined);
  const asking = (pay: any): object => {
    const execute = async (args: unknown, context: any) => {
      const { resumeData, suspend } = context.agent;
      if (setup.settings.hook === 'silent') await never();
      if (typeof resumeData?.approved !== 'boolean') return suspend({ tool: 'pay', args });
      if (!resumeData.approved) throw new Error('Tool call was not approved by the user');
      return pay.execute(args, context);
    };
    return Object.assign(Object.create(Object.getPrototypeOf(pay)), pay, { execute });
  };
  return {
    name: 'Mastra, suspend in the tool',
    versions: MASTRA_VERSIONS,
    cannot: { expiry: 'a question has no expiry', fork: NO_FORK },
    ...mastraHandlers(setup, {
      tools: ({ pay, ...tools }: any) => ({ ...tools, pay: asking(pay) }),
      shownOf: ({ suspendPayload }) => suspendPayload as never,
      answer: (agent, { runId, toolCallId, answer }) => {
        const place = { runId, ...(toolCallId !== undefined && { toolCallId }) };
        const { decision } = answer ?? {};
        const given = decision == null ? (answer === null ? null : {}) : { approved: decision === 'approve' };
        return agent.resumeStream(given as never, place) as never;
      },
    }),
  };
});
