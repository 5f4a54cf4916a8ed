import { isDeepStrictEqual } from 'node:util';
import { STRATEGIES, type Strategy } from 'assize/internal/memory';
import { describe, expect, test } from 'vitest';
import { errorOf } from '../../../../tests/support/process/errors.ts';
import { expect as quickly } from '../../../../tests/support/quick-expect.ts';
import {
  ANOMALIES,
  CHAIN_LEVELS,
  dominates,
  excludes,
  ISOS,
  isoAt,
  join,
  joinOnChain,
  type Level,
  level,
  levelText,
  onChain,
  requirementOf,
  requirementOfPipeline,
  TABLES,
  type Table,
} from './index.ts';

const PIN_SETS = subsets(TABLES);

/** Every element, each once: 2 × 2 × 16 below SR, and SR with and without callback. */
const ALL: readonly Level[] = [
  ...new Map(
    ISOS.flatMap((iso) =>
      [false, true].flatMap((cb) => PIN_SETS.map((tablePins) => level(iso, { cb, tablePins }))),
    ).map((one) => [levelText(one), one]),
  ).values(),
];

function subsets(tables: readonly Table[]): Table[][] {
  const [first, ...rest] = tables;
  if (first === undefined) return [[]];
  return subsets(rest).flatMap((set) => [set, [first, ...set]]);
}

describe('the lattice', () => {
  test('has 66 elements', () => {
    expect(ALL).toHaveLength(66);
  });

  test('is ordered: reflexive, antisymmetric, transitive', () => {
    for (const a of ALL) {
      quickly(dominates(a, a)).toBe(true);
      for (const b of ALL) {
        if (dominates(a, b) && dominates(b, a)) quickly(a).toEqual(b);
        for (const c of ALL)
          if (dominates(a, b) && dominates(b, c) && !dominates(a, c))
            expect.fail(`${levelText(a)} ${levelText(c)}`);
      }
    }
  });

  test('a level dominates exactly if it is as strict on each table and callback', () => {
    for (const a of ALL)
      for (const b of ALL) {
        const tables = TABLES.every(
          (table) => ISOS.indexOf(isoAt(a, table)) >= ISOS.indexOf(isoAt(b, table)),
        );
        const elsewhere = ISOS.indexOf(a.iso) >= ISOS.indexOf(b.iso);
        quickly(dominates(a, b)).toBe(tables && elsewhere && Number(a.cb) >= Number(b.cb));
      }
  });

  test('join is the least upper bound', () => {
    for (const a of ALL)
      for (const b of ALL) {
        const least = join(a, b);
        quickly(dominates(least, a) && dominates(least, b)).toBe(true);
        for (const c of ALL)
          if (dominates(c, a) && dominates(c, b) && !dominates(c, least))
            expect.fail(`${levelText(c)} is less`);
      }
  });

  test('join is associative, commutative, idempotent; the empty join is bottom', () => {
    quickly(join()).toEqual(level('RC'));
    for (const a of ALL) {
      quickly(join(a, a)).toEqual(a);
      quickly(join(a, join())).toEqual(a);
      for (const b of ALL) {
        quickly(join(a, b)).toEqual(join(b, a));
        for (const c of CHAIN_LEVELS) quickly(join(join(a, b), c)).toEqual(join(a, b, c));
      }
    }
  });

  test('on the chain, the join is the least of the six that dominates', () => {
    for (const a of ALL)
      for (const b of ALL) {
        const enough = CHAIN_LEVELS.filter((one) => dominates(one, a) && dominates(one, b));
        // A pin is only had by SR there, but for a level that has none.
        quickly(enough.some((one) => isDeepStrictEqual(one, joinOnChain(a, b)))).toBe(true);
        for (const one of enough) quickly(dominates(one, joinOnChain(a, b))).toBe(true);
      }
  });

  test('pins say nothing more under SR, and stand in order, each once', () => {
    expect(level('SR', { tablePins: ['policy'] })).toEqual(level('SR'));
    expect(level('RC', { tablePins: ['policy', 'facts', 'policy'] }).tablePins).toEqual([
      'facts',
      'policy',
    ]);
    expect(dominates({ iso: 'SR', cb: false, tablePins: ['policy'] }, level('SR'))).toBe(true);
    expect(levelText(level('SI', { cb: true, tablePins: ['policy', 'facts'] }))).toBe(
      'SI+cb, SR on facts and policy',
    );
  });

  test.each([
    [{ iso: 'RR' }],
    [{ iso: 'RC', cb: 1 }],
    [{ iso: 'RC', cb: true, tablePins: 'policy' }],
    [{ iso: 'RC', cb: true, tablePins: ['rows'] }],
  ])('%j is not a level', (given) => {
    for (const call of [
      () => level(given.iso as never, given as never),
      () => join(given as never),
    ])
      expect(errorOf(call)).toMatchObject({ code: 'bad_level' });
  });

  test('a value that is not an object is not a level', () => {
    expect(errorOf(() => dominates(level('RC'), undefined as never))).toMatchObject({
      code: 'bad_argument',
    });
    expect(errorOf(() => isoAt(level('RC'), 'rows' as never))).toMatchObject({ code: 'bad_level' });
  });
});

describe('the required isolation level', () => {
  const OPERATORS: readonly Strategy[] = ['lww', 'evi', 'await', 'rule'];

  test('Table 10: of each two operators, table by table and on the chain', () => {
    const table = (of: (a: Strategy, b: Strategy) => Level): string[][] =>
      OPERATORS.map((a) => OPERATORS.map((b) => levelText(of(a, b))));
    const declared = (a: Strategy, b: Strategy): Level => requirementOfPipeline([a, b]).declared;
    expect(table(declared)).toEqual([
      ['RC', 'SI', 'RC+cb', 'RC, SR on policy'],
      ['SI', 'SI', 'SI+cb', 'SI, SR on policy'],
      ['RC+cb', 'SI+cb', 'RC+cb', 'RC+cb, SR on policy'],
      ['RC, SR on policy', 'SI, SR on policy', 'RC+cb, SR on policy', 'RC, SR on policy'],
    ]);
    expect(table((a, b) => onChain(declared(a, b)))).toEqual([
      ['RC', 'SI', 'RC+cb', 'SR'],
      ['SI', 'SI', 'SI+cb', 'SR'],
      ['RC+cb', 'SI+cb', 'RC+cb', 'SR+cb'],
      ['SR', 'SR', 'SR+cb', 'SR'],
    ]);
  });

  test('the enforced level covers the declared one and excludes its anomalies', () => {
    for (const operator of STRATEGIES) {
      const { declared, enforced } = requirementOf(operator);
      expect(dominates(enforced, declared)).toBe(true);
      for (const anomaly of ANOMALIES)
        for (const table of TABLES)
          expect(excludes(enforced, anomaly, table), `${operator} ${anomaly}`).toBe(true);
    }
    expect(excludes(requirementOf('evi').declared, 'A5B')).toBe(false);
    expect(excludes(requirementOf('lww').declared, 'P4')).toBe(false);
    expect(excludes(requirementOf('rule').declared, 'P3', 'policy')).toBe(true);
    expect(excludes(requirementOf('rule').declared, 'P3')).toBe(false);
  });

  test('a pipeline of nothing needs nothing', () => {
    expect(requirementOfPipeline([]).declared).toEqual(level('RC'));
  });

  test('unknown names are refused', () => {
    expect(errorOf(() => requirementOf('toString' as never))).toMatchObject({
      reason: 'unknown_strategy',
    });
    expect(errorOf(() => requirementOfPipeline(['lww', 'max' as never]))).toMatchObject({
      reason: 'unknown_strategy',
    });
    expect(errorOf(() => excludes(level('RC'), 'N3' as never))).toMatchObject({
      code: 'unknown_anomaly',
    });
  });
});
