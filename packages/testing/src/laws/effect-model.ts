import { isAssizeError } from 'assize/internal/base';
import type { Batch } from 'assize/internal/ledger';
import fc from 'fast-check';
import { expect } from 'vitest';
import {
  type EffectAnswer,
  EffectModel,
  type GeneratedWrite,
  generatedWrites,
} from '../effect-model.ts';
import type { Bench } from '../suite.ts';
import type { EffectLedger } from '../suite-types.ts';

/** The usual number of runs of a property; each run opens its own store. */
const RUNS = 60;

/** The store gives the same answers and holds the same rows as a plain model, for any writes. */
export function effectModelLaws({
  law,
  newPlace,
  openAt,
  openNew,
  runs,
}: Bench<EffectLedger>): void {
  law('any interleaving of effect writes gives the result of a plain model', async () => {
    const run = async (writes: readonly GeneratedWrite[]): Promise<void> => {
      const store = await openNew();
      const model = new EffectModel();
      await putTo(store, model, writes);
      await expectSameContent(store, model);
      await store.close();
    };
    await fc.assert(fc.asyncProperty(generatedWrites, run), { numRuns: runs(RUNS) });
  });

  law('handles that alternate leases give the result of a plain effect model', async () => {
    const run = async (parts: readonly GeneratedWrite[][]): Promise<void> => {
      const place = newPlace();
      const model = new EffectModel();
      const stores = [await openAt(place), await openAt(place)];
      for (const [n, writes] of parts.entries()) {
        await putTo(stores[n % 2]!, model, writes);
        if (n === 1) stores[1] = await reopened(stores[1]!, openAt, place);
      }
      for (const store of stores) {
        await expectSameContent(store, model);
        await store.close();
      }
    };
    const parts = fc.array(generatedWrites, { minLength: 2, maxLength: 4 });
    await fc.assert(fc.asyncProperty(parts, run), { numRuns: runs(RUNS / 4) });
  });
}

async function reopened(
  store: EffectLedger,
  openAt: Bench<EffectLedger>['openAt'],
  place: string,
): Promise<EffectLedger> {
  await store.close();
  return openAt(place);
}

/** Under separate leases. */
async function putTo(
  store: EffectLedger,
  model: EffectModel,
  writes: readonly GeneratedWrite[],
): Promise<void> {
  const tenure = await store.leaseEffects();
  expect(tenure.fence).toBeGreaterThan(model.fence);
  expect(tenure.lastEpoch).toBe(model.lastEpoch);
  model.fence = tenure.fence;
  const answers: [Promise<EffectAnswer>, readonly EffectAnswer[]][] = [];
  for (const drawn of writes) {
    const batch = model.batch(drawn);
    answers.push([answerOf(store, batch), model.write(batch)]);
    if (drawn.thenWaits) await answers.at(-1)![0];
  }
  for (const [answer, expected] of answers) expect(expected).toContain(await answer);
  await tenure.release();
}

/** Without entries, only the effects are logged. */
async function answerOf(store: EffectLedger, batch: Batch): Promise<EffectAnswer> {
  try {
    const { status } =
      batch.entries.length === 0
        ? await store.logEffects(batch.effects!, batch.blobs)
        : await store.commit(batch);
    if (status === 'unknown' || status === 'outdated' || status === 'ahead')
      throw new Error(`unexpected: ${status}`);
    return status === 'committed' ? 'written' : status;
  } catch (error) {
    if (!isAssizeError(error, 'store_invalid_input')) throw error;
    return 'misuse';
  }
}

async function expectSameContent(store: EffectLedger, model: EffectModel): Promise<void> {
  expect(await store.openEffects()).toEqual(model.open);
  for (const [epoch, logged] of model.transactions)
    expect(await store.effectsOf(epoch)).toEqual(logged);
  const there = model.transactions.flatMap(([, logged]) => logged ?? []);
  expect(await store.listEffects({ limit: 100 })).toEqual(there.toReversed());
  for (const [key, row] of model.keys) expect(await store.effectKey(key)).toEqual(row);
  expect((await store.head('t'))?.id).toBe(model.head);
}
