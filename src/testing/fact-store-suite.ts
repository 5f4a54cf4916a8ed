import { claimKeyLaws } from './laws/claim-key.ts';
import { factBatchLaws } from './laws/fact-batches.ts';
import { factErasingLaws } from './laws/fact-erasing.ts';
import { factModelLaws } from './laws/fact-model.ts';
import { factRebuildingLaws } from './laws/fact-rebuilding.ts';
import { factRefusalLaws } from './laws/fact-refusals.ts';
import { factTextLaws } from './laws/fact-texts.ts';
import { factVectorLaws } from './laws/fact-vectors.ts';
import { factLaws } from './laws/facts.ts';
import { type Bench, runSuite, type StoreSuite } from './suite.ts';
import type { FactLedger } from './suite-types.ts';

export type FactStoreSuite = StoreSuite<FactLedger>;

/**
 * What every store of facts has to keep: changes of a partition one after the other, whole and with their batch or not at all; versions
 * that are closed and never changed, but for what is erased; answers that a filter of all versions would give, and in the order of a ranking of all their texts; and that all of it is
 * the same when it is made anew from its changes. Call it in a test file of the store.
 */
export function factStoreSuite(suite: FactStoreSuite): void {
  runSuite('facts', suite, FACT_LAWS);
}

export const FACT_LAWS: readonly ((bench: Bench<FactLedger>) => void)[] = [
  factLaws,
  claimKeyLaws,
  factRefusalLaws,
  factBatchLaws,
  factErasingLaws,
  factRebuildingLaws,
  factModelLaws,
  factTextLaws,
  factVectorLaws,
];
