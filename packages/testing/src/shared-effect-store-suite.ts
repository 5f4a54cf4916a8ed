import { sharedModelLaws } from './laws/shared-model.ts';
import { sharingLaws } from './laws/sharing.ts';
import { type Bench, runSuite, type StoreSuite } from './suite.ts';
import type { SharedEffectLedger } from './suite-types.ts';

export type SharedEffectStoreSuite = StoreSuite<SharedEffectLedger>;

/**
 * The rules of a shared effect store, in addition to `effectStoreSuite`. Each epoch is assigned
 * once, and all members apply events in one order. Exactly one member adopts the work of an ended
 * member. The ended member can then write nothing. Call it in a test file of the store.
 */
export function sharedEffectStoreSuite(suite: SharedEffectStoreSuite): void {
  runSuite('shared-effects', suite, SHARING_LAWS);
}

export const SHARING_LAWS: readonly ((bench: Bench<SharedEffectLedger>) => void)[] = [
  sharingLaws,
  sharedModelLaws,
];
