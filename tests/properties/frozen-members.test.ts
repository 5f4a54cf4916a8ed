import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { isAssizeError } from '#base';
import { defineDomain, escalate, pass, reject } from '#kernel';
import { cases, hasUsualCases } from '../support/cases.ts';
import { intent, runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { clone } from '../support/models/json.ts';

// A pending proposal under `freeze: 'footprint'` has the same outcome whenever it is approved
// (decisions §2.5). The rule checks each cell by its own number and that of the cell it refers to.
// So each change touches a few cells, and leaves others alone.

const CELLS = ['a', 'b', 'c', 'd', 'e'] as const;

type Cell = { v: number; at: string; ok: boolean };
type Sheet = { cells: { [name: string]: Cell } };

function verdictOn({ v, ok }: Cell, seen: Cell | undefined): 'pass' | 'reject' | 'escalate' {
  const sum = v + (seen?.v ?? 0);
  if (sum > 7) return 'reject';
  return sum > 4 && !ok ? 'escalate' : 'pass';
}

const sheet = defineDomain<any, any>({
  name: 'sheet',
  version: '1',
  freeze: 'footprint',
  state: z.object({
    cells: z.record(z.string(), z.object({ v: z.int(), at: z.string(), ok: z.boolean() })),
  }),
  initial: { cells: {} },
  processes: { fill: { writes: ['/cells/{cell}'] } },
  roles: { writer: { params: ['cell'], processes: ['fill'] } },
  actions: {
    fill: {
      process: 'fill',
      args: z.object({ v: z.int(), at: z.string() }),
      apply: ({ cells }: Sheet, { v, at }: Cell, { role }: any) => {
        cells[role.cell] = { v, at, ok: false };
      },
    },
  } as never,
  invariants: ({ each }: any) => [
    each(
      'SUM',
      '/cells/*',
      {
        reads: ['/cells/*'],
        with: ({ at }: Cell) => ({ seen: `/cells/${at}` }),
        onApprove: ({ cells }: Sheet, { keys: [name] }: any) => {
          (cells[name] as Cell).ok = true;
        },
      },
      (cell: Cell, { seen }: any) => {
        const says = verdictOn(cell, seen);
        if (says === 'pass') return pass;
        return says === 'reject' ? reject('too much') : escalate('is it so?');
      },
    ),
  ],
  counselors: { doctor: (principal: string) => principal === 'doc' },
});

interface Fill {
  readonly do: 'fill';
  readonly cell: string;
  readonly v: number;
  readonly at: string;
}

const name = fc.constantFrom(...CELLS);
const fill: fc.Arbitrary<Fill> = fc.record({
  do: fc.constant('fill' as const),
  cell: name,
  v: fc.nat(6),
  at: name,
});
const schedule = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fill },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constantFrom('approve' as const, 'reject' as const),
        which: fc.nat(3),
      }),
    },
  ),
  { minLength: 6, maxLength: 24 },
);

/** The result of approving a proposal immediately, on the state that it was made on. */
function atOnce({ cells }: Sheet, { cell, v, at }: Fill): { found: string; outcome: string } {
  const after = { ...cells, [cell]: { v, at, ok: false } };
  const verdict = (key: string) => verdictOn(after[key] as Cell, after[(after[key] as Cell).at]);
  const failing = (): string[] =>
    Object.keys(after)
      .sort()
      .filter((key) => verdict(key) !== 'pass');
  const [found = ''] = failing();
  after[found] = { ...(after[found] as Cell), ok: true };
  // Nothing overrides a rejection.
  const [left] = failing();
  return {
    found,
    outcome:
      left === undefined
        ? 'committed'
        : verdict(left) === 'reject'
          ? 'final_rule'
          : 'override_needed',
  };
}

test('an approval has the same result for any commits while it was pending', async () => {
  const met = { between: 0, frozen: 0, approved: 0, byRules: 0 };
  await fc.assert(
    fc.asyncProperty(schedule, async (steps) => {
      const trajectory = await runtimeOver(new MemoryStore(), [sheet]).create(sheet, {
        trajectoryId: 't',
      });
      const waiting: { id: string; expected: ReturnType<typeof atOnce>; since: number }[] = [];
      let count = 0;
      for (const step of steps) {
        if (step.do === 'fill') {
          const before = clone(trajectory.state()) as Sheet;
          const ruling = await trajectory.propose(
            intent('fill', { v: step.v, at: step.at }, writFor('alice'), {
              role: { name: 'writer', params: { cell: step.cell } },
            }),
          );
          if (ruling.ruling === 'escalated') {
            waiting.push({ id: ruling.pending, expected: atOnce(before, step), since: count });
          }
          if (ruling.ruling === 'committed') count++;
          if (ruling.ruling === 'frozen') {
            met.frozen++;
            if (ruling.detail.includes('a rule')) met.byRules++;
          }
          continue;
        }
        const [one] = waiting.splice(step.which % Math.max(1, waiting.length), 1);
        if (one === undefined) continue;
        const doctor = { principal: 'doc', method: 'test' };
        if (step.do === 'reject') {
          await trajectory.approvals.reject(one.id, { ...doctor, reason: 'no' });
          continue;
        }
        const outcome = await trajectory.approvals.approve(one.id, doctor).then(
          ({ ruling }) => ruling,
          (error: unknown) => {
            if (!isAssizeError(error)) throw error;
            return error.code;
          },
        );
        // Its mark may change a cell that another pending proposal freezes. That proposal must be
        // resolved first.
        if (outcome === 'frozen') continue;
        expect(outcome).toBe(one.expected.outcome);
        met.approved++;
        if (count > one.since) met.between++;
        if (outcome === 'committed') {
          count++;
          expect((trajectory.state() as Sheet).cells[one.expected.found]).toMatchObject({
            ok: true,
          });
        } else await trajectory.approvals.reject(one.id, { ...doctor, reason: 'no' });
      }
    }),
    { numRuns: cases(1_000) },
  );
  // The test proves something only if other proposals commit in the meantime, and if the rules'
  // reads freeze some.
  if (hasUsualCases()) for (const times of Object.values(met)) expect(times).toBeGreaterThan(0);
});
