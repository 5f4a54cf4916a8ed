import { effectBatchLaws } from './laws/effect-batches.ts';
import { effectModelLaws } from './laws/effect-model.ts';
import { effectRefusalLaws } from './laws/effect-refusals.ts';
import { effectLaws } from './laws/effects.ts';
import { tenureLaws } from './laws/tenures.ts';
import { type Bench, runSuite, type StoreSuite } from './suite.ts';
import type { EffectLedger } from './suite-types.ts';

export type EffectStoreSuite = StoreSuite<EffectLedger>;

/**
 * What every store of effects has to keep: a log of each transaction without gaps, a key that stands for one effect for ever,
 * writes whole or not at all and with their batch, and one tenure at a time, after which nothing is written under the one
 * before. Call it in a test file of the store.
 */
export function effectStoreSuite(suite: EffectStoreSuite): void {
  runSuite('effects', suite, EFFECT_LAWS);
}

export const EFFECT_LAWS: readonly ((bench: Bench<EffectLedger>) => void)[] = [
  effectLaws,
  effectRefusalLaws,
  effectBatchLaws,
  effectModelLaws,
  tenureLaws,
];
