import { arg, checkArgument } from 'assize/internal/base';
import {
  CHAIN_LEVELS,
  dominates,
  type Level,
  level,
  levelText,
  onChain,
  requirementOfPipeline,
} from '../isolation/index.ts';
import { execute } from './execute.ts';
import type { Grid, Row } from './row.ts';
import { isExposed, OPERATORS, type Operator, stepOf } from './weakening.ts';

/**
 * Table 23, "T5 composition" (Theorem 12): every pipeline of up to `lengthMax` operators under six
 * levels. A pipeline is executed as one transaction. Each step has the history that weakening the
 * step exposes. The cell is 1 when any step is exposed. The paper adds noise of 2 % to each step.
 * This explains its 0.0904. These cells have no noise.
 */
export function composition(lengthMax = 5): Grid {
  return {
    name: 'composition',
    source: 'Theorem 12, Table 23',
    isExact: true,
    rows: cells(CHAIN_LEVELS, lengthMax, (pipeline) =>
      onChain(requirementOfPipeline(pipeline).declared),
    ),
  };
}

/**
 * The same under levels that pin only the policy table. There the join of Theorem 12 (4) applies,
 * not the join of the chain.
 */
export function compositionWithPins(lengthMax = 5): Grid {
  const pinned = (['RC', 'SI'] as const).flatMap((iso) =>
    [false, true].map((cb) => level(iso, { cb, tablePins: ['policy'] })),
  );
  return {
    name: 'composition with pins',
    source: 'Theorem 12 (4), Table 10',
    isExact: true,
    rows: cells(
      [...CHAIN_LEVELS, ...pinned],
      lengthMax,
      (pipeline) => requirementOfPipeline(pipeline).declared,
    ),
  };
}

/** There are four times as many of each length as of the one before. */
const LENGTH = arg.of(
  'a whole number from 1 to 7',
  (value) => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 7,
);

/** Every pipeline of 1 to so many operators, shorter ones first. */
export function pipelines(lengthMax: number): readonly (readonly Operator[])[] {
  checkArgument(LENGTH, lengthMax, 'lengthMax');
  let last: readonly (readonly Operator[])[] = [[]];
  return Array.from({ length: lengthMax }, () => {
    last = last.flatMap((pipeline) => OPERATORS.map((operator) => [...pipeline, operator]));
    return last;
  }).flat();
}

function cells(
  levels: readonly Level[],
  lengthMax: number,
  needed: (pipeline: readonly Operator[]) => Level,
): readonly Row[] {
  return pipelines(lengthMax).flatMap((pipeline) => {
    const steps = [
      ...pipeline.flatMap((operator, place) => stepOf(operator, place)),
      { tx: 1, kind: 'commit' } as const,
    ];
    const need = needed(pipeline);
    return levels.map((of): Row => {
      const execution = execute(steps, of);
      return {
        cell: { pipeline: pipeline.join(' '), length: pipeline.length, level: levelText(of) },
        expected: dominates(of, need) ? 0 : 1,
        found: Number([...new Set(pipeline)].some((operator) => isExposed(operator, execution))),
      };
    });
  });
}
