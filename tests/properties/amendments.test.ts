import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { declareTool } from '#effects';
import { call, defineDomain, escalate, pass, reject } from '#kernel';
import { type CommitPayload, readRow } from '#ledger';
import { deepReplay, type Ruling, type Trajectory } from '#runtime';
import { MemoryStore } from '#stores';
import { cases } from '../support/cases.ts';
import { runtimeOver, writFor } from '../support/ledger/runtime.ts';

// An amendment commits what a proposal of the amended arguments and its approval commit: the same
// state, the same cost and the same calls. The amount of a payment follows from the state.

const PEOPLE = ['ann', 'bob'] as const;

function payments() {
  const paid: string[] = [];
  const pay = declareTool({
    name: 'bank.pay',
    input: z.strictObject({ to: z.string(), total: z.int() }),
    class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
    writes: ['bank:{to}'],
    execute: ({ to, total }) => {
      paid.push(`${to} ${total}`);
      return null;
    },
    compensate: () => ({ undone: 'all' }),
  });
  const domain = defineDomain({
    name: 'payments',
    version: '1',
    state: z.object({ spent: z.record(z.string(), z.int()), by: z.record(z.string(), z.string()) }),
    initial: { spent: {}, by: {} },
    freeze: 'footprint',
    processes: { pay: { writes: ['/spent/{who}', '/by/{who}'] } },
    roles: { payer: { params: ['who'], processes: ['pay'] } },
    counselors: {
      manager: (principal) => principal === 'manager' || principal === 'director',
      director: (principal) => principal === 'director',
    },
    actions: {
      pay: {
        process: 'pay',
        channel: 'manager',
        args: z.strictObject({ cents: z.int() }),
        cost: ({ cents }) => ({ cents: Math.max(cents, 0) }),
        apply: ({ spent }, { cents }, { role: { who } }) => {
          if (cents === 0) throw new Error('nothing is paid');
          spent[who] = (spent[who] ?? 0) + cents;
        },
        calls: ({ spent }, { cents }, { role: { who } }) =>
          cents === 1 ? [] : [call(pay, { to: who, total: spent[who] as number })],
        onApprove: ({ by }, _args, { counselor, role: { who } }) => {
          by[who] = counselor;
        },
      },
    },
    invariants: ({ each, eachCall }) => [
      each('LIMIT', '/spent/*', {}, (cents) => (cents <= 16 ? pass : reject('too much'))),
      eachCall('DIRECTOR', pay, { channel: 'director' }, ({ input }) =>
        input.total <= 10 ? pass : escalate('a director decides'),
      ),
    ],
  });
  return { paid, pay, domain };
}

interface Payment {
  readonly who: string;
  readonly cents: number;
}

const payment = fc.record({ who: fc.constantFrom(...PEOPLE), cents: fc.integer({ min: -1, max: 14 }) });
const budget = { cents: 30 };
const [free, careful] = [writFor('free'), writFor('careful', { require_approval: ['**'], budget, trajectory: 't' })];

function proposal({ who, cents }: Payment, writ = careful) {
  return { action: 'pay', role: { name: 'payer', params: { who } }, args: { cents }, writ };
}

/** A trajectory after these payments. */
async function after(history: readonly Payment[]) {
  const { paid, pay, domain } = payments();
  const store = new MemoryStore();
  const assize = runtimeOver(store, [domain], { tools: [pay] });
  const trajectory = (await assize.create(domain, { trajectoryId: 't' })) as unknown as Trajectory;
  for (const one of history) await trajectory.propose(proposal(one, free));
  const close = async (): Promise<void> => {
    await assize.recoverEffects();
    await assize.close();
    expect((await deepReplay(store, 't', { domains: [domain as never] })).differences).toEqual([]);
  };
  return { paid, trajectory, close };
}

/** The outcome of a decision: the code of its refusal, or the content of its commit. */
async function outcome(decision: Promise<Ruling>, trajectory: Trajectory, paid: readonly string[]): Promise<object> {
  try {
    const ruling = await decision;
    if (ruling.ruling !== 'committed') return { ruling: ruling.ruling };
    const { budget_cost, delta, counselor, detection_vector } = readRow(ruling.entry).payload as CommitPayload;
    const effects = delta.effects.length;
    // The kind is that of the first proposal, whose entry names it.
    const isOverridden = counselor?.override === true;
    return { budget_cost, effects, isOverridden, detection_vector, paid, state: trajectory.state() };
  } catch (error) {
    return { refused: (error as { code?: string }).code };
  }
}

test('an amendment commits what proposing and approving its arguments commit', async () => {
  const met = { committed: 0, refused: 0, overridden: 0, another: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.array(payment, { maxLength: 3 }),
      payment,
      payment,
      fc.array(payment, { maxLength: 2 }),
      fc.constantFrom('manager', 'director'),
      fc.boolean(),
      async (history, first, amended, between, principal, override) => {
        const counselor = { principal, method: 'desk', override };
        const here = await after(history);
        const waits = await here.trajectory.propose(proposal(first));
        if (waits.ruling !== 'escalated') return here.close();
        for (const one of between) await here.trajectory.propose(proposal(one, free));
        const others = between.filter(({ who }) => who !== first.who);
        const there = await after([...history, ...others]);
        expect(there.trajectory.state()).toEqual(here.trajectory.state());
        const asked = await there.trajectory.propose(proposal(amended));

        const { role, args } = proposal(amended);
        const approving = here.trajectory.approvals.approve(waits.pending, { ...counselor, role, args });
        const made = await outcome(approving, here.trajectory, here.paid);

        const isDirectorsFirst = waits.channel.includes('director') && principal !== 'director';
        const isSame = first.who === amended.who && first.cents === amended.cents;
        if (isDirectorsFirst) expect(made).toEqual({ refused: 'unauthorised_counselor' });
        else if (isSame) expect(made).toEqual({ refused: 'invalid_amendment' });
        else if (asked.ruling === 'rejected' && asked.reason === 'invariant_rejected') {
          if (!override) expect(made).toEqual({ refused: 'override_needed' });
          else if (principal === 'director') {
            expect(made).toMatchObject({ isOverridden: true });
            met.overridden++;
          }
        } else if (asked.ruling === 'rejected') expect(made).toEqual({ refused: 'invalid_amendment' });
        else {
          if (asked.ruling !== 'escalated') throw new Error(asked.ruling);
          const decision = there.trajectory.approvals.approve(asked.pending, counselor);
          const reference = await outcome(decision, there.trajectory, there.paid);
          expect(made).toEqual(reference);
          if ('refused' in made) met.another++;
          else met.committed++;
        }
        if ('refused' in made) {
          met.refused++;
          expect(here.trajectory.approvals.pending().map(({ id }) => id)).toEqual([waits.pending]);
        }
        await here.close();
        await there.close();
      },
    ),
    { numRuns: cases(200) },
  );
  expect(met.committed).toBeGreaterThan(0);
});
