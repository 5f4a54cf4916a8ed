/** A domain that names neither processes nor roles types its proposals all the same. */
import { createAssize, defineDomain, pass, reject } from 'assize';
import { z } from 'zod';

const budget = defineDomain({
  name: 'budget',
  version: '1',
  state: z.object({ spent: z.number() }),
  initial: { spent: 0 },
  actions: {
    spend: {
      args: z.object({ euros: z.number() }),
      apply: (state, { euros }) => {
        state.spent += euros;
      },
    },
  },
  invariants: ({ invariant }) => [
    invariant('CAP', ['/spent'], ({ spent }) => (spent <= 1_000 ? pass : reject('too much'))),
  ],
});

export async function proposals(): Promise<void> {
  const team = await createAssize({ domain: budget });
  await team.propose({ action: 'spend', args: { euros: 1 } });
  await team.propose({ action: 'spend', role: 'agent', args: { euros: 1 } });
  // @ts-expect-error no such action
  await team.propose({ action: 'spent', args: { euros: 1 } });
  // @ts-expect-error no such argument
  await team.propose({ action: 'spend', args: { dollars: 1 } });
}
