import { seededRandom } from 'assize/internal/oracle';
import { describe, expect, test } from 'vitest';
import { errorOf } from '../../../../tests/support/process/errors.ts';
import {
  CHAIN_LEVELS,
  dominates,
  type Level,
  level,
  onChain,
  requirementOfPipeline,
} from '../isolation/index.ts';
import { checkBridge, drawn } from './bridge.ts';
import { pipelines } from './composition.ts';
import {
  bridgeGrid,
  composition,
  compositionWithPins,
  counterfactual,
  defences,
  driftGrid,
  extraSchedules,
  FOLDS,
  folded,
  foldedInTurn,
  type Grid,
  isoMatrix,
  operatorAblation,
  oracleVariance,
  orders,
  type Row,
  schedule,
  schemaAxis,
  schemaByCarrier,
  tokenRecall,
  trajectory,
  weakening,
} from './index.ts';
import { RandomDraws } from './random-draws.ts';

const chance = () => seededRandom(42);

/** Every cell is as it has to be, and there are so many. */
function expectExact({ isExact, rows }: Grid, count: number): void {
  expect(isExact).toBe(true);
  expect(rows).toHaveLength(count);
  expect(rows.filter(({ expected, found }) => expected !== found)).toEqual([]);
}

/** A line for each first coordinate, in the order of the second. */
/** The cells whose figure the paper prints. */
function printedOf({ rows }: Grid): readonly Row[] {
  return rows.filter(({ reported }) => reported !== undefined);
}

function tableOf(rows: readonly Row[], line: string): Record<string, string> {
  const table: Record<string, string> = {};
  for (const { cell, found } of rows)
    table[String(cell[line])] = (table[String(cell[line])] ?? '') + found;
  return table;
}

const count = (rows: readonly Row[], found: number): number =>
  rows.filter((row) => row.found === found).length;

describe('isolation matrix', () => {
  const grid = isoMatrix(chance());

  test('54 cells: 32 safe, 22 admit', () => {
    expectExact(grid, 54);
    expect([count(grid.rows, 0), count(grid.rows, 1)]).toEqual([32, 22]);
  });

  test('as Definition 2 and Table 3 have them; the callback makes no difference', () => {
    expect(tableOf(grid.rows, 'anomaly')).toEqual({
      P0: '000000',
      P1: '000000',
      P2: '110000',
      P3: '111100',
      P4: '110000',
      A5A: '110000',
      A5B: '111100',
      N1: '111100',
      N2: '111100',
    });
  });

  test('extra schedules: variants as printed, and anomalies below RC', () => {
    const beside = extraSchedules(chance());
    expectExact(beside, 6 * 6 + 2);
    expect(tableOf(beside.rows, 'schedule')).toEqual({
      'A5A as printed, the last read being of a third row': '000000',
      'A5A as printed, the last read being of the second row': '110000',
      'P3 as measured: two that scan and insert (E.6)': '111100',
      'P3 by the second look (A3)': '110000',
      'N1 without a key (B.2.1)': '111111',
      'N2 as printed': '111111',
      P0: '1',
      P1: '1',
    });
    // Where the guards of Table 3 have another figure there is a reason; the paper prints none.
    const otherwise = beside.rows.filter(({ because }) => because !== undefined);
    expect(otherwise.every(({ because }) => because !== '')).toBe(true);
    expect(otherwise).toHaveLength(8);
    expect(printedOf(beside)).toEqual([]);
  });
});

test('weakening: each operator exposes its failure only below its level', () => {
  const { rows } = weakening();
  expectExact(weakening(), 8);
  expect(rows.map(({ cell, found }) => [cell['history'], cell['level'], found])).toEqual([
    ['LWW-RU', 'none', 1],
    ['LWW-RU', 'RC', 0],
    ['EVI-RC', 'RC', 1],
    ['EVI-RC', 'SI', 0],
    ['AWAIT-NOCB', 'RC', 1],
    ['AWAIT-NOCB', 'RC+cb', 0],
    ['RULE-SI', 'SI', 1],
    ['RULE-SI', 'RC, SR on policy', 0],
  ]);
});

describe('schema', () => {
  test('12 cells: base admits N3 on six, the audit row excludes it on six', () => {
    const grid = schemaAxis(chance());
    expectExact(grid, 12);
    expect(tableOf(grid.rows, 'schema')).toEqual({ base: '111111', audit_row: '000000' });
  });

  test('the paper’s predicate finds no erasure in 𝔹, even in the base schema', () => {
    const grid = schemaByCarrier(chance());
    expectExact(grid, 6);
    expect(tableOf(grid.rows, 'carrier')).toEqual({
      multilinear: '10',
      multidegree: '10',
      boolean: '00',
    });
    expect(
      grid.rows.filter(({ because }) => because !== undefined).map(({ cell }) => cell),
    ).toEqual([{ carrier: 'boolean', schema: 'base' }]);
    expect(printedOf(grid)).toEqual([]);
  });
});

describe('composition', () => {
  const { rows } = composition();

  test('1,364 pipelines under six levels: 2,219 dominating, 5,965 not', () => {
    expectExact(composition(), 8_184);
    expect([count(rows, 0), count(rows, 1)]).toEqual([2_219, 5_965]);
  });

  test('up to length 3: 193 and 311', () => {
    expectExact(composition(3), 504);
    const short = rows.filter(({ cell }) => Number(cell['length']) <= 3);
    expect([count(short, 0), count(short, 1)]).toEqual([193, 311]);
  });

  test('the pin is an axis of the order: as an outside condition counts differ', () => {
    const counts = (lengthMax: number, needed: (declared: Level) => Level): number[] => {
      const cells = pipelines(lengthMax).flatMap((pipeline) => {
        const need = needed(requirementOfPipeline(pipeline).declared);
        return CHAIN_LEVELS.map((of) => dominates(of, need));
      });
      return [cells.filter(Boolean).length, cells.filter((is) => !is).length];
    };
    expect([counts(3, onChain), counts(5, onChain)]).toEqual([
      [193, 311],
      [2_219, 5_965],
    ]);
    expect([counts(3, (of) => of), counts(5, (of) => of)]).toEqual([
      [193, 311],
      [2_219, 5_965],
    ]);
    const outside = ({ iso, cb }: Level): Level => level(iso, { cb });
    expect([counts(3, outside), counts(5, outside)]).toEqual([
      [299, 205],
      [3_879, 4_305],
    ]);
  });

  test('only SR with callback is enough for every pipeline', () => {
    const levels = ['RC', 'RC+cb', 'SI', 'SI+cb', 'SR', 'SR+cb'];
    const admitting = levels.filter((name) =>
      rows.some(({ cell, found }) => cell['level'] === name && found === 1),
    );
    expect(admitting).toEqual(levels.slice(0, -1));
  });

  test('a pin on the policy table is enough for a rule, as Theorem 12 (4) has it', () => {
    expectExact(compositionWithPins(), 13_640);
  });
});

test('N2 by partition: serializable admits none, others by concurrency alone', () => {
  const { rows } = driftGrid(chance());
  expect(rows).toHaveLength(36);
  for (const { cell, expected, found } of rows) {
    const isCertain = cell['level'] === 'SR' || cell['contention'] === 1;
    // Four and a half standard deviations of 200 schedules.
    expect(Math.abs(found - expected), JSON.stringify(cell)).toBeLessThanOrEqual(
      isCertain ? 0 : 0.16,
    );
  }
});

describe('a judge that answers by chance', () => {
  test('two judgements differ with rate 2p(1−p) without a log, never with one', () => {
    const { rows } = oracleVariance(chance());
    expect(rows).toHaveLength(60);
    for (const { cell, expected, found } of rows) {
      const isCertain = cell['log'] === 'keyed' || cell['p'] === 0 || cell['p'] === 1;
      expect(Math.abs(found - expected), JSON.stringify(cell)).toBeLessThanOrEqual(
        isCertain ? 0 : 0.1,
      );
    }
    expect(Math.max(...rows.map(({ expected }) => expected))).toBeGreaterThan(0.49);
  });

  test('t judgements agree as often as C(t), and always with a log', () => {
    const { rows } = trajectory(chance());
    expect(rows).toHaveLength(48);
    for (const { cell, expected, found } of rows)
      expect(Math.abs(found - expected), JSON.stringify(cell)).toBeLessThanOrEqual(
        cell['log'] === 'keyed' ? 0 : 0.035,
      );
    const none = rows.filter(({ cell }) => cell['log'] === 'none');
    expect(none.map(({ expected }) => expected)).toEqual(
      none.map(({ expected }) => expected).sort((a, b) => b - a),
    );
    expect(none[0]!.expected).toBeCloseTo(1, 12);
  });
});

describe('bridge', () => {
  test('1,000 schedules of twelve events, under each level', () => {
    expectExact(bridgeGrid(chance()), 12);
  });

  test('judgements do differ below SR, and never at SR', () => {
    const differing = (['RC', 'SI', 'SR'] as const).map(
      (iso) =>
        drawn(chance(), 1_000).filter((steps) => checkBridge(steps, iso).differing > 0).length,
    );
    expect(differing[0]).toBeGreaterThan(100);
    expect(differing[1]).toBeGreaterThanOrEqual(differing[0]!);
    expect(differing[2]).toBe(0);
  });

  test('without H1 the lemma does not hold', () => {
    const wrong = drawn(chance(), 1_000).filter(
      (steps) => !checkBridge(steps, 'RC', false).isEquivalent,
    );
    expect(wrong.length).toBeGreaterThan(10);
    // The second transaction asked again and committed before the first. Neither read twice, and
    // neither missed an existing row.
    expect(checkBridge(schedule('j1(R,θ) j2(R,θ) c2 c1'), 'RC', false).isEquivalent).toBe(false);
    expect(checkBridge(schedule('j1(R,θ) j2(R,θ) c2 c1'), 'RC').isEquivalent).toBe(true);
  });
});

describe('carriers', () => {
  test('a defence excludes its own anomaly and no other, in every carrier', () => {
    const grid = defences(chance());
    expectExact(grid, 27);
    expect(
      grid.rows.filter(({ cell }) => cell['carrier'] !== 'boolean').map(({ found }) => found),
    ).toEqual([1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1]);
  });

  test('token recall is 1, 1 and 0', () => {
    const grid = tokenRecall(chance());
    expectExact(grid, 3);
    expect(grid.rows.map(({ found }) => found)).toEqual([1, 1, 0]);
  });

  test('by shift multidegree recovers all, others none; 106/375 is only reported', () => {
    const grid = counterfactual(chance());
    expectExact(grid, 3);
    expect(grid.rows.map(({ cell, found }) => [cell['carrier'], found])).toEqual([
      ['multilinear', 0],
      ['multidegree', 1],
      ['boolean', 0],
    ]);
    expect(grid.rows.map(({ reported }) => reported)).toEqual([106 / 375, 1, 0]);
  });
});

describe('conflict sets', () => {
  test('there are n! orders, each once', () => {
    for (const [size, count] of [1, 1, 2, 6, 24, 120].entries()) {
      const all = [...orders(size)].map((order) => order.join());
      expect(new Set(all).size).toBe(count);
      expect(all).toHaveLength(count);
      for (const order of all)
        expect(order.split(',').filter(Boolean).sort()).toEqual(
          [...Array(size).keys()].map(String),
        );
    }
  });

  test('in any order the same candidate wins; each audit row derives from all', () => {
    // Computed by hand: of assertions in one commit, the greatest claim is the last writer. The
    // surest two are 1 and 3.
    const winners = { lww: [1, 2, 3, 4], evi: [1, 1, 3, 3] };
    for (const strategy of FOLDS)
      for (const [i, size] of [2, 3, 4, 5].entries())
        for (const order of orders(size))
          expect(folded(strategy, order)).toEqual({
            winner: `claim ${winners[strategy][i]}`,
            provenance: [...Array(size).keys()].map((n) => `w:@${n}`).join(' + '),
            isComplete: true,
          });
  });

  test('with serial commits in any order the surest wins; all losers are named', () => {
    for (const size of [2, 3, 4, 5])
      for (const order of orders(size))
        expect(foldedInTurn(order), String(order)).toEqual({
          winner: `claim ${size - 1}`,
          provenance: [...Array(size).keys()].map((n) => `w:@${n}`).join(' + '),
          isComplete: true,
        });
  });

  test('an invalid order is refused', () => {
    for (const order of [[], [0], [0, 0], [0, 2], [...Array(9).keys()]])
      for (const call of [() => folded('lww', order), () => foldedInTurn(order)])
        expect(errorOf(call)).toMatchObject({ code: 'bad_order' });
    expect(errorOf(() => folded('rule' as never, [0, 1]))).toMatchObject({ code: 'bad_argument' });
    expect(errorOf(() => [...orders(9)])).toMatchObject({ code: 'bad_argument' });
  });
});

test('an operator is right as often as its input is; printed figures are noted', () => {
  const { rows, isExact } = operatorAblation(chance(), 300);
  expect(isExact).toBe(false);
  expect(rows).toHaveLength(12);
  // Four and a half standard deviations of 300 trials.
  for (const { cell, expected, found } of rows)
    expect(Math.abs(found - expected), JSON.stringify(cell)).toBeLessThanOrEqual(
      4.5 * Math.sqrt((expected * (1 - expected)) / 300),
    );
  for (const [workload, operator] of [
    ['N1', 'await'],
    ['N2', 'evi'],
    ['N3', 'rule'],
  ]) {
    const column = rows.filter(({ cell }) => cell['workload'] === workload);
    expect(
      column.reduce((best, row) => (row.found > best.found ? row : best)).cell['operator'],
    ).toBe(operator);
  }
  expect(rows.map(({ reported }) => reported)).toEqual([
    0.08, 0.24, 0.08, 0.46, 0.88, 0.6, 0.94, 0.4, 0.64, 0.62, 0.52, 0.98,
  ]);
});

describe('chance', () => {
  test('the same bytes, the same cells', () => {
    expect(driftGrid(chance(), 20)).toEqual(driftGrid(chance(), 20));
    expect(driftGrid(chance(), 20)).not.toEqual(driftGrid(seededRandom(43), 20));
  });

  test('numbers are even, and merged lists keep their orders', () => {
    const drawing = new RandomDraws(chance());
    const numbers = Array.from({ length: 10_000 }, () => drawing.below(10));
    for (let n = 0; n < 10; n++)
      expect(Math.abs(numbers.filter((one) => one === n).length - 1_000)).toBeLessThan(150);
    const merges = new Map<string, number>();
    for (let i = 0; i < 6_000; i++) {
      const merged = drawing.merged([['a', 'b'], ['C', 'D'], []]).join('');
      merges.set(merged, (merges.get(merged) ?? 0) + 1);
    }
    expect([...merges.keys()].sort()).toEqual(['CDab', 'CaDb', 'CabD', 'aCDb', 'aCbD', 'abCD']);
    for (const times of merges.values()) expect(Math.abs(times - 1_000)).toBeLessThan(150);
  });

  test('a source that gives less than it was asked for is refused', () => {
    const poor = { bytes: () => new Uint8Array(3) };
    expect(errorOf(() => isoMatrix(poor))).toMatchObject({
      code: 'bad_random',
      evidence: { given: 3 },
    });
    expect(errorOf(() => isoMatrix({ bytes: () => undefined } as never))).toMatchObject({
      code: 'bad_random',
    });
    expect(errorOf(() => isoMatrix({} as never))).toMatchObject({ code: 'bad_argument' });
  });

  test('counts are whole and from 1', () => {
    const random = chance();
    for (const call of [
      () => isoMatrix(random, 0),
      () => extraSchedules(random, 1.5),
      () => schemaAxis(random, 0),
      () => schemaByCarrier(random, 0),
      () => composition(0),
      () => compositionWithPins(8),
      () => driftGrid(random, Number.NaN),
      () => oracleVariance(random, 0),
      () => trajectory(random, 2_000_000),
      () => bridgeGrid(random, 0),
      () => defences(random, 0),
      () => tokenRecall(random, 0),
      () => counterfactual(random, 0),
      () => operatorAblation(random, 0),
    ])
      expect(errorOf(call)).toMatchObject({ code: 'bad_argument' });
  });
});
