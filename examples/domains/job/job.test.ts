import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../tests/support/cases.ts';
import {
  ChainWriter,
  commitMembers,
  rootMembers,
  withByte,
} from '../../../tests/support/ledger/rows.ts';
import { byCause, finished } from './index.ts';

/** Three entries. The second may have been changed in the store. */
async function storeOf(change: (payload: string) => string): Promise<MemoryStore> {
  const chain = new ChainWriter('a');
  chain.add('root', rootMembers({ n: 0 }));
  for (const value of [1, 2])
    chain.add('commit', commitMembers([{ op: 'replace', path: '/n', value }]));
  const entries = chain.rows.map((row, i) =>
    i === 1 ? { ...row, payload: change(row.payload) } : row,
  );
  const store = new MemoryStore();
  await store.commit({ entries, blobs: [] });
  return store;
}

test('the whole store is verified, and the progress is reported', async () => {
  const told: unknown[] = [];
  const store = await storeOf((payload) => payload);
  const report = await finished(
    { store, onProgress: (...progress) => told.push(progress) },
    performance.now(),
  );
  expect(report).toEqual({ entries: 3, verified: true, seconds: expect.any(Number) });
  expect(told).toEqual([['verifying', 0, 3]]);
});

test('a verification failure is reported', async () => {
  const store = await storeOf((payload) => withByte(payload, 20, 1));
  expect(await finished({ store }, performance.now())).toMatchObject({
    verified: false,
    faults: [{ trajectory_id: 'a', seq: 1 }],
  });
});

test('refusals are counted by invariant, or else by reason', () => {
  const refusal = fc.record(
    { invariant_id: fc.constantFrom('A', 'B'), reason: fc.constantFrom('conflict', 'A') },
    { requiredKeys: ['reason'] },
  );
  fc.assert(
    fc.property(fc.array(refusal), (refusals) => {
      const counts = byCause(refusals);
      const causes = refusals.map(({ invariant_id, reason }) => invariant_id ?? reason);
      expect(new Set(Object.keys(counts))).toEqual(new Set(causes));
      for (const [cause, n] of Object.entries(counts))
        expect(n).toBe(causes.filter((one) => one === cause).length);
    }),
    { numRuns: cases(100) },
  );
});
