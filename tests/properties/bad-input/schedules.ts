import { seededRandom } from '#oracle';
import { level as levelOf } from '../../../labs/experiments/memory/isolation/index.ts';
import * as experiments from '../../../labs/experiments/memory/schedules/index.ts';
import type { Case, Exempt } from './case.ts';
import { exempt, MADE, PORT, takes } from './table.ts';

const level = levelOf('RC', { cb: true, tablePins: ['policy'] });
const steps = experiments.schedule('r1[x] w2[x] c2 r1[x] j1(R,θ) c1');
const execution = experiments.execute(steps, level);
const belief = { cache: 'belief', rows: ['x'] };
const random = seededRandom(1);
const CHANCE = { '0': PORT };

/** The experiments of the memory paper on schedules. */
export const SCHEDULES: Readonly<Record<string, Case | Exempt>> = {
  extraSchedules: takes(experiments.extraSchedules, [random, 1], CHANCE),
  bridgeGrid: takes(experiments.bridgeGrid, [random, 1], CHANCE),
  composition: takes(experiments.composition, [1]),
  compositionWithPins: takes(experiments.compositionWithPins, [1]),
  conflicts: takes(experiments.conflicts, () => [execution], { '0': MADE }),
  counterfactual: takes(experiments.counterfactual, [random, 1], CHANCE),
  defences: takes(experiments.defences, [random, 1], CHANCE),
  driftGrid: takes(experiments.driftGrid, [random, 1], CHANCE),
  folded: takes(experiments.folded, ['evi', [1, 0, 2]]),
  foldedInTurn: takes(experiments.foldedInTurn, [[1, 0, 2]]),
  operatorAblation: takes(experiments.operatorAblation, [random, 1], CHANCE),
  orders: takes((size) => [...experiments.orders(size)], [3]),
  execute: takes(experiments.execute, () => [steps, level, { h1: true }], { '0': MADE }),
  find: takes(experiments.find, () => ['P2', execution], { '1': MADE }),
  isCyclic: takes(experiments.isCyclic, [[{ from: 1, to: 2, kind: 'rw', item: 'x' }]], {
    '0': MADE,
  }),
  isDrifted: takes(experiments.isDrifted, () => [belief, execution.values], {
    '0': MADE,
    '1': MADE,
  }),
  isoMatrix: takes(experiments.isoMatrix, [random, 1], CHANCE),
  oracleVariance: takes(experiments.oracleVariance, [random, 1], CHANCE),
  schedule: takes(experiments.schedule, ['r1[x] c1']),
  schemaAxis: takes(experiments.schemaAxis, [random, 1], CHANCE),
  schemaByCarrier: takes(experiments.schemaByCarrier, [random, 1], CHANCE),
  strongest: takes(experiments.strongest, () => [belief, execution.values], {
    '0': MADE,
    '1': MADE,
  }),
  tokenRecall: takes(experiments.tokenRecall, [random, 1], CHANCE),
  trajectory: takes(experiments.trajectory, [random, 1], CHANCE),
  weakening: exempt('no arguments'),
};
