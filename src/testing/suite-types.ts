import type { EffectStore, FactStore, LedgerStore, SharedEffectStore } from '#ledger';

/** Facts are written beside the entries that they come from. */
export type FactLedger = LedgerStore & FactStore;

/** Effects are written beside the entries that they go with. */
export type EffectLedger = LedgerStore & EffectStore;

/** Effects are written beside the entries that they go with. */
export type SharedEffectLedger = LedgerStore & SharedEffectStore;
