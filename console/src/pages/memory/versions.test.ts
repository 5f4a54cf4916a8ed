import { expect, test } from 'vitest';
import { OPEN_END } from '../../parts/times.ts';
import type { Fact } from './memory-queries.ts';
import { versionsOf } from './versions.ts';

const day = (n: number): string => `2026-01-0${n}T00:00:00.000000Z`;

function fact(given: Partial<Fact>): Fact {
  return {
    ...{
      fact_id: 'a',
      subject: 'ada',
      predicate: 'phone',
      object: '1',
      lineage: 'a',
      entry_id: 'e',
      confidence: 1,
    },
    ...{
      valid_from: day(1),
      valid_to: OPEN_END,
      system_time_start: day(1),
      system_time_end: OPEN_END,
    },
    ...{ row_kind: 'current', resolution_strategy_id: 'lww', provenance_id: 'w:e#0' },
    ...given,
  } as Fact;
}

const closed = fact({ system_time_end: day(2) });
const left = fact({ fact_id: 'a2', system_time_start: day(2), valid_to: day(3) });
const winner = fact({
  fact_id: 'b',
  lineage: 'b',
  object: '2',
  system_time_start: day(2),
  valid_from: day(3),
});
const witness = JSON.stringify({ members: [{ claim: 'a', object: '1' }] });
const audit = fact({
  fact_id: 'audit',
  row_kind: 'audit',
  object: witness,
  system_time_start: day(2),
  valid_from: day(3),
});

const standings = (facts: readonly Fact[]) =>
  versionsOf(facts).map((one) => [one.object, one.standing]);

test('a version that lost joins the contradiction that ended it', () => {
  expect(standings([winner, audit, left, closed])).toEqual([
    ['1', 'lost'],
    ['1', 'believed'],
    ['2', 'believed'],
  ]);
});

test('what was never held is refused, and what only ended is replaced', () => {
  expect(standings([closed, { ...audit, system_time_start: day(4) }])).toEqual([
    ['1', 'replaced'],
    ['1', 'refused'],
  ]);
  expect(standings([{ ...audit, valid_from: day(1), lineage: 'c' }])).toEqual([
    [undefined, 'refused'],
  ]);
});

test('an erased contradiction has no object', () => {
  expect(standings([{ ...audit, object: '{"$erased":"x"}' }])).toEqual([[undefined, 'refused']]);
  expect(standings([{ ...audit, object: '{"$erased":' }])).toEqual([[undefined, 'refused']]);
});
