/** Random rules and calls against a naive interpreter of the same rules. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../tests/support/cases.ts';
import { type Desk, desk, said } from '../../../../tests/support/domains/gateway/desk.ts';
import {
  AGENTS,
  Naive,
  ruleFile,
  type Step,
  some,
  step,
  yamlOf,
} from '../../../../tests/support/domains/gateway/naive-rules.ts';

const secondsOf = ({ clock }: Desk): number => Date.parse(clock.now()) / 1_000;

test(
  'random rules and calls are ruled as a naive interpreter rules them',
  { timeout: 300_000 },
  () =>
    fc.assert(
      fc.asyncProperty(
        ruleFile,
        fc.array(step, { maxLength: 14 }),
        fc.boolean(),
        some(ruleFile),
        async (rules, steps, policy, later) => {
          const made = await desk(yamlOf(rules), { policy });
          let naive = new Naive(rules);
          const past: [Step, number, number][] = [];
          for (const [i, one] of steps.entries()) {
            // In the middle the rules change. Figures are then counted again from all calls.
            if (later !== undefined && !policy && i === 7) {
              const before = naive;
              const changed = await made
                .configure(yamlOf(later))
                .catch((error: Error) => error.message);
              if (typeof changed !== 'string') {
                expect(said(changed)).toBe('committed');
                naive = new Naive(later);
                for (const [call, at, reportedAt] of past) {
                  naive.committed(call, at);
                  naive.reported(call, reportedAt);
                }
              } else expect(before).toBe(naive);
            }
            made.clock.forward(one.seconds * 1_000);
            const args = { path: one.path, cents: one.cents };
            const id = `s${i}`;
            const [server, name] = one.tool.split('/');
            const ruling = await made.act('call', { id, server, tool: name, args }, one.agent);
            const at = secondsOf(made);
            const expected = naive.rule(one, at);
            const seen =
              ruling.ruling === 'committed'
                ? 'allow'
                : ruling.ruling === 'rejected'
                  ? 'deny'
                  : ruling.ruling;
            expect([i, one, seen === 'escalated' ? 'ask' : seen, said(ruling)].slice(0, 3)).toEqual(
              [i, one, typeof expected === 'number' ? 'ask' : expected],
            );
            let isCommitted = seen === 'allow';
            if (typeof expected === 'number') {
              let now = ruling;
              let people = 0;
              while (one.approved && now.ruling === 'escalated')
                now = await made.approve(now, `human:h${people++}`);
              if (one.approved) expect([now.ruling, people]).toEqual(['committed', expected]);
              else if (now.ruling === 'escalated')
                await made.trajectory.approvals.reject(now.pending, {
                  principal: 'human:h',
                  method: 'test',
                  reason: 'no',
                });
              isCommitted = one.approved;
            }
            if (!isCommitted) continue;
            naive.committed(one, at);
            if (one.outcome === 'open') {
              past.push([one, at, at]);
              continue;
            }
            expect(
              said(await made.act('report', { call: id, outcome: one.outcome }, one.agent)),
            ).toBe('committed');
            naive.reported(one, secondsOf(made));
            past.push([one, at, secondsOf(made)]);
          }
        },
      ),
      { numRuns: cases(400) },
    ),
);

test('no order of calls and approvals exceeds a limit', { timeout: 300_000 }, () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({ agent: fc.constantFrom(...AGENTS), cents: fc.integer({ min: 1, max: 60 }) }),
        {
          maxLength: 12,
        },
      ),
      fc.integer({ min: 20, max: 150 }),
      fc.array(fc.nat(20), { maxLength: 12 }),
      async (calls, max, order) => {
        const made = await desk(`
id: sum
tools: { bank/pay: { class: irreversible, amounts: { cents: /cents } } }
rules:
  - { id: small, allow: bank/pay, amount: { unit: cents, max: 30 } }
  - { id: rest, ask: bank/pay, amount: { unit: cents, min: 31 } }
limits:
  - { id: day, tools: bank/pay, per: day, unit: cents, max: ${max} }
`);
        const rulings = await Promise.all(
          calls.map(({ agent, cents }) => made.call(agent, 'bank/pay', { cents })),
        );
        const waiting = rulings.filter(({ ruling }) => ruling === 'escalated');
        for (const each of order) {
          const [next] = waiting.splice(each % Math.max(1, waiting.length), 1);
          if (next !== undefined)
            await made.approve(next).catch(({ code }) => expect(code).toBe('changed_since'));
        }
        const spent = Object.values(made.state().calls).reduce(
          (sum, { amounts }) => sum + (amounts['cents'] ?? 0),
          0,
        );
        expect(spent).toBeLessThanOrEqual(max);
        const used = Object.values(made.state().used).reduce((sum, amount) => sum + amount, 0);
        expect(used).toBe(spent);
      },
    ),
    { numRuns: cases(400) },
  ),
);
