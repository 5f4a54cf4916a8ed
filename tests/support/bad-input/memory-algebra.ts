import { seededRandom } from '#oracle';
import * as experiments from '../../../experiments/memory/schedules/index.ts';
import * as isolation from '../../../src/memory/isolation/index.ts';
import * as provenance from '../../../src/memory/provenance/index.ts';
import type { Case, Exempt } from './case.ts';
import { exempt, MADE, PORT, takes } from './table.ts';

const { Polynomial } = provenance;
const ENTRY = 'ab'.repeat(32);
const TEXT = '2*t:policy:v1*w:@0 + w:@1^2';
const one = Polynomial.read(TEXT);
const other = Polynomial.of('w:@1');
const level = isolation.level('RC', { cb: true, tablePins: ['policy'] });
const steps = experiments.schedule('r1[x] w2[x] c2 r1[x] j1(R,θ) c1');
const execution = experiments.execute(steps, level);
const belief = { cache: 'belief', rows: ['x'] };
const random = seededRandom(1);
const CHANCE = { '0': PORT };

/** What the parts of memory export that know nothing of facts. */
export const MEMORY_ALGEBRA: Readonly<Record<string, Case | Exempt>> = {
  'new Polynomial': exempt('its constructor is private'),
  'Polynomial.of': takes(Polynomial.of, ['w:@0']),
  'Polynomial.read': takes(Polynomial.read, [TEXT]),
  'Polynomial.toString': exempt('no arguments'),
  'Polynomial.tokens': exempt('no arguments'),
  'Polynomial.equals': takes(
    (given) => one.equals(given),
    () => [other],
    { '0': MADE },
  ),
  'Polynomial.plus': takes(
    (given) => one.plus(given),
    () => [other],
    { '0': MADE },
  ),
  'Polynomial.times': takes(
    (given) => one.times(given),
    () => [other],
    { '0': MADE },
  ),
  'Polynomial.precedes': takes(
    (given) => one.precedes(given),
    () => [other],
    { '0': MADE },
  ),
  'Polynomial.substitute': takes((token, given) => one.substitute(token, given), ['w:@1', other], { '1': MADE }),
  'Polynomial.degree': takes((token) => one.degree(token), ['w:@1']),
  'Polynomial.withExponents': takes((of) => one.withExponents(of), [() => 1], { '0': PORT }),
  'Polynomial.placed': takes((id) => one.placed(id), [ENTRY]),
  mergeProvenance: takes(provenance.mergeProvenance, [TEXT, 'w:@1']),
  placedToken: takes(provenance.placedToken, ['w:@1', ENTRY]),
  readToken: takes(provenance.readToken, ['w:@1']),
  recoverByShift: takes(provenance.recoverByShift, [one, 'w:@1'], { '0': MADE }),
  shift: takes(provenance.shift, [one, 'w:@1'], { '0': MADE }),
  trustToken: takes(provenance.trustToken, ['judge', 'k']),
  writeToken: takes(provenance.writeToken, [1, ENTRY]),
  dominates: takes(isolation.dominates, [level, level]),
  excludes: takes(isolation.excludes, [level, 'P3', 'policy']),
  isoAt: takes(isolation.isoAt, [level, 'policy']),
  join: takes(isolation.join, [level, level]),
  joinOnChain: takes(isolation.joinOnChain, [level, level]),
  level: takes(isolation.level, ['RC', { cb: true, tablePins: ['policy'] }]),
  levelText: takes(isolation.levelText, [level]),
  onChain: takes(isolation.onChain, [level]),
  requirementOf: takes(isolation.requirementOf, ['evi']),
  requirementOfPipeline: takes(isolation.requirementOfPipeline, [['evi', 'rule']]),
  besideTheMatrix: takes(experiments.besideTheMatrix, [random, 1], CHANCE),
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
  isCyclic: takes(experiments.isCyclic, [[{ from: 1, to: 2, kind: 'rw', item: 'x' }]], { '0': MADE }),
  isDrifted: takes(experiments.isDrifted, () => [belief, execution.values], { '0': MADE, '1': MADE }),
  isoMatrix: takes(experiments.isoMatrix, [random, 1], CHANCE),
  oracleVariance: takes(experiments.oracleVariance, [random, 1], CHANCE),
  schedule: takes(experiments.schedule, ['r1[x] c1']),
  schemaAxis: takes(experiments.schemaAxis, [random, 1], CHANCE),
  schemaByCarrier: takes(experiments.schemaByCarrier, [random, 1], CHANCE),
  strongest: takes(experiments.strongest, () => [belief, execution.values], { '0': MADE, '1': MADE }),
  tokenRecall: takes(experiments.tokenRecall, [random, 1], CHANCE),
  trajectory: takes(experiments.trajectory, [random, 1], CHANCE),
  weakening: exempt('no arguments'),
};
