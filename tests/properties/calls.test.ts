import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { DidNothing, declareTool } from '#effects';
import { call, defineDomain, escalate, pass, reject } from '#kernel';
import { deepReplay } from '#replay';
import type { Assize, Ruling, Trajectory } from '#runtime';
import { cases } from '../support/cases.ts';
import { runtimeOver, writFor } from '../support/ledger/runtime.ts';

// The judged calls are the calls that happen: the bank pays as the committed actions declare, in
// any order of concurrent proposals, approvals and transaction bodies. The amount of a payment is
// in the state alone, so a call that was planned on an older state would pay another amount.

const PEOPLE = ['ann', 'bob'] as const;
const LIMIT = 12;
const ASK_ABOVE = 6;

/** A bank that counts what it paid, and refuses at its own will. */
class Bank {
  readonly paid: Record<string, number> = {};
  readonly payments: string[] = [];
  refusals = 0;

  readonly pay = declareTool({
    name: 'bank.pay',
    input: z.strictObject({ to: z.string(), cents: z.int() }),
    class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
    writes: ['bank:{to}'],
    execute: async ({ to, cents }, { key }) => {
      await Promise.resolve();
      if (this.refusals-- > 0) throw new DidNothing('the bank is busy');
      if (this.payments.includes(key)) throw new Error('the payment was made before');
      this.payments.push(key);
      this.paid[to] = (this.paid[to] ?? 0) + cents;
      return null;
    },
    compensate: () => ({ undone: 'all' }),
  });

  /** No rule judges this tool, and no action declares its calls. */
  readonly tip = declareTool({
    name: 'waiter.tip',
    input: z.strictObject({ to: z.string() }),
    class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
    writes: ['waiter:{to}'],
    execute: ({ to }) => {
      this.paid[to] = (this.paid[to] ?? 0) + 1;
      return null;
    },
    compensate: () => ({ undone: 'all' }),
  });
}

/** Debts are added, and a settlement pays all of a person's debt. */
function ledgerOf({ pay }: Bank) {
  const amounts = z.record(z.string(), z.int());
  return defineDomain({
    name: 'debts',
    version: '1',
    state: z.object({ owed: amounts, paying: amounts, paid: amounts }),
    initial: { owed: {}, paying: {}, paid: {} },
    freeze: 'footprint',
    processes: {
      owe: { writes: ['/owed/*'] },
      settle: { writes: ['/owed/*', '/paying/*', '/paid/*'] },
    },
    roles: { clerk: { processes: ['owe', 'settle'] } },
    counselors: { manager: (principal) => principal.startsWith('manager') },
    actions: {
      owe: {
        process: 'owe',
        args: z.strictObject({ to: z.string(), cents: z.int() }),
        apply: ({ owed }, { to, cents }) => {
          owed[to] = (owed[to] ?? 0) + cents;
        },
      },
      settle: {
        process: 'settle',
        args: z.strictObject({ to: z.string() }),
        apply: ({ owed, paying, paid }, { to }) => {
          const cents = owed[to] ?? 0;
          paying[to] = cents;
          paid[to] = (paid[to] ?? 0) + cents;
          owed[to] = 0;
        },
        calls: ({ paying }, { to }) =>
          paying[to] === 0 ? [] : [call(pay, { to, cents: paying[to] as number })],
      },
    },
    invariants: ({ eachCall }) => [
      eachCall('LIMIT', pay, {}, ({ input }) =>
        input.cents <= LIMIT ? pass : reject('too much in one call'),
      ),
      eachCall('ASK', 'bank.*', {}, ({ input }) =>
        input.cents <= ASK_ABOVE ? pass : escalate('a manager decides'),
      ),
    ],
  });
}

type Deed =
  | { readonly does: 'owe'; readonly to: string; readonly cents: number }
  | { readonly does: 'settle'; readonly to: string; readonly key?: string }
  | { readonly does: 'body'; readonly to: string; readonly extra: number }
  | { readonly does: 'decide'; readonly approves: boolean };

const to = fc.constantFrom(...PEOPLE);
const deed: fc.Arbitrary<Deed> = fc.oneof(
  fc.record({ does: fc.constant('owe' as const), to, cents: fc.integer({ min: 1, max: 8 }) }),
  fc.record({ does: fc.constant('settle' as const), to }),
  fc.record({ does: fc.constant('settle' as const), to, key: fc.constantFrom('k', 'l') }),
  fc.record({ does: fc.constant('body' as const), to, extra: fc.nat(2) }),
  fc.record({ does: fc.constant('decide' as const), approves: fc.boolean() }),
);

const writ = writFor('clerk', { trajectory: 't' });

function act(trajectory: Trajectory, one: Deed): Promise<unknown> {
  const by = { role: 'clerk', writ };
  switch (one.does) {
    case 'owe':
      return trajectory.propose({ ...by, action: 'owe', args: { to: one.to, cents: one.cents } });
    case 'settle': {
      const key = one.key === undefined ? {} : { idempotencyKey: `${one.key} ${one.to}` };
      return trajectory.propose({ ...by, action: 'settle', args: { to: one.to }, ...key });
    }
    case 'body':
      return trajectory.transaction({ writ, writes: ['bank:**', 'waiter:**'] }, async (tx) => {
        if (one.extra === 1) await tx.call('bank.pay', { to: one.to, cents: 1_000 });
        if (one.extra === 2) await tx.call('waiter.tip', { to: one.to });
        tx.propose({ role: 'clerk', action: 'settle', args: { to: one.to } });
      });
    case 'decide':
      return Promise.all(
        trajectory.approvals.pending().map(({ id }) => {
          const manager = { principal: 'manager', method: 'desk' };
          const decision = one.approves
            ? trajectory.approvals.approve(id, manager)
            : trajectory.approvals.reject(id, { ...manager, reason: 'no' });
          // Another decision of the same moment may be first, or the debt has changed.
          return decision.catch((error: { code?: string }) => {
            if (!['not_pending', 'changed_since'].includes(error.code ?? '')) throw error;
          });
        }),
      );
  }
}

interface Debts {
  readonly paid: Record<string, number>;
}

async function lived(rounds: readonly (readonly Deed[])[], refusals: number) {
  const [bank, store] = [new Bank(), new MemoryStore()];
  bank.refusals = refusals;
  const domain = ledgerOf(bank);
  const assize: Assize = runtimeOver(store, [domain], { tools: [bank.pay, bank.tip] });
  const trajectory = (await assize.create(domain, {
    trajectoryId: 't',
    writs: [writ],
  })) as unknown as Trajectory;
  const rulings: Ruling[] = [];
  for (const round of rounds) {
    const made = await Promise.all(round.map((one) => act(trajectory, one)));
    rulings.push(
      ...made.filter(
        (each): each is Ruling => typeof each === 'object' && each !== null && 'ruling' in each,
      ),
    );
  }
  await assize.recoverEffects();
  return { bank, store, domain, trajectory, assize };
}

test('the bank pays exactly what committed actions declare', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(deed, { minLength: 1, maxLength: 4 }), { maxLength: 5 }),
      fc.nat(2),
      async (rounds, refusals) => {
        const { bank, store, domain, trajectory, assize } = await lived(rounds, refusals);
        const { paid } = trajectory.state() as unknown as Debts;
        for (const person of PEOPLE)
          expect([person, bank.paid[person] ?? 0]).toEqual([person, paid[person] ?? 0]);
        await assize.close();
        const deep = await deepReplay(store, 't', { domains: [domain as never] });
        expect(deep.differences).toEqual([]);
      },
    ),
    { numRuns: cases(400) },
  );
});
