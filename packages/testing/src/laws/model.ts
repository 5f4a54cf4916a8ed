import type { CommitResult, EntryRow, LedgerStore } from 'assize/internal/ledger';
import fc from 'fast-check';
import { expect } from 'vitest';
import { type GeneratedCall, generatedCalls, StoreModel } from '../store-model.ts';
import type { Bench } from '../suite.ts';
import { conflictAt } from './answers.ts';

/** The usual number of runs of a property; each run opens its own store. */
const RUNS = 60;

/** The store gives the same answers and holds the same rows as a plain model, for any calls. */
export function modelLaws({ law, newPlace, openAt, openNew, runs }: Bench<LedgerStore>): void {
  law('any interleaving of batches gives the result of a plain model', async () => {
    const run = async (calls: readonly GeneratedCall[]): Promise<void> => {
      const store = await openNew();
      const model = new StoreModel();
      await putTo(store, model, calls);
      await expectSameContent(store, model);
      await store.close();
    };
    await fc.assert(fc.asyncProperty(generatedCalls, run), { numRuns: runs(RUNS) });
  });

  law('a store reopened between batches gives the result of a plain model', async () => {
    const run = async (parts: readonly GeneratedCall[][]): Promise<void> => {
      const place = newPlace();
      const model = new StoreModel();
      for (const calls of parts) {
        const store = await openAt(place);
        await putTo(store, model, calls);
        await store.close();
      }
      const store = await openAt(place);
      await expectSameContent(store, model);
      await store.close();
    };
    const parts = fc.array(generatedCalls, { minLength: 2, maxLength: 4 });
    await fc.assert(fc.asyncProperty(parts, run), { numRuns: runs(RUNS / 4) });
  });
}

async function putTo(
  store: LedgerStore,
  model: StoreModel,
  calls: readonly GeneratedCall[],
): Promise<void> {
  const answers: [Promise<CommitResult>, CommitResult, readonly EntryRow[]][] = [];
  for (const call of calls) {
    const batch = model.batch(call);
    answers.push([store.commit(batch), model.commit(batch), batch.entries]);
    if (call.thenWaits) await answers.at(-1)![0];
  }
  for (const [answer, expected, rows] of answers) expectSameAnswer(await answer, expected, rows);
}

// If a batch has several faults, the store may name any of them.
function expectSameAnswer(
  actual: CommitResult,
  expected: CommitResult,
  rows: readonly EntryRow[],
): void {
  expect(actual.status).toBe(expected.status);
  if (actual.status === 'conflict') expect(rows.map(conflictAt)).toContainEqual(actual);
}

async function expectSameContent(store: LedgerStore, model: StoreModel): Promise<void> {
  const listed = await store.trajectories();
  expect(listed.map((info) => info.trajectory_id)).toEqual(model.trajectories);
  for (const { trajectory_id, entries, head } of listed) {
    const expected = model.of(trajectory_id);
    expect(await store.entries(trajectory_id)).toEqual(expected);
    expect({ entries, head }).toEqual({ entries: expected.length, head: expected.at(-1)!.id });
  }
  for (const [key, text] of model.blobs) expect(await store.blob(key)).toBe(text);
}
