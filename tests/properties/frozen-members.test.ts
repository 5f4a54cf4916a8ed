import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { isAssizeError } from '#base';
import { defineDomain, escalate, pass, reject } from '#kernel';
import { MemoryStore } from '#stores';
import { cases } from '../support/cases.ts';
import { clone } from '../support/json.ts';
import { intent, runtimeOver, writFor } from '../support/runtime.ts';

// What waits under `freeze: 'footprint'` means the same whenever it is approved (decisions §2.5). Cells are judged by their own
// figure and that of the cell that they look at, so that each change has a few that it touches, and others that it does not.

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
  state: z.object({ cells: z.record(z.string(), z.object({ v: z.int(), at: z.string(), ok: z.boolean() })) }),
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
const fill: fc.Arbitrary<Fill> = fc.record({ do: fc.constant('fill' as const), cell: name, v: fc.nat(6), at: name });
const schedule = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fill },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constantFrom('approve' as const, 'reject' as const), which: fc.nat(3) }),
    },
  ),
  { minLength: 6, maxLength: 24 },
);

/** What comes of approving a proposal on the state that it was made on, at once. */
function atOnce({ cells }: Sheet, { cell, v, at }: Fill): { found: string; outcome: 'committed' | 'override_needed' } {
  const after = { ...cells, [cell]: { v, at, ok: false } };
  const failing = (): string[] =>
    Object.keys(after)
      .sort()
      .filter((key) => verdictOn(after[key] as Cell, after[(after[key] as Cell).at]) !== 'pass');
  const [found = ''] = failing();
  after[found] = { ...(after[found] as Cell), ok: true };
  return { found, outcome: failing().length === 0 ? 'committed' : 'override_needed' };
}

test('an approval has the same result for any commits while it was pending', async () => {
  const met = { between: 0, frozen: 0, approved: 0, byRules: 0 };
  await fc.assert(
    fc.asyncProperty(schedule, async (steps) => {
      const trajectory = await runtimeOver(new MemoryStore(), [sheet]).create(sheet, { trajectoryId: 't' });
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
          await trajectory.reject(one.id, { ...doctor, reason: 'no' });
          continue;
        }
        const outcome = await trajectory.approve(one.id, doctor).then(
          ({ ruling }) => ruling,
          (error: unknown) => {
            if (!isAssizeError(error)) throw error;
            return error.code;
          },
        );
        // Its mark may be about a cell that another waits for: that one comes first.
        if (outcome === 'frozen') continue;
        expect(outcome).toBe(one.expected.outcome);
        met.approved++;
        if (count > one.since) met.between++;
        if (outcome === 'committed') {
          count++;
          expect((trajectory.state() as Sheet).cells[one.expected.found]).toMatchObject({ ok: true });
        } else await trajectory.reject(one.id, { ...doctor, reason: 'no' });
      }
    }),
    { numRuns: cases(1_000) },
  );
  // It says something only where others were committed meanwhile, and where some were stopped by what rules read.
  for (const times of Object.values(met)) expect(times).toBeGreaterThan(0);
});
