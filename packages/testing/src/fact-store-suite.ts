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
 * The rules of every fact store. Changes of a partition are serial, and atomic with their batch.
 * Versions are closed and otherwise unchanged, except by erasure. Queries return the same rows as a
 * filter of all versions, and searches rank as a ranking of all texts does. A rebuild from the
 * changes gives the same facts. Call it in a test file of the store.
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
