/** A step of a durable run that pays by `once`, as an engine repeats it. */
import { isAssizeError } from '#base';
import { once } from '#integrations/engines';
import { ASKED, LAST_WORDS, type StartHeld } from './held-run.ts';

export const startOnce: StartHeld = async (gate, pay) => {
  const step = () =>
    once(gate, { run: 'bill-of-may', key: 'pay', tool: 'pay', args: { ...ASKED } }, ({ args }) =>
      pay(args),
    );
  const waiting: unknown = await step().catch((error: unknown) => error);
  if (!isAssizeError(waiting, 'call_pending')) throw waiting;
  return {
    page: String(waiting.evidence['page']),
    resume: async () => {
      await step();
      return LAST_WORDS;
    },
  };
};
