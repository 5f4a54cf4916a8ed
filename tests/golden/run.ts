/**
 * The domain and agent of the golden run. A clerk asks a model for the text to file, and a shift
 * leader must approve long texts.
 */
import { z } from 'zod';
import type { Agent } from '#agents';
import { defineDomain, escalate, invariant, pass } from '#kernel';
import { writFor } from '../support/ledger/runtime.ts';

const STORIES = 5;

export const filing = defineDomain({
  name: 'filing',
  version: '1',
  state: z.object({ filed: z.array(z.string()), agreed: z.number().int() }),
  initial: { filed: [], agreed: 0 },
  processes: { filing: { writes: ['/filed'] } },
  roles: { clerk: { processes: ['filing'] } },
  actions: {
    file: {
      process: 'filing',
      args: z.object({ text: z.string() }),
      apply: (state, { text }) => {
        state.filed.push(text);
      },
    },
  },
  invariants: [
    invariant(
      'LONG',
      ['/filed', '/agreed'],
      ({ filed, agreed }: any) =>
        [...filed].filter((text: string) => text.length > 12).length <= agreed
          ? pass
          : escalate('it is long'),
      {
        onApprove: (state: any) => {
          state.agreed += 1;
        },
      },
    ),
  ],
  counselors: { leader: (principal) => principal.startsWith('leader') },
  freeze: 'world',
});

/** `answer` is the model's answer. A replay does not ask the model. */
export function clerk(answer: (n: number) => string): Agent {
  return {
    name: 'cora',
    role: { name: 'clerk', params: {} },
    writ: writFor('cora'),
    async decide({ filed }, oracle) {
      if (filed.length >= STORIES) return 'done';
      const [byte] = await oracle.random(1);
      const text = await oracle.ask({
        name: 'model',
        request: { file: filed.length, luck: byte as number },
        call: () => answer(filed.length),
      });
      return { action: 'file', args: { text: text as string } };
    },
  };
}
