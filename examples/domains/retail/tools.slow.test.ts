import { describe, expect, test } from 'vitest';
import { hasUsualCases } from '../../../tests/support/cases.ts';
import { changedRecords } from '../../../tests/support/models/tau-data.ts';
import { someOf } from '../../../tests/support/some-of.ts';
import { authenticatedUser } from './authentication.ts';
import { retailRecordsOf } from './initial.ts';
import type { RetailRecords, RetailState } from './schema.ts';
import {
  type Call,
  hasRetail,
  isWrite,
  type Recorded,
  recordedSolutions,
  retailWorld,
} from './testing/data.ts';
import { copyOf, perform } from './testing/naive-world.ts';

const COLLECTIONS = ['users', 'products', 'orders'] as const;

/**
 * The answer of a call in a state that it has already changed: the record of the call, or the user
 * it finds.
 */
function answer({ name, arguments: args }: Call, records: RetailRecords): unknown {
  if (name.startsWith('find_user_id')) {
    return authenticatedUser([{ name, arguments: args }], records) ?? 'Error: user not found';
  }
  if (name === 'get_product_details')
    return records.products[String(args['product_id'])] ?? 'Error: product not found';
  if (name === 'list_all_product_types') {
    return Object.fromEntries(
      Object.values(records.products).map((product) => [product.name, product.product_id]),
    );
  }
  if ('order_id' in args)
    return records.orders[String(args['order_id'])] ?? 'Error: order not found';
  return records.users[String(args['user_id'])] ?? 'Error: user not found';
}

/**
 * The outputs and the final state of a task. Errors are in the benchmark's words, and records are
 * values.
 */
function replay(
  world: RetailState,
  { calls, user }: Recorded,
): { outputs: Map<number, unknown>; state: RetailState } {
  const outputs = new Map<number, unknown>();
  let state = world;
  for (const [index, call] of calls.entries()) {
    if (['calculate', 'think', 'transfer_to_human_agents'].includes(call.name)) continue;
    try {
      if (isWrite(call)) {
        const attempted = copyOf(state);
        perform(attempted, call.name, call.arguments, user);
        state = attempted;
      }
      outputs.set(index, answer(call, retailRecordsOf(state)));
    } catch (error) {
      outputs.set(index, `Error: ${(error as Error).message}`);
    }
  }
  return { outputs, state };
}

/** A record as it was printed; a sentence or an id as it is. */
function read(output: string | undefined): unknown {
  return output?.startsWith('{') ? JSON.parse(output) : output;
}

describe.skipIf(!hasRetail)(
  'the benchmark’s own tools (tau-retail, absent without ASSIZE_DATA)',
  () => {
    test('the 70 solutions leave equal records, and every call an equal output', () => {
      const world = retailWorld();
      const solutions = recordedSolutions();
      expect(solutions).toHaveLength(70);
      let compared = 0;
      for (const task of someOf(solutions)) {
        const { outputs, state } = replay(world, task);
        expect(
          changedRecords(COLLECTIONS, retailRecordsOf(world), retailRecordsOf(state)),
          `task ${task.task_id}`,
        ).toStrictEqual(task.changed);
        for (const [index, output] of outputs) {
          expect(output, `task ${task.task_id}, call ${index}`).toStrictEqual(
            read(task.outputs[index]),
          );
          compared++;
        }
      }
      expect(compared).toBeGreaterThan(hasUsualCases() ? 400 : 0);
    });
  },
);
