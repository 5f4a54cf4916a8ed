import { afterEach, describe, expect, test, vi } from 'vitest';
import { errorOf } from '../../../../tests/support/process/errors.ts';
import { saidOf } from '../../../../tests/support/said-of.ts';
import { readWitness } from './audit.ts';
import { type Claim, claimId } from './claim.ts';
import { checkedFacts, checkFact, checkFacts, contradicts, type FactRow } from './fact.ts';
import { OPEN_END, OPEN_START } from './period.ts';
import { applyPlan, asOf, diff, history, selectByRelation } from './read.ts';

const codeOf = (call: () => unknown): unknown => (errorOf(call) as { reason?: unknown }).reason;
const date = (text: string): string => `2026-${text}T00:00:00.000000Z`;

const row = (more: Partial<FactRow> = {}): FactRow => ({
  fact_id: 'f',
  subject: 'alice',
  predicate: 'medication',
  object: 'penicillin',
  valid_from: date('03-01'),
  valid_to: OPEN_END,
  system_time_start: date('03-02'),
  system_time_end: OPEN_END,
  provenance_id: 'p',
  confidence: 0.9,
  resolution_strategy_id: 'lww',
  row_kind: 'current',
  space: 's',
  entry_id: '@',
  seq: 0,
  resolution_id: null,
  lineage: 'f',
  asserted_seq: 0,
  asserted_from: date('03-01'),
  cardinality: 'single-valued',
  ...more,
});

describe('a row', () => {
  test.each<[string, object, string]>([
    ['a confidence that is not a number', { confidence: Number.NaN }, 'bad_confidence'],
    ['a confidence beyond one', { confidence: 1.5 }, 'bad_confidence'],
    ['a row kind', { row_kind: 'shadow' }, 'bad_argument'],
    ['an empty valid time', { valid_to: date('03-01') }, 'empty_period'],
    ['a reversed valid time', { valid_to: date('02-01') }, 'reversed_period'],
    ['an empty system time', { system_time_end: date('03-02') }, 'empty_period'],
    ['a reversed system time', { system_time_end: date('03-01') }, 'reversed_period'],
    ['a system time that never began', { system_time_start: OPEN_START }, 'bad_argument'],
    ['an instant of another width', { valid_from: '2026-03-01T00:00:00Z' }, 'no_instant'],
    ['a strategy', { resolution_strategy_id: 'newest' }, 'unknown_strategy'],
    ['a place', { seq: -1 }, 'bad_argument'],
    ['a cardinality', { cardinality: 'some' }, 'bad_argument'],
    ['a column that is not known', { colour: 'red' }, 'bad_argument'],
    ['an object', { object: 7 }, 'bad_text'],
  ])('is refused for %s', (_what, more, code) => {
    expect(codeOf(() => checkFact({ ...row(), ...more } as FactRow))).toBe(code);
  });

  test('lacks no column, and has its key alone', () => {
    const { space: _space, ...without } = row();
    expect(saidOf(() => checkFact(without as FactRow))).toMatch(
      'bad_argument: The fact row is not valid: space is missing.',
    );
    checkFacts([row(), row({ system_time_start: date('03-03') })]);
    expect(saidOf(() => checkFacts([row(), row()]))).toMatch(
      'bad_argument: Two versions of a fact start at the same system time. Give',
    );
  });

  test('contradicts a row with another object in an overlapping period', () => {
    const other = row({ object: 'none', valid_from: date('04-01') });
    expect(contradicts(row(), other)).toBe(true);
    expect(contradicts(row({ valid_to: date('04-01') }), other)).toBe(false);
    for (const more of [
      { object: 'penicillin' },
      { subject: 'bob' },
      { predicate: 'allergy' },
      { space: 't' },
    ])
      expect(contradicts(row(), { ...other, ...more })).toBe(false);
    expect(contradicts(row({ object: 'caf\u00e9' }), { ...other, object: 'cafe\u0301' })).toBe(
      false,
    );
    expect(contradicts(row({ object: 'caf\u00e9' }), { ...other, object: 'cafe' })).toBe(true);
  });
});

describe('the result of a read', () => {
  const closed = row({ system_time_end: date('04-01') });
  const left = row({ system_time_start: date('04-01'), valid_to: date('04-01') });
  const next = row({
    fact_id: 'g',
    object: 'none',
    valid_from: date('04-01'),
    system_time_start: date('04-01'),
  });
  const audit = row({
    fact_id: 'audit::f',
    object: '{}',
    row_kind: 'audit',
    system_time_start: date('04-01'),
    valid_from: date('04-01'),
  });
  const rows = [audit, next, left, closed];

  test('has the requested kind of rows, by default only current rows', () => {
    const point = { valid: date('05-01'), system: date('05-01') };
    expect(asOf(rows, point)).toEqual([next]);
    expect(asOf(rows, point, 'audit')).toEqual([audit]);
    expect(asOf(rows, point, 'all')).toEqual([audit, next]);
    expect(saidOf(() => asOf(rows, point, 'both' as never))).toMatch(
      'bad_argument: The row kind is not valid. Use current, audit or all.',
    );
    expect(codeOf(() => asOf(rows, { ...point, system: OPEN_END }))).toBe('no_instant');
  });

  test('is closed where a period begins and open where it ends, on both axes', () => {
    expect(asOf(rows, { valid: date('03-01'), system: date('03-02') })).toEqual([closed]);
    expect(asOf(rows, { valid: date('02-28'), system: date('03-02') })).toEqual([]);
    expect(asOf(rows, { valid: date('03-01'), system: date('04-01') })).toEqual([left]);
    expect(asOf(rows, { valid: date('04-01'), system: date('04-01') })).toEqual([next]);
    expect(
      asOf([row({ valid_from: OPEN_START, asserted_from: OPEN_START })], {
        valid: OPEN_START,
        system: date('04-01'),
      }).length,
    ).toBe(1);
  });

  describe('of a relation', () => {
    afterEach(() => vi.restoreAllMocks());
    const point = { valid: date('05-01'), system: date('05-01') };

    test('is the same, and its rows are checked once', () => {
      const relation = checkedFacts(rows);
      expect([relation, checkedFacts(relation)]).toEqual([rows, rows]);
      const plan = { kind: 'plan' as const, systemTime: date('06-01'), close: [left], insert: [] };
      const after = applyPlan(relation, plan);
      // The function that every check of a row calls.
      const checked = vi.spyOn(Number, 'isSafeInteger');
      expect(asOf(relation, point, 'all')).toEqual([audit, next]);
      expect(history(relation)).toEqual([closed, left, next]);
      expect(diff(after, point, point)).toEqual({ added: [], removed: [], revised: [] });
      expect(asOf(applyPlan(after, { ...plan, close: [next] }), point)).toEqual([
        { ...next, system_time_end: date('06-01') },
      ]);
      // The one that was closed.
      expect(checked).toHaveBeenCalledTimes(2);
      asOf(rows, point);
      expect(checked.mock.calls.length).toBeGreaterThan(2);
    });

    test('nothing can become of it', () => {
      const given = [{ ...next }];
      const relation = checkedFacts(given);
      (given[0] as { confidence: number }).confidence = 7;
      expect(asOf(relation, point)).toEqual([next]);
      expect(codeOf(() => asOf(given, point))).toBe('bad_confidence');
      expect(() => (relation as FactRow[]).push(left)).toThrow(TypeError);
      expect(() => Object.assign(relation[0] as FactRow, { confidence: 7 })).toThrow(TypeError);
      // A copy of a relation is not a relation.
      expect(saidOf(() => asOf([...relation, ...relation], point))).toMatch(
        'bad_argument: Two versions of a fact start at the same system time. Give',
      );
    });
  });

  test('as a history has every version, oldest first', () => {
    expect(history(rows)).toEqual([closed, left, next]);
    expect(history(rows, { subject: 'alice' }, 'all')).toEqual([closed, left, audit, next]);
    expect(history(rows, { subject: 'bob' })).toEqual([]);
  });

  test('differs between two points by added, removed and revised rows', () => {
    const before = { valid: date('05-01'), system: date('03-15') };
    expect(diff(rows, before, { valid: date('05-01'), system: date('05-01') })).toEqual({
      added: [next],
      removed: [closed],
      revised: [],
    });
    expect(diff(rows, before, { valid: date('03-15'), system: date('05-01') })).toEqual({
      added: [],
      removed: [],
      revised: [{ from: closed, to: left }],
    });
  });

  test('is chosen by Allen’s relations', () => {
    const march = { from: date('03-01'), to: date('04-01') };
    expect(selectByRelation(rows, ['equals', 'met-by'], march)).toEqual([audit, next, left]);
    expect(saidOf(() => selectByRelation(rows, ['near' as never], march))).toMatch(
      'bad_argument: The relation is not valid. Use one of before, meets,',
    );
  });

  test('is closed only where it is open', () => {
    const plan = { kind: 'plan' as const, systemTime: date('06-01'), close: [closed], insert: [] };
    expect(codeOf(() => applyPlan(rows, plan))).toBe('not_open');
    expect(applyPlan(rows, { ...plan, close: [left] })[2]).toEqual({
      ...left,
      system_time_end: date('06-01'),
    });
    expect(saidOf(() => applyPlan(rows, { ...plan, close: [], insert: [left] }))).toMatch(
      'bad_argument: Two versions of a fact start at the same system time. Give',
    );
  });

  test('as a witness is refused if it is not one', () => {
    for (const other of [row(), row({ row_kind: 'audit', object: 'a|b' }), audit])
      expect(saidOf(() => readWitness(other))).toMatch('damaged: The audit row is not valid:');
  });
});

test('a claim id is equal only for one event, and opaque without the key', () => {
  const key = new Uint8Array(32).fill(7);
  const claim: Claim = {
    space: 's',
    subject: 'alice',
    predicate: 'medication',
    object: 'penicillin',
    valid: { from: date('03-01'), to: OPEN_END },
    sourceEventId: 'e1',
  };
  const others: Partial<Claim>[] = [
    { space: 't' },
    { subject: 'bob' },
    { predicate: 'allergy' },
    { object: 'none' },
    { valid: { from: OPEN_START, to: OPEN_END } },
    { valid: { from: date('03-01'), to: date('04-01') } },
    { sourceEventId: 'e2' },
  ];
  const ids = [
    claimId(key, claim),
    claimId(new Uint8Array(32), claim),
    ...others.map((more) => claimId(key, { ...claim, ...more })),
  ];
  expect(new Set(ids).size).toBe(ids.length);
  expect(claimId(key, { ...claim })).toBe(ids[0]);
  expect(ids[0]).toMatch(/^[0-9a-f]{64}$/);
});
