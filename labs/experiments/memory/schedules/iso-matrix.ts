import { ANOMALIES, CHAIN_LEVELS, excludes, type Level, levelText } from '../isolation/index.ts';
import { type Discipline, execute } from './execute.ts';
import { type Bytes, RandomDraws, requireCount } from './random-draws.ts';
import type { Grid, Row } from './row.ts';
import type { Schedule, Step } from './schedule.ts';
import { EXTRA_SCHEDULES, WITNESS_TXS, WITNESSES, type Witness } from './witnesses.ts';

/**
 * Table 23, "iso-matrix" (Theorem 3, Corollaries 5 and 6): nine anomalies under six levels. Each
 * cell has the share of its schedules that show the anomaly. A schedule is the witness, merged with
 * other transactions that are drawn at random. The paper prints the number of cells that admit an
 * anomaly, and no figure of a single cell.
 */
export function isoMatrix(random: Bytes, schedules = 100): Grid {
  requireCount(schedules, 'schedules');
  const chance = new RandomDraws(random);
  const rows = ANOMALIES.flatMap((anomaly) =>
    CHAIN_LEVELS.map(
      (of): Row => ({
        cell: { anomaly, level: levelText(of) },
        expected: excludes(of, anomaly, anomaly === 'P3' ? 'policy' : 'facts') ? 0 : 1,
        found: admitted(WITNESSES[anomaly], of, schedules, chance),
      }),
    ),
  );
  return { name: 'isolation matrix', source: 'Theorem 3, Table 3, Table 23', isExact: true, rows };
}

/**
 * Schedules in addition to the matrix: schedules as printed, and below RC the two that RC excludes
 * (Proposition 2). The paper prints no figure of them. `because` is set if the paper's guards have
 * another value.
 */
export function extraSchedules(random: Bytes, schedules = 100): Grid {
  requireCount(schedules, 'schedules');
  const chance = new RandomDraws(random);
  const rows = (Object.keys(EXTRA_SCHEDULES) as (keyof typeof EXTRA_SCHEDULES)[]).flatMap((name) =>
    CHAIN_LEVELS.map((of): Row => {
      const { expected, anomaly, because } = OF_BESIDE[name];
      const guarded = excludes(of, anomaly, anomaly === 'P3' ? 'policy' : 'facts') ? 0 : 1;
      const row = {
        cell: { schedule: name, level: levelText(of) },
        expected: expected(of),
        found: admitted(EXTRA_SCHEDULES[name], of, schedules, chance),
      };
      return guarded === row.expected ? row : { ...row, because };
    }),
  );
  const below = (['P0', 'P1'] as const).map(
    (anomaly): Row => ({
      cell: { schedule: anomaly, level: 'none' },
      expected: 1,
      found: admitted(WITNESSES[anomaly], 'none', schedules, chance),
    }),
  );
  return {
    name: 'beside the matrix',
    source: 'B.2.1, B.5.1, Corollary 5, E.6',
    isExact: true,
    rows: [...rows, ...below],
  };
}

const OF_BESIDE: Readonly<
  Record<
    keyof typeof EXTRA_SCHEDULES,
    { anomaly: 'A5A' | 'P3' | 'N1' | 'N2'; expected: (of: Level) => number; because: string }
  >
> = {
  'A5A as printed, the last read being of a third row': {
    anomaly: 'A5A',
    expected: () => 0,
    because: 'both rows are read before either is written: nothing is skewed',
  },
  'A5A as printed, the last read being of the second row': {
    anomaly: 'A5A',
    expected: ({ iso }) => (iso === 'RC' ? 1 : 0),
    because: '',
  },
  'P3 as measured: two that scan and insert (E.6)': {
    anomaly: 'P3',
    expected: ({ iso }) => (iso === 'SR' ? 0 : 1),
    because: '',
  },
  'P3 by the second look (A3)': {
    anomaly: 'P3',
    expected: ({ iso }) => (iso === 'RC' ? 1 : 0),
    because:
      'a snapshot answers the second look like the first; what SI admits of P3 is the phenomenon',
  },
  'N1 without a key (B.2.1)': {
    anomaly: 'N1',
    expected: () => 1,
    because: 'without a log there is nothing for a level to hold (Theorem 17)',
  },
  'N2 as printed': {
    anomaly: 'N2',
    expected: () => 1,
    because:
      'the revision breaks the invariant alone, so the query and then the revision is a serial order that breaks it',
  },
};

/** The part of the schedules that show it. */
function admitted(
  witness: Witness,
  under: Discipline,
  schedules: number,
  chance: RandomDraws,
): number {
  let shown = 0;
  for (let i = 0; i < schedules; i++) {
    const steps = among(withCallbacks(witness.schedule, under), chance);
    const options = witness.initial === undefined ? {} : { initial: witness.initial };
    if (witness.shows(execute(steps, under, options))) shown += 1;
  }
  return shown / schedules;
}

/** Under a level with callback, each that writes has read one before it does. */
function withCallbacks(steps: Schedule, under: Discipline): Schedule {
  if (under === 'none' || !under.cb) return steps;
  const writers = new Set<number>();
  return steps.flatMap((step) => {
    if (step.kind !== 'write' || writers.has(step.tx)) return [step];
    writers.add(step.tx);
    return [{ tx: step.tx, kind: 'callback', handle: `h${step.tx}` } as const, step];
  });
}

/** The steps in their order, with some of other transactions between them, on rows of their own. */
function among(steps: Schedule, chance: RandomDraws): Schedule {
  const others = Array.from({ length: chance.below(3) }, (_, i) =>
    other(WITNESS_TXS + 1 + i, chance),
  );
  return chance.merged([steps, ...others]);
}

function other(tx: number, chance: RandomDraws): Schedule {
  const steps = Array.from({ length: 1 + chance.below(4) }, (): Step => {
    const item = `other${chance.below(3)}`;
    const kind = chance.oneOf(['read', 'write', 'judge'] as const);
    return kind === 'judge'
      ? { tx, kind, key: `other,${chance.below(2)}`, isLogged: true }
      : { tx, kind, item };
  });
  return [...steps, { tx, kind: chance.isSo(0.8) ? 'commit' : 'abort' }];
}
