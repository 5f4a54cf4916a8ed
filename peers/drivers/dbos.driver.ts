/**
 * DBOS as its documentation says: a workflow waits for a message of a person in `DBOS.recv`, and
 * makes the call in a step.
 */

import { type PersonAnswer, serveDriver, type WaitingCall } from '@assize/testing/conformance';
import { DBOS } from '@dbos-inc/dbos-sdk';
import { DBOS_VERSIONS, dbosHandlers, OVER } from './support/dbos.ts';

/** Longer than a scenario. */
const FOREVER_MS = 86_400_000;

await serveDriver(async (setup) => ({
  name: 'DBOS',
  versions: DBOS_VERSIONS,
  cannot: {
    ends: 'a workflow of the driver makes one call',
    hook: 'no function of the program takes part in a decision',
    person: 'an answer names no person',
  },
  ...dbosHandlers(setup, {
    workflow: async ({ run, id, tool, args }) => {
      if (tool !== 'note') {
        // The time runs before a person is asked.
        const deadlineEpochMS = (await DBOS.now()) + (setup.settings.expiresMs ?? FOREVER_MS);
        await DBOS.setEvent('waiting', { call: id, tool, args });
        const answer = await DBOS.recv<PersonAnswer>('answer', { deadlineEpochMS });
        await DBOS.setEvent('waiting', null);
        if (answer?.decision !== 'approve') return { call: id, isError: true, text: 'denied' };
      }
      const text = await DBOS.runStep(() => setup.effect({ run, call: id, tool, args }), {
        name: tool,
      });
      return { call: id, isError: false, text };
    },
    waitingOf: async (workflow) =>
      (await DBOS.getEvent<WaitingCall | null>(workflow, 'waiting', 0)) ?? undefined,
    answer: async (workflow, _call, answer) => {
      await DBOS.send(workflow, answer, 'answer');
      // Until the workflow has it.
      const isWaiting = async (): Promise<boolean> =>
        !OVER.includes((await DBOS.getWorkflowStatus(workflow))?.status ?? '') &&
        (await DBOS.getEvent(workflow, 'waiting', 0)) !== null;
      while (await isWaiting()) await new Promise((resolve) => setTimeout(resolve, 25));
    },
  }),
}));
