/** Recorded agents of the shop, and the benchmark's own solutions, before the kernel. */

import { arg, checkArgument } from 'assize/internal/base';
import type { Domain } from 'assize/internal/kernel';
import {
  type AdjudicateOptions,
  type AdjudicationReport,
  adjudicateRecorded,
  type Benchmark,
  withoutPolicy,
} from '../tau/index.ts';
import { authenticatedUser } from './authentication.ts';
import { retail } from './index.ts';
import { retailInitial, retailRecordsOf } from './initial.ts';
import { type RetailRecords, type RetailState, retailRecords } from './schema.ts';
import { retailTools } from './tools.ts';

/**
 * The shop without its policy. The domain rejects only calls that the tools themselves refuse, and
 * calls on another user's data.
 */
export const bareRetail: Domain = withoutPolicy(retail);

/**
 * The collections of the database as a type alias. An alias has an index by name; an interface does
 * not.
 */
type Records = Pick<RetailRecords, keyof RetailRecords>;

export const retailBenchmark: Benchmark<Records> = {
  domain: retail,
  bare: bareRetail,
  collections: ['users', 'products', 'orders'],
  records: retailRecords,
  initial: (records) => retailInitial(records),
  recordsOf: (state) => retailRecordsOf(state as RetailState),
  tools: retailTools,
  role: 'agent',
  paramsAfter: ({ calls, user: own }, records) => {
    const user = authenticatedUser(calls, records) ?? own;
    return user === undefined ? undefined : { user };
  },
};

/**
 * Adjudicates recorded runs; `options` also has the records.
 *
 * @throws AssizeError `base_mismatch` when the base's name stands for something else in this store;
 *   the reason of `signal`; the errors of the runtime and the store; ArgumentError `bad_argument`
 */
export async function adjudicateRetail(
  options: AdjudicateOptions & RetailRecords,
): Promise<AdjudicationReport> {
  checkArgument(arg.object, options, 'options');
  const { users, products, orders, ...rest } = options;
  return adjudicateRecorded(retailBenchmark, { users, products, orders }, rest);
}
