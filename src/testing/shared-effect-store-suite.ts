import { sharedModelLaws } from './laws/shared-model.ts';
import { sharingLaws } from './laws/sharing.ts';
import { type Bench, runSuite, type StoreSuite } from './suite.ts';
import type { SharedEffectLedger } from './suite-types.ts';

export type SharedEffectStoreSuite = StoreSuite<SharedEffectLedger>;

/**
 * What a store of effects on which several work at a time has to keep beside `effectStoreSuite`: epochs that are given once, one
 * order in which all members hear what is said, and that what a member had which has ended is taken over by exactly one, after
 * which that one writes nothing. Call it in a test file of the store.
 */
export function sharedEffectStoreSuite(suite: SharedEffectStoreSuite): void {
  runSuite('shared-effects', suite, SHARING_LAWS);
}

export const SHARING_LAWS: readonly ((bench: Bench<SharedEffectLedger>) => void)[] = [sharingLaws, sharedModelLaws];
