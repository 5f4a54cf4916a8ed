import { z } from 'zod';
import { ALIAS } from '#chat';
import { DidNothing, declareTool, type Tool } from '#effects';
import { call, type Domain, defineDomain, escalate, pass, reject } from '#kernel';

/** A payment of this amount has no answer, so its outcome is unknown. */
export const SILENT_CENTS = 14;

/** Pays outside the ledger. Its sink has no keys, so an unanswered payment needs a person. */
export const bank: Tool = declareTool({
  name: 'bank.pay',
  input: z.object({ cents: z.number().int() }),
  class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'blind' },
  writes: ['bank:**'],
  execute: ({ cents }) => {
    if (cents === 13) throw new DidNothing('closed', { final: true });
    if (cents === SILENT_CENTS) throw new Error('no answer');
  },
});

/**
 * A till. A desk that holds more than 100 needs the boss, and more than 1,000 is refused. It has a
 * memory, and one action that calls a tool.
 */
const tillOf = (version: string): Domain =>
  defineDomain({
    name: 'till',
    version,
    unjudgedCalls: 'allow',
    state: z.object({
      desks: z.record(z.string(), z.object({ sum: z.number().int(), by: z.string().optional() })),
    }),
    initial: { desks: {} },
    processes: { paying: { writes: ['/desks/{desk}'] } },
    roles: { clerk: { params: ['desk'], processes: ['paying'] } },
    actions: {
      pay: {
        process: 'paying',
        args: z.object({ amount: z.number().int().positive() }),
        apply: (state, { amount }, { role }) => {
          state.desks[role.desk] = { sum: (state.desks[role.desk]?.sum ?? 0) + amount };
        },
      },
      tip: {
        process: 'paying',
        args: z.object({ amount: z.number().int().positive() }),
        cost: ({ amount }) => ({ cents: amount }),
        apply: (state, { amount }, { role }) => {
          state.desks[role.desk] = { sum: amount };
        },
      },
      wire: {
        process: 'paying',
        args: z.object({ cents: z.number().int().positive() }),
        apply: (state, { cents }, { role }) => {
          state.desks[role.desk] = { sum: cents };
        },
        calls: (_state, { cents }) => [call(bank, { cents })],
        onFailure: () => ({ action: 'undo', args: {} }),
      },
      undo: {
        process: 'paying',
        args: z.object({}),
        apply: (state, _args, { role }) => {
          state.desks[role.desk] = { sum: 0 };
        },
      },
    },
    invariants: ({ each }) => [
      each(
        'LARGE',
        '/desks/*',
        {
          channel: 'boss',
          overridable: true,
          onApprove: (state, { counselor, keys: [desk] }) => {
            const { sum } = state.desks[desk as string] as { readonly sum: number };
            state.desks[desk as string] = { sum, by: counselor };
          },
        },
        ({ sum, by }) => {
          if (sum > 1_000) return reject('more than 1,000');
          return sum > 100 && by === undefined ? escalate('more than 100') : pass;
        },
      ),
    ],
    counselors: { boss: (principal) => principal.startsWith('boss:') },
    memory: {
      predicates: {
        phone: { cardinality: 'single-valued', strategy: 'lww' },
        [ALIAS]: { cardinality: 'single-valued', strategy: 'await' },
      },
    },
  }) as Domain;

export const till: Domain = tillOf('1');
/** The same rules under another version, for upgrades. */
export const laterTill: Domain = tillOf('2');
