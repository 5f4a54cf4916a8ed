import { MemoryStore } from '@assize/testing/memory';
import * as oracle from '#oracle';
import { START } from '../../support/ledger/runtime.ts';
import type { Case, Exempt } from './case.ts';
import { PORT, takes } from './table.ts';

const caller = { trajectory: 't', branch: null, agent: 'a' };
const question = {
  scope: { kind: 'call', ...caller, ordinal: 0 },
  request: { q: 1 },
  theta: { seed: 1, prompt: 'p' },
};
const recording = (): oracle.Oracle =>
  oracle.createOracle({
    store: new MemoryStore(),
    clock: oracle.fixedClock(START),
    mode: 'record',
  });
const asking = { ...question, call: () => 1 };

export const ORACLE: Readonly<Record<string, Case | Exempt>> = {
  attemptsOf: takes(oracle.attemptsOf, () => [new MemoryStore(), '0'.repeat(64)], { 0: PORT }),
  recordedUnder: takes(oracle.recordedUnder, () => [new MemoryStore(), '0'.repeat(64)], {
    0: PORT,
  }),
  callSequence: takes(oracle.callSequence, [caller, 0]),
  createOracle: takes(
    oracle.createOracle,
    () => [{ store: new MemoryStore(), clock: oracle.systemClock, mode: 'record' }],
    { '0.store': PORT, '0.clock': PORT },
  ),
  'Oracle.ask': takes((one) => recording().ask(one), [asking], { '0.call': PORT }),
  'Oracle.consult': takes((one) => recording().consult(one), [asking], { '0.call': PORT }),
  fixedClock: takes(oracle.fixedClock, [START, 1]),
  oracleClock: takes(
    oracle.oracleClock,
    () => [recording(), oracle.callSequence(caller), oracle.systemClock],
    {
      0: PORT,
      1: PORT,
      2: PORT,
    },
  ),
  oracleKey: takes(oracle.oracleKey, [question]),
  oracleRandom: takes(
    oracle.oracleRandom,
    () => [recording(), oracle.callSequence(caller), oracle.systemRandom],
    {
      0: PORT,
      1: PORT,
      2: PORT,
    },
  ),
  'RecordedRandom.bytes': takes(
    (count) =>
      oracle
        .oracleRandom(recording(), oracle.callSequence(caller), oracle.seededRandom(1))
        .bytes(count),
    [3],
  ),
  'Random.bytes': takes((count) => oracle.seededRandom(1).bytes(count), [3]),
  seededRandom: takes(oracle.seededRandom, ['seed']),
  turnObservationName: takes(oracle.turnObservationName, [0]),
  turnKey: takes(oracle.turnKey, ['t', 0]),
  turnNamedBy: takes(oracle.turnNamedBy, ['t', { name: 'turn 0' }]),
  turnQuestion: takes(oracle.turnQuestion, ['t', 0]),
  thetaHash: takes(oracle.thetaHash, [question.theta]),
  listingKeyOf: takes(oracle.listingKeyOf, [question.scope]),
  systemPause: takes(oracle.systemPause, [0, 0]),
  onlyObject: takes(oracle.onlyObject, ['so: {"a":1}']),
  stripFence: takes(oracle.stripFence, ['```json\n{}\n```']),
  systemRandom: takes((count) => oracle.systemRandom.bytes(count), [3]),
};
