import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineDomain, sensitive } from '#kernel';
import { stage, writ } from '../../../../../tests/support/tools/transaction-stage.ts';

/** A domain that counts orders. Names of people are the only sensitive part of the state. */
const domainOf = (name: string, args: z.ZodType) =>
  defineDomain<any, any>({
    name,
    version: '1',
    unjudgedCalls: 'allow',
    state: z.object({
      done: z.record(z.string(), z.number()),
      people: z.record(z.string(), sensitive(z.string())),
    }),
    initial: { done: {}, people: { p1: 'Zoe' } },
    processes: { count: { writes: ['/done/*'] }, leave: { writes: ['/people/*'] } },
    roles: { counter: { processes: ['count', 'leave'] } },
    actions: {
      count: {
        process: 'count',
        args,
        apply: ({ done }: any, { what }: any) => void Object.assign(done, { [what]: 1 }),
      },
      leave: { process: 'leave', args, apply: ({ people }: any) => void delete people.p1 },
    } as never,
    invariants: [],
  });

const plain = domainOf('plain', z.object({ what: z.string() }));
const marked = domainOf('marked', z.object({ what: sensitive(z.string()) }));

/** One transaction with a tool call, and the outcome of an erasure after it. */
async function afterOne(action: 'count' | 'leave', domain: any) {
  const { store, trajectory, all } = await stage({ domain });
  const { ruling } = await trajectory.transaction(all, async (tx) => {
    await tx.call('irreversible.buffered', { what: 'order' });
    tx.propose({ action, role: 'counter', args: { what: 'order' } });
  });
  const { id } = (ruling as unknown as { readonly entry: { readonly id: string } }).entry;
  const [{ $blob }] = (await store.entries('t')).flatMap(({ payload }) => effectsIn(payload)) as [
    { $blob: string },
  ];
  const erase = async (what: object): Promise<string> =>
    trajectory.erase({ ...what, reason: 'request 1', writ }).then(
      async () => ((await store.erasedBy($blob)) === undefined ? 'input kept' : 'input erased'),
      (error) => error.code,
    );
  return { id, erase };
}

const effectsIn = (payload: string): unknown[] =>
  (JSON.parse(payload).delta?.effects ?? []).map(
    ({ effect }: { readonly effect: unknown }) => effect,
  );

test('a path without sensitive values keeps the inputs of tools', async () => {
  const { erase, id } = await afterOne('count', plain);
  expect(await erase({ at: ['/done'] })).toBe('nothing_to_erase');
  expect(await erase({ at: ['/done/order'] })).toBe('nothing_to_erase');
  expect(await erase({ at: ['/people/p2'] })).toBe('nothing_to_erase');
  expect(await erase({ at: ['/done', '/people'] })).toBe('input kept');
  expect(await erase({ entries: [id] })).toBe('input erased');
});

test.each([
  ['of a proposal with sensitive arguments', 'count', marked, '/done'],
  ['of a proposal that wrote a sensitive value', 'leave', plain, '/people'],
] as const)(
  'the inputs of tools are erased with a path: those %s',
  async (_, action, domain, at) => {
    const { erase } = await afterOne(action, domain);
    expect(await erase({ at: [at] })).toBe('input erased');
  },
);
