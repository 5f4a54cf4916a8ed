import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CommitPayload, readRow } from '#ledger';
import type { Ruling, Trajectory } from '#runtime';
import { cases } from '../support/cases.ts';
import { after, free, payment, proposal } from './payments.ts';

// An amendment commits what a proposal of the amended arguments and its approval commit: the same
// state, the same cost and the same calls. The amount of a payment follows from the state.

/** The outcome of a decision: the code of its refusal, or the content of its commit. */
async function outcome(
  decision: Promise<Ruling>,
  trajectory: Trajectory,
  paid: readonly string[],
): Promise<object> {
  try {
    const ruling = await decision;
    if (ruling.ruling !== 'committed') return { ruling: ruling.ruling };
    const { budget_cost, delta, counselor, detection_vector } = readRow(ruling.entry)
      .payload as CommitPayload;
    const effects = delta.effects.length;
    // The kind is that of the first proposal, whose entry names it.
    const isOverridden = counselor?.override === true;
    return {
      budget_cost,
      effects,
      isOverridden,
      detection_vector,
      paid,
      state: trajectory.state(),
    };
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
        const approving = here.trajectory.approvals.approve(waits.pending, {
          ...counselor,
          role,
          args,
        });
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
        } else if (asked.ruling === 'rejected')
          expect(made).toEqual({ refused: 'invalid_amendment' });
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
