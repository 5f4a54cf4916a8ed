import { RuntimeError } from 'assize/internal/runtime';
import { expect, test } from 'vitest';
import type { DirectoryState } from './directory.ts';
import { explainedHalt, ORDERS_PRINCIPAL } from './explained-halt.ts';
import { RootWatch } from './root-watch.ts';

const EMPTY: DirectoryState = {
  orders: 0,
  cells: {},
  tenants: { acme: { cell: 'one' } },
  halted: {},
  revoked: {},
};

/** The explanation in the cell `one` of a refusal in `acme:orders`. */
async function explained(
  change: Partial<DirectoryState>,
  principal = ORDERS_PRINCIPAL,
  code = 'halted' as const,
) {
  const watch = new RootWatch({
    log: { head: async () => 'head', read: async () => ({ ...EMPTY, ...change }) },
    file: {
      cells: [
        { name: 'one', store: 'memory:' },
        { name: 'two', store: 'memory:' },
      ],
      silenceMs: 5_000,
    },
    applied: { read: async () => 0, record: async () => undefined },
    ...{ cell: 'one', compare: async () => undefined, nowMs: () => 0 },
    onFailure: (error) => {
      throw error;
    },
  });
  await watch.read();
  const evidence = { trajectory_id: 'acme:orders', principal };
  const error = new RuntimeError(code, 'acme:orders is halted.', { evidence });
  return { error, told: explainedHalt(error, watch) as RuntimeError };
}

test.each([
  [
    'a halt of the tenant',
    { halted: { acme: 'audit' } },
    false,
    /: audit\. .*: assize cells resume acme$/,
  ],
  [
    'a halt of all tenants',
    { halted: { '*': 'all', acme: 'audit' } },
    false,
    /: all\. .*: assize cells resume '\*'$/,
  ],
  [
    'a move',
    { tenants: { acme: { cell: 'one', to: 'two' } }, halted: { acme: 'audit' } },
    true,
    /moves to .* two/,
  ],
  [
    'a copy that stayed',
    { tenants: { acme: { cell: 'two' } } },
    false,
    /lives in the cell two\. Use that cell\.$/,
  ],
  ['an order that has ended', {}, true, /has ended/],
])('%s names its own remedy', async (_, change, retryable, words) => {
  const { told, error } = await explained(change);
  expect(told).toMatchObject({ code: 'halted', retryable, evidence: error.evidence });
  expect(told.message).toMatch(words);
});

test('a halt by a person, and any other refusal, stay as they are', async () => {
  const person = await explained({ halted: { acme: 'audit' } }, 'admin:ann');
  expect(person.told).toBe(person.error);
  const other = await explained(
    { halted: { acme: 'audit' } },
    ORDERS_PRINCIPAL,
    'already_done' as never,
  );
  expect(other.told).toBe(other.error);
});
