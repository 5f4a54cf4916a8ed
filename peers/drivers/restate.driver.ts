/**
 * Restate as its documentation says: a handler waits for a person with an awakeable, and makes the
 * call in `ctx.run`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type PersonAnswer, serveDriver, type WaitingCall } from '@assize/testing/conformance';
import * as restate from '@restatedev/restate-sdk';
import { JsonFiles } from './support/json-file.ts';
import { RESTATE_VERSIONS, type RunCall, restateHandlers } from './support/restate.ts';

/** A question, as the page of a program has it. */
interface Question {
  readonly awakeable: string;
  /** Absent: the invocation has an answer. */
  readonly waiting?: WaitingCall;
}

await serveDriver(async (setup) => {
  const questions = new JsonFiles<Question>(setup.folder, 'question');
  const keyOf = ({ run, id }: Pick<RunCall, 'run' | 'id'>): string => `${run}.${id}`;
  return {
    name: 'Restate',
    versions: RESTATE_VERSIONS,
    cannot: {
      ends: 'a handler of the driver makes one call',
      hook: 'no function of the program takes part in a decision',
      person: 'an answer names no person',
      tamper: 'no client of the server can change its journal',
    },
    ...restateHandlers(setup, {
      handler: async (ctx, call) => {
        const { run, id, tool, args } = call;
        if (tool !== 'note') {
          const { id: awakeable, promise } = ctx.awakeable<PersonAnswer>();
          // The time runs before a person is asked.
          const { expiresMs } = setup.settings;
          const answering = expiresMs === undefined ? promise : promise.orTimeout(expiresMs);
          const waiting = { call: id, tool, args };
          await ctx.run('ask', () => questions.write(keyOf(call), { awakeable, waiting }));
          const answer = await answered(answering);
          await ctx.run('answered', () => questions.write(keyOf(call), { awakeable }));
          if (answer?.decision !== 'approve') return { call: id, isError: true, text: 'denied' };
        }
        const text = await ctx.run(tool, () => setup.effect({ run, call: id, tool, args }));
        return { call: id, isError: false, text };
      },
      waitingOf: async (call) => questions.read(keyOf(call))?.waiting,
      answer: async (call, answer, { post, isOver }) => {
        const question = questions.read(keyOf(call));
        if (question === undefined) return;
        await post(`/restate/awakeables/${question.awakeable}/resolve`, answer);
        // Until the invocation has it.
        while (!(await isOver()) && questions.read(keyOf(call))?.waiting !== undefined)
          await sleep(25);
      },
    }),
  };

  async function answered(answering: Promise<PersonAnswer>): Promise<PersonAnswer> {
    try {
      return await answering;
    } catch (error) {
      if (error instanceof restate.TimeoutError) return null;
      throw error;
    }
  }
});
