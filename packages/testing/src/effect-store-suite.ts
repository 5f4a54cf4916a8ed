import { effectBatchLaws } from './laws/effect-batches.ts';
import { effectModelLaws } from './laws/effect-model.ts';
import { effectRefusalLaws } from './laws/effect-refusals.ts';
import { effectLaws } from './laws/effects.ts';
import { leaseLaws } from './laws/leases.ts';
import { type Bench, runSuite, type StoreSuite } from './suite.ts';
import type { EffectLedger } from './suite-types.ts';

export type EffectStoreSuite = StoreSuite<EffectLedger>;

/**
 * The rules of every effect store. The log of each transaction has no gaps, and a key identifies
 * one effect permanently. Writes are atomic, together with their batch. One lease exists at a time,
 * and writes under an earlier lease are refused. Call it in a test file of the store.
 */
export function effectStoreSuite(suite: EffectStoreSuite): void {
  runSuite('effects', suite, EFFECT_LAWS);
}

export const EFFECT_LAWS: readonly ((bench: Bench<EffectLedger>) => void)[] = [
  effectLaws,
  effectRefusalLaws,
  effectBatchLaws,
  effectModelLaws,
  leaseLaws,
];
