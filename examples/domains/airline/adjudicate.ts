/** The main job: recorded agents of the airline before the kernel. */

import { arg, checkArgument } from 'assize/internal/base';
import type { Domain } from 'assize/internal/kernel';
import {
  type AdjudicateOptions as AdjudicateRecordedOptions,
  type AdjudicationReport,
  adjudicateRecorded,
  type Benchmark,
  withoutPolicy,
} from '../tau/index.ts';
import { airline } from './index.ts';
import { airlineInitial } from './initial.ts';
import { type AirlineRecords, type AirlineState, airlineRecords } from './schema.ts';
import { airlineTools } from './tools.ts';

export {
  type AdjudicationReport,
  type CallReport,
  type ChangedRecords,
  type Difference,
  type ExpectedRun,
  expectedRun,
  type RecordedCall,
  type RecordedRun,
  RecordTexts,
  type RunReport,
  recordedRun,
  recordedTask,
  runKey,
} from '../tau/index.ts';

/** The airline without its policy: only what the tools themselves refuse is refused. */
export const bareAirline: Domain = withoutPolicy(airline);

export const airlineBenchmark: Benchmark<AirlineRecords> = {
  domain: airline,
  bare: bareAirline,
  collections: ['users', 'flights', 'reservations'],
  records: airlineRecords,
  initial: (records) => airlineInitial(records),
  recordsOf: (state) => {
    const { users, flights, reservations } = state as AirlineState;
    return { users, flights, reservations };
  },
  tools: airlineTools,
  role: 'agent',
  paramsAfter: () => ({}),
};

export interface AdjudicateOptions extends AdjudicateRecordedOptions, AirlineRecords {}

/**
 * @throws AssizeError `base_mismatch` when the base's name stands for something else in this store;
 *   the reason of `signal`; the errors of the runtime and the store; ArgumentError `bad_argument`
 */
export async function adjudicateAirline(options: AdjudicateOptions): Promise<AdjudicationReport> {
  checkArgument(arg.object, options, 'options');
  const { users, flights, reservations, ...rest } = options;
  return adjudicateRecorded(airlineBenchmark, { users, flights, reservations }, rest);
}
